//! The promises of every cloud manager, checked for each of them.

use std::sync::Arc;

use stead_secrets::{KeyManager, ManagerError, ManagerErrorClass};

use crate::fakes::{Fake, Mood};
use crate::{KEY, KEY_BASE64, aws, azure, context, gcp, key, vault};

/// A service with two keys, and a manager for each.
pub(crate) struct Cloud {
    pub(crate) name: &'static str,
    pub(crate) fake: Fake,
    pub(crate) manager: Arc<dyn KeyManager>,
    pub(crate) other: Arc<dyn KeyManager>,
}

fn clouds() -> [Cloud; 4] {
    [aws::cloud(), gcp::cloud(), azure::cloud(), vault::cloud()]
}

impl Cloud {
    async fn wrapped(&self) -> String {
        self.manager.wrap(&key(), &context("stack:a")).await.unwrap()
    }

    /// Returns the error of an attempt to unwrap, after checks that hold for every error.
    async fn error(&self, manager: &dyn KeyManager, wrapped: &str, owner: &str) -> ManagerError {
        let error = manager.unwrap(wrapped, &context(owner)).await.err().unwrap();
        check(self.name, manager, &error);
        error
    }

    async fn class_after(&self, mood: Mood) -> ManagerErrorClass {
        let wrapped = self.wrapped().await;
        self.fake.set(mood);
        self.error(&*self.manager, &wrapped, "stack:a").await.class
    }
}

/// An error names the manager, and contains no key and no credential.
fn check(name: &str, manager: &dyn KeyManager, error: &ManagerError) {
    let shown = format!("{error:?}");
    assert!(error.message.contains(manager.name()), "{name}: {shown}");
    for secret in ["canary", &KEY_BASE64[..40], "fake-token"] {
        assert!(!shown.contains(secret), "{name}: {shown}");
    }
}

#[tokio::test]
async fn wrapped_key_is_one_word_without_the_key_and_opens_again() {
    for cloud in clouds() {
        let wrapped = cloud.wrapped().await;
        assert!(!wrapped.contains(char::is_whitespace) && wrapped.is_ascii(), "{}", cloud.name);
        let opened = cloud.manager.unwrap(&wrapped, &context("stack:a")).await.unwrap();
        assert_eq!(*opened.expose(), KEY, "{}", cloud.name);
    }
}

#[tokio::test]
async fn key_that_was_moved_to_another_owner_does_not_open() {
    for cloud in clouds() {
        let wrapped = cloud.wrapped().await;
        let error = cloud.error(&*cloud.manager, &wrapped, "stack:b").await;
        assert_eq!(error.class, ManagerErrorClass::WrongKey, "{}: {error}", cloud.name);
        assert!(!error.help.is_empty());
    }
}

#[tokio::test]
async fn another_key_of_the_service_does_not_open_it() {
    for cloud in clouds() {
        let wrapped = cloud.wrapped().await;
        let error = cloud.error(&*cloud.other, &wrapped, "stack:a").await;
        assert_eq!(error.class, ManagerErrorClass::WrongKey, "{}: {error}", cloud.name);
    }
}

#[tokio::test]
async fn denied_missing_and_disabled_keys_are_told_apart() {
    for cloud in clouds() {
        assert_eq!(cloud.class_after(Mood::Denied).await, ManagerErrorClass::Denied, "{}", cloud.name);
        for mood in [Mood::NoSuchKey, Mood::Disabled] {
            cloud.fake.set(Mood::Normal);
            assert_eq!(cloud.class_after(mood).await, ManagerErrorClass::NoSuchKey, "{}", cloud.name);
        }
    }
}

#[tokio::test]
async fn refusal_that_quotes_the_request_shows_no_part_of_the_key() {
    for cloud in clouds() {
        for before in (0..640).step_by(16) {
            cloud.fake.set(Mood::Quotes(before));
            let error = cloud.manager.wrap(&key(), &context("stack:a")).await.err().unwrap();
            check(cloud.name, &*cloud.manager, &error);
            let part = &KEY_BASE64[..12];
            assert!(!error.message.contains(part), "{}, {before}: {error}", cloud.name);
            assert!(error.message.contains("xx") || before == 0, "{}: {error}", cloud.name);
            assert!(error.message.len() < 800, "{}: {error}", cloud.name);
        }
    }
}

#[tokio::test]
async fn throttled_manager_is_asked_again_and_not_for_ever() {
    for cloud in clouds() {
        cloud.fake.set(Mood::Throttled(2));
        cloud.wrapped().await;
        let before = cloud.fake.server.seen().len();
        cloud.fake.set(Mood::Throttled(u32::MAX));
        let error = cloud.manager.wrap(&key(), &context("stack:a")).await.err().unwrap();
        check(cloud.name, &*cloud.manager, &error);
        assert_eq!(error.class, ManagerErrorClass::Unavailable, "{}: {error}", cloud.name);
        assert_eq!(cloud.fake.server.seen().len() - before, 4, "{}", cloud.name);
    }
}

#[tokio::test]
async fn service_that_goes_away_in_mid_run_is_unavailable() {
    for cloud in clouds() {
        assert_eq!(cloud.class_after(Mood::Gone).await, ManagerErrorClass::Unavailable, "{}", cloud.name);
        cloud.fake.set(Mood::Normal);
        let wrapped = cloud.wrapped().await;
        cloud.fake.server.stop();
        let error = cloud.error(&*cloud.manager, &wrapped, "stack:a").await;
        assert_eq!(error.class, ManagerErrorClass::Unavailable, "{}: {error}", cloud.name);
    }
}

#[tokio::test]
async fn damaged_and_huge_answers_are_damage() {
    let broken = format!(r#"{{"Plaintext":"{KEY_BASE64}","plaintext":"{KEY_BASE64}","value":"{KEY_BASE64}"#);
    for cloud in clouds() {
        for body in [
            b"".to_vec(),
            b"{}".to_vec(),
            b"<html>canary</html>".to_vec(),
            broken.clone().into(),
            vec![b' '; 1 << 20],
        ] {
            cloud.fake.set(Mood::Normal);
            let length = body.len();
            let class = cloud.class_after(Mood::Says(body)).await;
            assert_eq!(class, ManagerErrorClass::Damaged, "{} {length}", cloud.name);
        }
    }
}

#[tokio::test]
async fn damaged_answer_to_wrap_is_damage_too() {
    for cloud in clouds() {
        cloud.fake.set(Mood::Says(format!(r#"{{"Nothing":"{KEY_BASE64}"}}"#).into()));
        let error = cloud.manager.wrap(&key(), &context("stack:a")).await.err().unwrap();
        check(cloud.name, &*cloud.manager, &error);
        assert_eq!(error.class, ManagerErrorClass::Damaged, "{}: {error}", cloud.name);
    }
}

#[tokio::test]
async fn text_that_another_manager_wrapped_is_damaged_without_a_request() {
    for cloud in clouds() {
        let before = cloud.fake.server.seen().len();
        for text in [
            "",
            "p1:abc",
            "aws1:%%%",
            "gcp1:%%%",
            "az1:abc",
            "az1:../x:AAAA",
            "vt1:secret",
            "vt1:vault:v1:a b",
        ] {
            let error = cloud.error(&*cloud.manager, text, "stack:a").await;
            assert_eq!(error.class, ManagerErrorClass::Damaged, "{} {text}: {error}", cloud.name);
        }
        assert_eq!(cloud.fake.server.seen().len(), before, "{}", cloud.name);
    }
}
