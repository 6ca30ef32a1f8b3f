//! Tests of the veil with a provider that sees plain values and gives them away in every way.

use std::sync::Mutex;

use stead_model::{
    Binding, Crypter, Input, Kept, KeyId, Name, PhysicalIdentity, PropertyPath, Secret, SourceRef, Uid, Value,
};
use stead_schema::{Access, Change, Property, ReplaceOrder, Shape, TypeSchema};
use stead_secrets::{DataKey, SymmetricCrypter};

use super::*;
use crate::{
    Claim, Description, ListParent, ListScope, Listed, LogLine, LogLines, MarksUnavailable, Moment, Occasion,
    OwnerMark, Providers, Series, Span,
};

pub(super) const CANARY: &str = "canary \"4711\" in the mine";

/// The password that a person gave the real resource.
const CHANGED: &str = "another canary, 4712";

/// Returns its request in its answers: as it is, inside texts, in hex, and in messages.
#[derive(Default)]
pub(super) struct Echo {
    seen: Mutex<Vec<String>>,
}

impl Echo {
    fn see(&self, text: String) {
        self.seen.lock().unwrap().push(text);
    }
}

fn schema() -> TypeSchema {
    let property = |name| Property::new(name, Shape::Any, Access::Optional, "");
    let properties = vec![
        property("password"),
        property("user"),
        property("pin").write_only(),
        Property::new("token", Shape::String, Access::ReadOnly, "").sensitive(),
    ];
    TypeSchema::new("echo.Thing", "", properties)
}

fn text_of(inputs: &Inputs) -> String {
    let known = inputs.iter().filter_map(|(key, input)| Some((key.clone(), input.as_known()?.clone())));
    Value::Map(known.collect()).to_json()
}

#[async_trait]
impl Provider for Echo {
    fn name(&self) -> &str {
        "echo"
    }

    fn types(&self) -> Vec<TypeSchema> {
        vec![schema()]
    }

    async fn check(&self, _: &TypeToken, inputs: Inputs) -> Result<Inputs, Vec<Problem>> {
        self.see(text_of(&inputs));
        if let Some(Value::String(text)) = inputs.get("refuse").and_then(Input::as_known) {
            let message =
                format!("`refuse` cannot be {text}, also known as {}", stead_model::hex(text.as_bytes()));
            return Err(vec![Problem {
                path: PropertyPath::of("refuse"),
                message,
                help: Some(text.to_string()),
            }]);
        }
        if inputs.get("fill").is_some() {
            return Ok([("filled".to_owned(), Input::Known(Value::from(CANARY)))].into());
        }
        if inputs.get("quote").is_some() {
            let message = format!("cannot use {}", text_of(&inputs));
            return Err(vec![Problem { path: PropertyPath::of("quote"), message, help: None }]);
        }
        Ok(inputs)
    }

    async fn diff(&self, old: &Resource, inputs: &Inputs) -> Diff {
        self.see(Value::Map(old.inputs.clone()).to_json());
        let changes = stead_schema::diff(&schema(), &old.inputs, inputs);
        let problem = Problem { path: PropertyPath::of("trouble"), message: trouble(), help: None };
        let problems = old.inputs.contains_key("trouble").then_some(problem).into_iter().collect();
        Diff { changes, order: ReplaceOrder::CreateFirst, problems }
    }

    fn reads(&self, _: &TypeToken) -> Reads {
        Reads::RealResource
    }

    async fn read(&self, resource: &Resource) -> Result<Option<LiveState>, Refusal> {
        let mut live = resource.inputs.clone();
        if resource.inputs.contains_key("changed") {
            live.insert("password", Value::from(CHANGED));
        }
        let password = live.get("password").and_then(Value::as_str).unwrap_or_default().to_owned();
        if resource.inputs.contains_key("fail") {
            let quoted = live.get("quoted").and_then(Value::as_str).unwrap_or(&password);
            return Err(Refusal::new(format!("cannot log in with {quoted}")));
        }
        let echo = live.get("echo").cloned().unwrap_or_default();
        let outputs = [
            ("echo".to_owned(), echo),
            ("copy".to_owned(), Value::from(password.as_str())),
            ("inside".to_owned(), Value::from(format!("postgres://ada:{password}@db"))),
            ("hex".to_owned(), Value::from(stead_model::hex(password.as_bytes()))),
            ("list".to_owned(), Value::from(vec![Value::from("open"), Value::from(password.as_str())])),
            ("token".to_owned(), Value::from("made-by-the-provider")),
            ("open".to_owned(), Value::from("nothing to hide")),
        ];
        Ok(Some(LiveState { inputs: live, outputs: outputs.into() }))
    }

