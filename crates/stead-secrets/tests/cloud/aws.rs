//! A fake of AWS KMS, and the tests that only it has.

use stead_secrets::ManagerErrorClass;
use stead_world::testing::{FakeServer, Received, Reply};

use crate::fakes::{Fake, Mood, base64, body, open, seal, unbase64};
use crate::suite::Cloud;
use crate::{context, key, manager};

const VARIABLES: &[(&str, &str)] = &[
    ("AWS_ACCESS_KEY_ID", "AKID"),
    ("AWS_SECRET_ACCESS_KEY", "fake-token"),
    ("AWS_EC2_METADATA_DISABLED", "true"),
    ("AWS_REGION", "eu-west-1"),
];

pub(crate) fn cloud() -> Cloud {
    let fake = Fake::start(normal, refusal);
    let url = fake.server.url();
    let named = |key: &str| manager(&format!("awskms://{key}?endpoint={url}"), VARIABLES, None);
    Cloud { name: "aws", manager: named("alias/prod"), other: named("alias/other"), fake }
}

fn normal(request: &Received) -> Reply {
    let signature = request.headers.get("authorization").unwrap();
    assert!(signature.starts_with("AWS4-HMAC-SHA256 Credential=AKID/20261118/eu-west-1/kms/aws4_request, "));
    let body = body(request);
    let key = body["KeyId"].as_str().unwrap();
    match request.headers.get("x-amz-target").unwrap() {
        "TrentService.Encrypt" => {
            let blob = seal(key, &body["EncryptionContext"], body["Plaintext"].as_str().unwrap());
            Reply::new(200, format!(r#"{{"KeyId":"{key}","CiphertextBlob":"{}"}}"#, base64(&blob)))
        }
        "TrentService.Decrypt" => {
            match open(&unbase64(&body["CiphertextBlob"]), key, &body["EncryptionContext"]) {
                Ok(plain) => Reply::new(200, format!(r#"{{"KeyId":"{key}","Plaintext":"{plain}"}}"#)),
                Err("key") => error("IncorrectKeyException"),
                Err(_) => error("InvalidCiphertextException"),
            }
        }
        target => panic!("{target}"),
    }
}

fn error(code: &str) -> Reply {
    Reply::new(400, format!(r#"{{"__type":"{code}","message":"the message"}}"#))
}

fn refusal(mood: &Mood) -> Reply {
    match mood {
        Mood::Throttled(_) => error("ThrottlingException"),
        Mood::Denied => error("AccessDeniedException"),
        Mood::NoSuchKey => error("NotFoundException"),
        Mood::Disabled => error("DisabledException"),
        mood => panic!("{mood:?}"),
    }
}

#[tokio::test]
async fn encryption_context_names_owner_and_key() {
    let cloud = cloud();
    cloud.manager.wrap(&key(), &context("stack:a")).await.unwrap();
    let sent = body(&cloud.fake.server.seen()[0]);
    assert_eq!(sent["EncryptionContext"], serde_json::json!({ "stead:owner": "stack:a", "stead:key": "k1" }));
    assert_eq!(sent["KeyId"], "alias/prod");
}

#[tokio::test]
async fn region_of_an_arn_is_used() {
    let server = FakeServer::start(|request| {
        let signature = request.headers.get("authorization").unwrap();
        if signature.contains("/ap-south-1/kms/") { error("NotFoundException") } else { error("Unexpected") }
    })
    .unwrap();
    let text = format!("awskms:///arn:aws:kms:ap-south-1:1:key/abc?endpoint={}", server.url());
    let failed = manager(&text, VARIABLES, None).wrap(&key(), &context("a")).await.unwrap_err();
    assert_eq!(failed.class, ManagerErrorClass::NoSuchKey);
    assert_eq!(body(&server.seen()[0])["KeyId"], "arn:aws:kms:ap-south-1:1:key/abc");
}

#[tokio::test]
async fn wrong_clock_of_this_machine_is_corrected() {
    let server = FakeServer::start(|request| {
        let now = "Wed, 18 Nov 2026 07:00:00 GMT";
        match request.headers.get("x-amz-date").unwrap().starts_with("20261118T07") {
            true => normal(request),
            false => error("InvalidSignatureException").header("date", now),
        }
    })
    .unwrap();
    let manager = manager(&format!("awskms://alias/prod?endpoint={}", server.url()), VARIABLES, None);
    let wrapped = manager.wrap(&key(), &context("a")).await.unwrap();
    assert!(manager.unwrap(&wrapped, &context("a")).await.is_ok());
    assert_eq!(server.seen().len(), 3);
}

#[tokio::test]
async fn machine_without_credentials_is_not_configured() {
    let text = "awskms://alias/prod?region=eu-west-1";
    let failed = manager(text, &[("AWS_EC2_METADATA_DISABLED", "true")], None);
    let failed = failed.wrap(&key(), &context("a")).await.unwrap_err();
    assert_eq!(failed.class, ManagerErrorClass::NotConfigured);
    assert!(failed.message.contains("environment: AWS_ACCESS_KEY_ID is not set"), "{failed}");
    assert!(!failed.help.is_empty());
    let variables = [("AWS_ACCESS_KEY_ID", "A"), ("AWS_SECRET_ACCESS_KEY", "s")];
    let failed =
        manager("awskms://alias/prod", &variables, None).wrap(&key(), &context("a")).await.unwrap_err();
    assert!(failed.message.contains("no region"), "{failed}");
}
