//! Tests of secrets, with a crypter whose texts can be read.

use super::*;

/// Stands in for encryption: the text is readable, and bound to its place as a real one is.
struct Readable;

fn place(binding: Binding<'_>) -> String {
    crate::hex(&binding.to_bytes())
}

impl Crypter for Readable {
    fn seal(&self, plain: &[u8], binding: Binding<'_>) -> Result<Ciphertext, Unopened> {
        Ok(Ciphertext(format!("s1:k:{}:{}", place(binding), crate::hex(plain))))
    }

    fn open(&self, sealed: &Ciphertext, binding: Binding<'_>) -> Result<Vec<u8>, Unopened> {
        let rest = sealed.0.strip_prefix("s1:k:").ok_or(Unopened::Damaged)?;
        let (bound, text) = rest.split_once(':').ok_or(Unopened::Damaged)?;
        let bytes = (bound == place(binding)).then(|| crate::from_hex(text)).flatten();
        bytes.ok_or(Unopened::Damaged)
    }

    fn digest(&self, plain: &[u8], binding: Binding<'_>) -> Result<KeyedDigest, Unopened> {
        let digest = crate::Digest::of(&[plain, &binding.to_bytes()].concat());
        Ok(KeyedDigest(format!("d1:k:{digest}")))
    }

    fn matches(&self, digest: &KeyedDigest, plain: &[u8], binding: Binding<'_>) -> Result<bool, Unopened> {
        Ok(self.digest(plain, binding)? == *digest)
    }
}

fn crypter() -> Arc<dyn Crypter> {
    Arc::new(Readable)
}

const HERE: Binding<'static> = Binding(&["stack", "uid", "inputs", "password"]);

#[test]
fn secret_shows_its_value_nowhere() {
    let secret = Value::secret(Value::from("hunter22"));
    let around = Value::from(vec![secret.clone()]);
    assert_eq!(format!("{around:?}"), "List(List([Secret([secret])]))");
    assert_eq!(around.to_json(), "[\"[secret]\"]");
    assert_eq!(secret.kind(), "a secret");
    assert_eq!(serde_json::to_string(&secret).unwrap(), "\"[secret]\"");
}

#[test]
fn sealed_secret_round_trips_and_opens_only_at_its_place() {
    let secret = Secret::new(Value::from(vec![Value::from("a"), 7.into()]));
    let sealed = secret.seal(&Readable, HERE).unwrap();
    let text = serde_json::to_string(&Value::Secret(sealed.clone())).unwrap();
    assert!(
        text.starts_with(&format!("{{\"{SIGNATURE_KEY}\":\"{SECRET_SIGNATURE}\",\"ciphertext\":\"s1:k:"))
    );
    let read = |at: Binding<'_>| {
        let Value::Secret(read) = serde_json::from_str(&text).unwrap() else { panic!("{text}") };
        assert!(matches!(read.reveal(), Err(Unopened::Locked(_))));
        read.open(&crypter(), at);
        read
    };
    assert_eq!(read(HERE).reveal().unwrap(), secret.reveal().unwrap());
    assert_eq!(read(HERE), sealed);
    assert_eq!(read(Binding(&["stack", "other"])).reveal(), Err(Unopened::Damaged));
}

#[test]
fn write_only_secret_leaves_a_digest_that_tells_whether_the_value_changed() {
    let secret = Secret::kept(Value::from("s3cret"), Kept::Digest);
    let sealed = secret.seal(&Readable, HERE).unwrap();
    assert!(sealed.reveal().is_ok(), "the intent has the value");
    let settled = sealed.settled().unwrap();
    let text = serde_json::to_string(&settled).unwrap();
    assert!(!text.contains("ciphertext"), "{text}");
    let Value::Secret(recorded) = serde_json::from_str(&text).unwrap() else { panic!("{text}") };
    recorded.open(&crypter(), HERE);
    assert_eq!(recorded.reveal(), Err(Unopened::NotKept));
    assert_eq!(recorded, Secret::kept(Value::from("s3cret"), Kept::Digest));
    assert_ne!(recorded, Secret::kept(Value::from("another"), Kept::Digest));
}

#[test]
fn ephemeral_secret_is_recorded_as_a_mark_and_never_differs() {
    let made = Secret::kept(Value::from("token-1"), Kept::Nothing);
    let sealed = made.seal(&Readable, HERE).unwrap();
    let text = serde_json::to_string(&sealed).unwrap();
    assert_eq!(text, format!("{{\"{SIGNATURE_KEY}\":\"{SECRET_SIGNATURE}\",\"ephemeral\":true}}"));
    assert_eq!(sealed, Secret::kept(Value::from("token-2"), Kept::Nothing));
    assert_eq!(Secret::ephemeral(), sealed);
}

#[test]
fn nested_secret_is_covered_by_the_outer_one() {
    let inner = Value::secret(Value::from("deep"));
    let outer = Secret::new(Value::from(vec![inner]));
    assert_eq!(outer.reveal().unwrap(), &Value::from(vec![Value::from("deep")]));
    let nested = format!("{{\"{SIGNATURE_KEY}\":\"{SECRET_SIGNATURE}\",\"plaintext\":\"{{\\\"a\\\":1}}\"}}");
    let Value::Secret(read) = serde_json::from_str(&nested).unwrap() else { panic!("{nested}") };
    assert_eq!(read.reveal().unwrap().to_json(), "{\"a\":1}");
}

#[test]
fn malformed_secret_is_refused() {
    for fields in [
        "",
        ",\"ciphertext\":7",
        ",\"plaintext\":\"{\"",
        ",\"ciphertext\":\"x\",\"more\":1",
        ",\"ephemeral\":false",
    ] {
        let text = format!("{{\"{SIGNATURE_KEY}\":\"{SECRET_SIGNATURE}\"{fields}}}");
        assert!(serde_json::from_str::<Value>(&text).is_err(), "{text}");
    }
}