    async fn find(&self, _: &TypeToken, _: &PhysicalId) -> Result<Option<LiveState>, Refusal> {
        Ok(None)
    }

    async fn create(&self, _: Receipt, _: CreateRequest<'_>) -> CallOutcome<Created> {
        CallOutcome::Refused(Refusal::new("not part of these tests"))
    }

    async fn update(&self, _: Receipt, _: UpdateRequest<'_>) -> CallOutcome<Updated> {
        CallOutcome::Refused(Refusal::new("not part of these tests"))
    }

    async fn delete(&self, _: Receipt, _: DeletePermit, _: DeleteRequest<'_>) -> CallOutcome<()> {
        CallOutcome::Refused(Refusal::new("not part of these tests"))
    }

    fn telemetry(&self) -> Option<&dyn Telemetry> {
        Some(self)
    }

    fn recovery(&self, _: Operation, _: &TypeToken, _: &Map) -> Recovery {
        Recovery::Ask
    }

    async fn may_still_run(&self, _: &TypeToken, _: &OperationToken) -> Option<String> {
        Some(trouble())
    }

    async fn settle_work(&self, _: &TypeToken, _: &OperationToken, _: Statement) -> Result<(), Refusal> {
        Err(Refusal::new(trouble()))
    }

    async fn place(&self) -> Result<Option<ProviderPlace>, Refusal> {
        Err(Refusal::new(trouble()))
    }

    fn ownership(&self) -> Option<&dyn Ownership> {
        Some(self)
    }

    fn listing(&self) -> Option<&dyn Listing> {
        Some(self)
    }
}

/// A text with a secret that the provider has from anywhere.
fn trouble() -> String {
    format!("trouble with {CANARY}")
}

#[async_trait]
impl Listing for Echo {
    fn parent(&self, _: &TypeToken) -> ListParent {
        ListParent::default()
    }

    async fn list(&self, _: &TypeToken, _: ListScope, _: &Map) -> Result<Vec<Listed>, Refusal> {
        Err(Refusal::new(trouble()))
    }
}

#[async_trait]
impl Ownership for Echo {
    async fn identities(&self, described: Vec<Description>) -> Vec<Vec<PhysicalIdentity>> {
        described.iter().map(|_| Vec::new()).collect()
    }

    fn has_spellings(&self) -> bool {
        false
    }

    async fn owners(&self, of: Vec<PhysicalIdentity>) -> Vec<Result<Option<OwnerMark>, MarksUnavailable>> {
        of.iter().map(|_| Err(MarksUnavailable(trouble()))).collect()
    }

    async fn claim(
        &self,
        _: PhysicalIdentity,
        _: OwnerMark,
        _: Option<OwnerMark>,
        _: Occasion,
    ) -> Result<Claim, MarksUnavailable> {
        Err(MarksUnavailable(trouble()))
    }

    async fn release(&self, _: PhysicalIdentity, _: OwnerMark) -> Result<(), MarksUnavailable> {
        Err(MarksUnavailable(trouble()))
    }

    async fn marks(&self) -> Result<Vec<(PhysicalIdentity, OwnerMark)>, MarksUnavailable> {
        Err(MarksUnavailable(trouble()))
    }
}

/// Its log has every property of the record.
#[async_trait]
impl Telemetry for Echo {
    fn log_of(&self, resource: &Resource) -> Option<String> {
        Some(Value::Map(resource.inputs.clone()).to_json())
    }

