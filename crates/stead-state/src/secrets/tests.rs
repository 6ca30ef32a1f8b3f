//! Tests of sealing and opening, with a crypter that only mixes bytes.

use stead_model::{Ciphertext, Epoch, Kept, KeyId, KeyedDigest, Keyring, PhysicalId, RingKey, Seq};

use super::*;
use crate::rules::tests::resource;
use crate::{Batch, VerifiedState};

/// Stands in for encryption: reversible, bound to its place, with one key.
struct Shifted;

fn shifted(bytes: &[u8], binding: Binding<'_>) -> String {
    let place = stead_model::Digest::of(&binding.to_bytes()).to_string();
    let mixed: Vec<u8> =
        bytes.iter().zip(place.bytes().cycle()).map(|(byte, mix)| byte ^ mix ^ 0x55).collect();
    stead_model::hex(&mixed)
}

impl Crypter for Shifted {
    fn seal(&self, plain: &[u8], binding: Binding<'_>) -> Result<Ciphertext, Unopened> {
        Ok(Ciphertext(format!("s1:k:{}", shifted(plain, binding))))
    }

    fn open(&self, sealed: &Ciphertext, binding: Binding<'_>) -> Result<Vec<u8>, Unopened> {
        let text = sealed.0.strip_prefix("s1:k:").and_then(stead_model::from_hex).ok_or(Unopened::Damaged)?;
        stead_model::from_hex(&shifted(&text, binding)).ok_or(Unopened::Damaged)
    }

    fn digest(&self, plain: &[u8], binding: Binding<'_>) -> Result<KeyedDigest, Unopened> {
        let text = [plain, &binding.to_bytes()].concat();
        Ok(KeyedDigest(format!("d1:k:{}", stead_model::Digest::of(&text))))
    }

    fn matches(&self, digest: &KeyedDigest, plain: &[u8], binding: Binding<'_>) -> Result<bool, Unopened> {
        Ok(self.digest(plain, binding)? == *digest)
    }
}

const CANARY: &str = "canary-4711-in-the-mine";

fn state() -> State {
    let keys = vec![RingKey { id: KeyId("k".into()), wraps: Vec::new() }];
    let empty = Snapshot { keyring: Keyring { keys }, uids: 9, ..Snapshot::empty(StackId("s".into())) };
    State::from(empty.with(vec![resource("a", 1)]))
}

fn with_secrets(kept: Kept) -> Resource {
    let secret = Value::Secret(Secret::kept(Value::from(CANARY), kept));
    let list = Value::from(vec![Value::from("open"), secret.clone()]);
    Resource { inputs: [("list".to_owned(), list), ("one".to_owned(), secret)].into(), ..resource("a", 1) }
}

#[test]
fn sealed_record_has_no_secret_in_its_bytes_and_opens_in_the_state() {
    let mut record = Record::Amend { resource: Box::new(with_secrets(Kept::Value)) };
    record.seal(&StackId("s".into()), &Shifted, &|_| None).unwrap();
    let records = vec![record.clone()];
    let bytes =
        Batch { epoch: Epoch(1), seq: Seq(0), previous: None, write_id: "w".into(), records }.encode();
    let text = String::from_utf8(bytes.clone()).unwrap();
    assert!(!text.contains("canary"), "{text}");
    let mut state = state();
    let Batch { records, .. } = Batch::decode(&bytes).unwrap();
    state.apply(&records[0]).unwrap();
    assert!(state.has_secrets());
    let crypter: Arc<dyn Crypter> = Arc::new(Shifted);
    state.open_secrets(&crypter);
    let opened = state.copies().next().unwrap();
    assert_eq!(opened.inputs["one"].revealed().unwrap(), Value::from(CANARY));
    assert_eq!(opened.inputs, with_secrets(Kept::Value).inputs);
}

#[test]
fn record_with_a_secret_that_is_not_sealed_is_refused() {
    let mut sound = VerifiedState::new(state()).unwrap();
    let plain = Record::Amend { resource: Box::new(with_secrets(Kept::Value)) };
    assert!(sound.apply(&plain).is_err());
    let mut sealed = plain;
    sealed.seal(&StackId("s".into()), &Shifted, &|_| None).unwrap();
    assert!(sound.apply(&sealed).is_ok());
}

#[test]
fn write_only_value_is_in_the_intent_and_only_its_digest_in_the_state() {
    let mut state = state();
    let intent = Intent::Update {
        key: "k-1".into(),
        resource: Box::new(with_secrets(Kept::Digest)),
        previous: Map::new(),
    };
    let mut begin = Record::begin(OpId(1), intent);
    begin.seal(&StackId("s".into()), &Shifted, &|_| None).unwrap();
    state.apply(&begin).unwrap();
    let pending = serde_json::to_string(&state.pending().next().unwrap().intent).unwrap();
    assert!(pending.contains("ciphertext") && pending.contains("digest"), "{pending}");
    state.apply(&Record::End { op: OpId(1), outcome: Outcome::updated(Map::new()) }).unwrap();
    let recorded = serde_json::to_string(state.copies().next().unwrap()).unwrap();
    assert!(!recorded.contains("ciphertext") && recorded.contains("digest"), "{recorded}");
}

#[test]
fn answer_that_cannot_be_sealed_keeps_its_id() {
    let outputs: Map = [("token".to_owned(), Value::secret(Value::from(CANARY)))].into();
    let mut end = Record::End { op: OpId(1), outcome: Outcome::created(PhysicalId("i-1".into()), outputs) };
    assert!(end.seal(&StackId("s".into()), &stead_model::NoKey, &|_| None).is_err());
    end.forget_secrets();
    let text = serde_json::to_string(&end).unwrap();
    assert!(text.contains("i-1") && text.contains("ephemeral") && !text.contains("canary"), "{text}");
}

#[test]
fn secret_that_names_a_key_outside_the_ring_breaks_a_rule() {
    let mut record = Record::Amend { resource: Box::new(with_secrets(Kept::Value)) };
    record.seal(&StackId("s".into()), &Shifted, &|_| None).unwrap();
    let Record::Amend { resource } = record else { panic!("another record") };
    let snapshot = Snapshot { uids: 9, ..Snapshot::empty(StackId("s".into())).with(vec![*resource]) };
    let violations = crate::verify(&snapshot);
    assert!(
        violations.iter().all(|violation| violation.rule == "S23") && !violations.is_empty(),
        "{violations:?}"
    );
}