    async fn log(&self, resource: &Resource, _: Span) -> Result<LogLines, Refusal> {
        let texts = resource.inputs.values().filter_map(Value::as_str);
        if resource.inputs.contains_key("fail") {
            return Err(Refusal::new(texts.collect::<String>()));
        }
        if let Some(stream) = resource.inputs.get("stream").and_then(Value::as_str) {
            let text = |text: &str| LogLine {
                at: None,
                stream: "one".to_owned(),
                text: text.to_owned(),
                id: String::new(),
            };
            return Ok(LogLines { lines: stream.lines().map(text).collect(), ..LogLines::default() });
        }
        let line = |text: &str| LogLine {
            at: None,
            stream: text.to_owned(),
            text: format!("logged in with {text}"),
            id: String::new(),
        };
        Ok(LogLines { lines: texts.flat_map(str::lines).map(line).collect(), ..LogLines::default() })
    }

    fn metrics_of(&self, _: &Resource) -> Vec<String> {
        Vec::new()
    }

    async fn stats(&self, _: &Resource, _: Span) -> Result<Vec<Series>, Refusal> {
        Ok(Vec::new())
    }
}

pub(super) fn ty() -> TypeToken {
    TypeToken("echo.Thing".to_owned())
}

pub(super) fn secret() -> Value {
    Value::secret(Value::from(CANARY))
}

pub(super) fn record(inputs: &[(&str, Value)]) -> Resource {
    let name: Name = "dev:main:echo.Thing#a".parse().unwrap();
    let source = SourceRef { file: "main.ts".into(), line: 1, column: 1 };
    let inputs = inputs.iter().map(|(key, value)| ((*key).to_owned(), value.clone())).collect();
    Resource { inputs, ..Resource::new(Uid("u".into()), name, ty(), source) }
}

pub(super) fn inputs(given: &[(&str, Value)]) -> Inputs {
    given.iter().map(|(key, value)| ((*key).to_owned(), Input::Known(value.clone()))).collect()
}

pub(super) fn veiled() -> (Arc<Echo>, Arc<dyn Provider>) {
    let echo = Arc::new(Echo::default());
    let providers = Providers::default().with(echo.clone());
    (echo, providers.named("echo").unwrap().clone())
}

pub(super) fn now<T>(future: impl Future<Output = T>) -> T {
    let mut future = std::pin::pin!(future);
    let mut context = std::task::Context::from_waker(std::task::Waker::noop());
    match future.as_mut().poll(&mut context) {
        std::task::Poll::Ready(value) => value,
        std::task::Poll::Pending => panic!("the provider of these tests answers at once"),
    }
}

#[test]
fn provider_gets_plain_values_and_its_answer_is_marked_again() {
    let (echo, veiled) = veiled();
    let given = [("password", secret()), ("user", Value::from("ada")), ("pin", Value::from("1234"))];
    let checked = now(veiled.check(&ty(), inputs(&given))).unwrap();
    assert!(echo.seen.lock().unwrap()[0].contains("4711"), "the provider did not get the value");
    assert_eq!(checked["password"], Input::Known(secret()));
    assert_eq!(checked["user"], Input::Known(Value::from("ada")));
    let Input::Known(Value::Secret(pin)) = &checked["pin"] else { panic!("the schema makes `pin` secret") };
    assert_eq!(pin.recorded(), Kept::Digest);
}

#[test]
fn secret_in_an_answer_is_marked_in_every_form_and_the_rest_is_not() {
    let (_, veiled) = veiled();
    let live = now(veiled.read(&record(&[("password", secret())]))).unwrap().unwrap();
    for property in ["copy", "inside", "hex", "token"] {
        assert!(matches!(live.outputs[property], Value::Secret(_)), "{property} is in the clear");
    }
    assert_eq!(live.outputs["list"].to_json(), "[\"open\",\"[secret]\"]");
    assert_eq!(live.outputs["open"], Value::from("nothing to hide"));
    assert_eq!(live.inputs["password"], secret());
    assert!(!format!("{live:?}").contains("4711"));
}

#[test]
fn messages_of_a_provider_show_no_secret() {
    let (_, veiled) = veiled();
    let refused = now(veiled.check(&ty(), inputs(&[("refuse", secret())]))).unwrap_err();
    let text = format!("{} {:?}", refused[0].message, refused[0].help);
    assert!(text.contains("[secret]") && !text.contains("4711") && !text.contains("63616e617279"), "{text}");
    let failed =
        now(veiled.read(&record(&[("password", secret()), ("fail", Value::from(true))]))).unwrap_err();
    assert_eq!(failed.message, "cannot log in with [secret]");
}

#[test]
fn lines_of_a_log_show_no_secret_not_even_a_line_of_one() {
    let (_, veiled) = veiled();
    let telemetry = veiled.telemetry().unwrap();
    let span = Span { from: Moment(0), to: Moment(1) };
    let lines = Value::secret(Value::from("ab\ncd"));
    let given = [("password", secret()), ("user", Value::from("ada")), ("lines", lines)];
    let log = now(telemetry.log(&record(&given), span)).unwrap();
    let texts: Vec<&str> = log.lines.iter().map(|line| line.text.as_str()).collect();
    assert_eq!(texts, ["logged in with [secret]", "logged in with [secret]", "logged in with ada"]);
    assert!(log.lines.iter().all(|line| !line.stream.contains("4711")));
    assert!(!telemetry.log_of(&record(&given)).unwrap().contains("4711"));
    let failing = record(&[("password", secret()), ("fail", Value::from("yes"))]);
    assert!(!now(telemetry.log(&failing, span)).unwrap_err().message.contains("4711"));
}

#[test]
fn change_of_a_secret_has_two_secret_sides() {
    let (_, veiled) = veiled();
    let old =
        record(&[("password", Value::secret(Value::from("old-value-1"))), ("user", Value::from("ada"))]);
    let Diff { changes, .. } =
        now(veiled.diff(&old, &inputs(&[("password", secret()), ("user", Value::from("bob"))])));
    let [password, user] = changes.as_slice() else { panic!("{changes:?}") };
    assert!(matches!(
        password,
        Change { old: Some(Value::Secret(_)), new: Some(Input::Known(Value::Secret(_))), .. }
    ));
    assert_eq!(user.old, Some(Value::from("ada")));
    assert!(!format!("{changes:?}").contains("4711"));
    let same = now(veiled.diff(&record(&[("password", secret())]), &inputs(&[("password", secret())])));
    assert!(same.changes.is_empty(), "{same:?}");
}

#[test]
fn ephemeral_value_is_no_change() {
    let (_, veiled) = veiled();
    let open = Value::Secret(Secret::ephemeral());
    let Diff { changes, .. } = now(veiled.diff(&record(&[("pin", open.clone())]), &inputs(&[("pin", open)])));
    assert!(changes.is_empty(), "{changes:?}");
}

#[test]
fn problem_shows_no_value_that_only_the_schema_calls_secret() {
    let (_, provider) = veiled();
    let given = inputs(&[("pin", Value::from(CANARY)), ("quote", Value::from(true))]);
    let problems = now(provider.check(&ty(), given)).unwrap_err();
    assert_eq!(problems[0].message, r#"cannot use {"pin":"[secret]","quote":true}"#);
}

#[test]
fn secret_that_was_changed_elsewhere_is_marked_wherever_the_answer_repeats_it() {
    let (_, provider) = veiled();
    let old = record(&[("password", secret()), ("changed", Value::from(true))]);
    let LiveState { inputs, outputs } = now(provider.read(&old)).unwrap().unwrap();
    assert_eq!(inputs.get("password").map(Value::revealed), Some(Ok(Value::from(CHANGED))));
    let shown = Value::Map(outputs).blinded().to_json();
    assert!(!shown.contains("4712") && !shown.contains(&stead_model::hex(CHANGED.as_bytes())), "{shown}");
    assert!(shown.contains("nothing to hide"), "{shown}");
}

#[test]
fn recorded_plain_value_that_is_equal_to_a_short_secret_stays_plain() {
    let (_, provider) = veiled();
    let short = Value::secret(Value::from("0"));
    let old = record(&[("password", short), ("size", Value::from(0)), ("pin", Value::from("plain"))]);
    let LiveState { inputs, .. } = now(provider.read(&old)).unwrap().unwrap();
    assert_eq!(inputs.get("size"), Some(&Value::from(0)));
    assert!(inputs.get("password").is_some_and(Value::has_secrets));
    assert!(inputs.get("pin").is_some_and(Value::has_secrets), "the schema calls it secret");
}

#[test]
fn input_that_is_equal_to_a_short_secret_stays_plain_after_a_check() {
    let (_, provider) = veiled();
    let object = |inner: [Value; 2]| {
        let [secret, plain] = inner;
        Value::Map([("secret".to_owned(), secret), ("plain".to_owned(), plain)].into())
    };
    let short = || Value::secret(Value::from("3"));
    let given = inputs(&[
        ("password", short()),
        ("size", Value::from(3)),
        ("user", object([short(), Value::from("3")])),
        ("list", Value::from(vec![Value::from("3"), short()])),
    ]);
    assert_eq!(now(provider.check(&ty(), given.clone())), Ok(given));
}

#[test]
fn recorded_output_that_is_equal_to_a_short_secret_stays_plain_and_one_that_contains_a_secret_does_not() {
    let before: Map =
        [("serial".to_owned(), Value::from(3)), ("echo".to_owned(), Value::from(CANARY))].into();
    let marks = |short: &str| {
        let secrets = [("a".to_owned(), Value::secret(short.into())), ("b".to_owned(), secret())];
        Marks::default().with(&secrets.into())
    };
    let marked = short_stays_plain(marks("3").mark(before.clone()), &before);
    assert_eq!((&marked["serial"], &marked["echo"]), (&Value::from(3), &secret()));
    let changed: Map = [("serial".to_owned(), Value::from(4))].into();
    assert!(short_stays_plain(marks("4").mark(changed), &before)["serial"].has_secrets());
}

#[test]
fn recorded_plain_value_stays_plain_beside_a_secret_in_the_same_list() {
    let (_, provider) = veiled();
    let tag = |value: Value| Value::Map([("value".to_owned(), value)].into_iter().collect());
    let short = || Value::secret(Value::from("0"));
    let tags = Value::from(vec![tag(Value::from(0)), tag(short())]);
    let old = record(&[("password", short()), ("tags", tags.clone())]);
    let LiveState { inputs, .. } = now(provider.read(&old)).unwrap().unwrap();
    assert_eq!(inputs.get("tags"), Some(&tags));
}

#[test]
fn ephemeral_value_inside_an_object_stays_there_after_a_check() {
    let (echo, provider) = veiled();
    let object =
        |token: Value| Value::Map([("TOKEN".to_owned(), token), ("A".to_owned(), "b".into())].into());
    let given = inputs(&[("user", object(Value::Secret(Secret::ephemeral())))]);
    let checked = now(provider.check(&ty(), given.clone())).unwrap();
    assert_eq!(checked, given);
    assert_eq!(echo.seen.lock().unwrap().as_slice(), [r#"{"user":{"A":"b"}}"#]);
}

#[test]
fn digest_inside_a_list_is_compared_with_the_new_value() {
    let (_, provider) = veiled();
    let crypter: Arc<dyn Crypter> =
        Arc::new(SymmetricCrypter::new(KeyId("k1".to_owned()), &DataKey::new([7; 32])));
    let kept = |value: &str| Secret::kept(Value::from(value), Kept::Digest);
    let here = Binding(&["stack", "uid", "inputs", "user"]);
    let sealed = kept("canary").seal(crypter.as_ref(), here).unwrap();
    sealed.open(&crypter, here);
    let recorded = sealed.settled().unwrap();
    assert!(recorded.reveal().is_err());
    let rule = |secret: Secret| {
        let members = [("client".to_owned(), Value::from("a")), ("secret".to_owned(), Value::Secret(secret))];
        Value::from(vec![Value::Map(members.into_iter().collect())])
    };
    let old = record(&[("user", rule(recorded))]);
    let changes = |value: &str| now(provider.diff(&old, &inputs(&[("user", rule(kept(value)))]))).changes;
    assert_eq!(changes("canary"), []);
    assert_eq!(changes("another").len(), 1);
}

#[test]
fn read_keeps_write_only_values_that_are_nested() {
    let (_, veiled) = veiled();
    let digest = || Value::Secret(Secret::kept(Value::from("canary-4711"), Kept::Digest));
    let members = |inner: Value| Value::Map([("zip".to_owned(), inner)].into_iter().collect());
    let record = record(&[("code", members(digest())), ("list", Value::from(vec![members(digest())]))]);
    let live = now(veiled.read(&record)).unwrap().unwrap();
    assert_eq!(
        (&live.inputs["code"], &live.inputs["list"]),
        (&record.inputs["code"], &record.inputs["list"])
    );
}

#[test]
fn secret_of_an_update_that_may_have_taken_effect_is_marked_although_the_record_lacks_it() {
    let values = |given: &[(&str, Value)]| -> Map {
        given.iter().map(|(key, value)| ((*key).to_owned(), value.clone())).collect()
    };
    let sent = values(&[("password", secret()), ("user", "ada".into())]);
    let hex = stead_model::hex(CANARY.as_bytes());
    let live = LiveState {
        inputs: values(&[("password", CANARY.into()), ("user", "ada".into())]),
        outputs: values(&[("echo", hex.as_str().into()), ("size", 1.into())]),
    };
    let LiveState { inputs, outputs } = conceal_sent(live, &sent);
    assert_eq!((&inputs["password"], &inputs["user"]), (&secret(), &Value::from("ada")));
    assert_eq!((&outputs["echo"], &outputs["size"]), (&Value::secret(hex.into()), &Value::from(1)));
    // Only a part of the update, with another password, took effect.
    let live = LiveState {
        inputs: values(&[("password", CHANGED.into())]),
        outputs: values(&[("echo", format!("key={CHANGED}").into())]),
    };
    let LiveState { inputs, outputs } = conceal_sent(live, &sent);
    assert!(matches!((&inputs["password"], &outputs["echo"]), (Value::Secret(_), Value::Secret(_))));
}

#[test]
fn answer_that_contains_a_secret_of_another_request_is_marked() {
    let (_, provider) = veiled();
    let plain = record(&[("password", Value::from(CANARY)), ("fail", Value::from(true))]);
    let other = record(&[("password", Value::from(CANARY))]);
    let before = now(provider.read(&other)).unwrap().unwrap();
    assert_eq!(before.outputs["copy"], Value::from(CANARY));
    now(provider.check(&ty(), inputs(&[("user", secret())]))).unwrap();
    let LiveState { inputs, outputs } = now(provider.read(&other)).unwrap().unwrap();
    assert_eq!(inputs.get("password"), Some(&Value::from(CANARY)), "it was in the clear before");
    for property in ["copy", "inside", "hex"] {
        assert!(matches!(outputs[property], Value::Secret(_)), "{property} is in the clear");
    }
    assert_eq!(outputs["open"], Value::from("nothing to hide"));
    let failed = now(provider.read(&plain)).unwrap_err();
    assert_eq!(failed.message, "cannot log in with [secret]");
    let made =
        now(provider.read(&record(&[("password", Value::from("made-by-the-provider"))]))).unwrap().unwrap();
    assert!(matches!(made.outputs["copy"], Value::Secret(_)), "an earlier answer had it as a secret");
}

#[test]
fn providers_of_one_run_share_the_known_secrets_and_learn_those_of_the_state() {
    let providers = Providers::default().with(Arc::new(Echo::default()));
    let provider = providers.clone().named("echo").unwrap().clone();
    providers.learn_secrets(&record(&[("password", secret())]).inputs);
    let live =
        now(provider.read(&record(&[("password", Value::from(format!("-{CANARY}-")))]))).unwrap().unwrap();
    assert!(matches!(live.outputs["copy"], Value::Secret(_)));
    let digest = "9f735e0df9a1ddc702bf0a1a7b83033f9f7153a00c29de82cedadc9957289b05";
    providers.learn_secrets(&record(&[("pin", Value::secret(Value::from("testpassword")))]).inputs);
    let live = now(provider.read(&record(&[("password", Value::from(digest))]))).unwrap().unwrap();
    assert!(matches!(live.outputs["inside"], Value::Secret(_)), "a digest of a secret is one");
}
