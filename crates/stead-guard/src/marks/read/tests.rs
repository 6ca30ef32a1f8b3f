//! All spellings, values and contradictions of marks.

use super::*;
use stead_model::TypeToken;

fn text(value: &str) -> RawValue {
    RawValue::Text(value.to_owned())
}

fn entry(key: &str, spelling: Spelling, value: RawValue) -> RawMark {
    let place = Some(SourceRef { file: "stead.toml".into(), line: 7, column: 1 });
    RawMark { key: key.to_owned(), spelling, value, place }
}

fn annotation(key: &str, value: RawValue) -> RawMark {
    entry(key, Spelling::Annotation, value)
}

fn option(key: &str, value: RawValue) -> RawMark {
    entry(key, Spelling::Option, value)
}

fn strict() -> MarkReader<'static> {
    MarkReader { unknown_keys: UnknownKeys::Refused, service: Some("s3") }
}

fn project() -> Level {
    Level::Project("shop".into())
}

fn resource() -> Level {
    Level::Resource("db".into())
}

fn problem(level: Level, entries: impl IntoIterator<Item = RawMark>) -> String {
    let problems = strict().read(level, entries).unwrap_err();
    let shown: Vec<String> = problems
        .iter()
        .map(|problem| {
            let help = problem.help.iter().map(|help| format!("\n  help: {help}"));
            format!("{} {}{}", problem.code, problem.message, help.collect::<String>())
        })
        .collect();
    shown.join("\n")
}

#[test]
fn both_marks_are_read_in_every_spelling() {
    for (key, service) in [
        ("deletion-policy", None),
        ("Deletion-Policy ", None),
        ("services.k8s.aws/deletion-policy", None),
        ("s3/deletion-policy", Some("s3")),
        ("S3/deletion-policy", Some("s3")),
        ("s3.services.k8s.aws/deletion-policy", Some("s3")),
    ] {
        let marks = strict().read(project(), [annotation(key, text("retain"))]).unwrap();
        let slots = service.map_or(&marks.general, |service| &marks.by_service[service]);
        let mark = slots.deletion_policy.as_ref().unwrap();
        assert_eq!((mark.value, mark.source.key.as_str()), (DeletionPolicy::Retain, key));
    }
    for (key, value, prevented, policy) in [
        ("preventDelete", RawValue::Bool(true), Some(true), None),
        ("protect", RawValue::Bool(false), Some(false), None),
        ("deletionPolicy", text("retain"), None, Some(DeletionPolicy::Retain)),
        ("retainOnDelete", RawValue::Bool(true), None, Some(DeletionPolicy::Retain)),
        ("retainOnDelete", RawValue::Bool(false), None, Some(DeletionPolicy::Delete)),
    ] {
        let Slots { prevent_delete, deletion_policy, .. } =
            strict().read(resource(), [option(key, value)]).unwrap().general;
        assert_eq!(prevent_delete.map(|mark| mark.value), prevented);
        assert_eq!(deletion_policy.map(|mark| mark.value), policy);
    }
}

#[test]
fn values_ignore_case_and_blanks_and_unknown_ones_are_refused() {
    for good in ["true", "True", " TRUE "] {
        assert_eq!(value::flag(&text(good)), Ok(true), "{good}");
    }
    for good in ["false", "False\n"] {
        assert_eq!(value::flag(&text(good)), Ok(false), "{good}");
    }
    for bad in ["yes", "1", "on", "", " ", "no", "0", "truee"] {
        assert!(value::flag(&text(bad)).is_err(), "{bad}");
    }
    for (good, policy) in [("Retain", DeletionPolicy::Retain), (" DELETE ", DeletionPolicy::Delete)] {
        assert_eq!(value::policy(&text(good)), Ok(policy), "{good}");
    }
    for bad in ["", "abandon", "retian", "true"] {
        assert_eq!(value::policy(&text(bad)), Err(value::BadValue::Use(value::POLICIES)), "{bad}");
    }
    for reserved in ["snapshot", "Retain-Except-On-Create"] {
        assert_eq!(value::policy(&text(reserved)), Err(value::BadValue::NotYet), "{reserved}");
    }
    assert!(value::policy(&RawValue::Bool(true)).is_err());
    assert!(value::flag(&RawValue::Other("1".into())).is_err());
}

#[test]
fn messages_name_the_position_and_the_valid_values() {
    let messages = [
        problem(resource(), [annotation("deletion-policy", text("Retian"))]),
        problem(Level::Environment("prod".into()), [annotation("prevent-delete", text("yes"))]),
        problem(project(), [annotation("s3/deletion-policy", text("snapshot"))]),
        problem(project(), [annotation("deletion-polcy", text("retain"))]),
        problem(project(), [annotation("stead.dev/deletion-policy", text("retain"))]),
        problem(project(), [annotation("owner", text("me"))]),
        problem(resource(), [annotation("prevent-delete-lock", RawValue::Bool(true))]),
        problem(project(), [annotation("prevent-delete", RawValue::Other("[1]".into()))]),
        problem(
            project(),
            [
                annotation("s3/prevent-delete", RawValue::Bool(true)),
                annotation("s3.services.k8s.aws/prevent-delete", text("false")),
            ],
        ),
        problem(
            resource(),
            [option("preventDelete", RawValue::Bool(false)), annotation("s3/prevent-delete", text("true"))],
        ),
        problem(
            resource(),
            [option("deletionPolicy", text("retain")), option("retainOnDelete", RawValue::Bool(false))],
        ),
    ];
    insta::assert_snapshot!(messages.join("\n"), @r#"
    ST0402 invalid deletion-policy "Retian" on resource "db" (stead.toml:7): use "delete" or "retain"
    ST0402 invalid prevent-delete "yes" on environment "prod" (stead.toml:7): use true or false
    ST0402 deletion-policy (s3/deletion-policy) "snapshot" on project "shop" (stead.toml:7) is not supported yet: use "delete" or "retain"
    ST0402 unknown mark `deletion-polcy` on project "shop" (stead.toml:7)
      help: did you mean `deletion-policy`?
    ST0402 unknown mark `stead.dev/deletion-policy` on project "shop" (stead.toml:7)
      help: write `deletion-policy`, or a service before it: `s3/deletion-policy`
    ST0402 unknown mark `owner` on project "shop" (stead.toml:7)
      help: the marks are deletion-policy, prevent-delete, prevent-delete-lock; each can be set for one service, as in `s3/deletion-policy`
    ST0402 `prevent-delete-lock` cannot be set on resource "db" (stead.toml:7): a lock applies to many resources
      help: set it for a namespace, an environment or the project; on a resource, use `prevent-delete`
    ST0402 invalid prevent-delete [1] on project "shop" (stead.toml:7): use true or false
    ST0403 two settings disagree on project "shop" (stead.toml:7): s3/prevent-delete is true but s3.services.k8s.aws/prevent-delete is false
      help: remove one of them, or give both the same value
    ST0403 two settings disagree on resource "db" (stead.toml:7): preventDelete is false but s3/prevent-delete is true
      help: remove one of them, or give both the same value
    ST0403 two settings disagree on resource "db" (stead.toml:7): deletionPolicy is retain but retainOnDelete is delete
      help: remove one of them, or give both the same value
    "#);
}

#[test]
fn notes_for_invalid_and_for_contradicting_marks_differ() {
    let notes = |entries: &[RawMark]| {
        let problems = strict().read(resource(), entries.to_vec()).unwrap_err();
        problems[0].diagnostic().notes
    };
    let both = [option("protect", RawValue::Bool(true)), option("preventDelete", RawValue::Bool(false))];
    assert_eq!(notes(&both), ["It is ambiguous which of the two is meant, so the command stops."]);
    assert_eq!(
        notes(&[option("protect", text("yes"))]),
        ["An invalid mark protects nothing, so the command stops until it is corrected."]
    );
}

#[test]
fn option_contradicts_the_service_key_and_a_general_key_does_not() {
    let by_service = || annotation("s3/deletion-policy", text("delete"));
    let message = problem(resource(), [option("deletionPolicy", text("retain")), by_service()]);
    assert!(message.contains("deletionPolicy is retain but s3/deletion-policy is delete"), "{message}");
    let general = annotation("deletion-policy", text("retain"));
    assert!(strict().read(resource(), [general, by_service()]).is_ok());
}

#[test]
fn equal_values_and_keys_of_other_services_are_no_contradiction() {
    let same = [annotation("deletion-policy", text("retain")), option("deletionPolicy", text("RETAIN"))];
    assert!(strict().read(resource(), same).is_ok());
    let other =
        [option("preventDelete", RawValue::Bool(false)), annotation("rds/prevent-delete", text("true"))];
    assert!(strict().read(resource(), other.clone()).is_ok());
    let group = Level::Enclosing("web".into());
    let all_but_s3 =
        [option("preventDelete", RawValue::Bool(false)), annotation("s3/prevent-delete", text("true"))];
    assert!(MarkReader { unknown_keys: UnknownKeys::Refused, service: None }.read(group, all_but_s3).is_ok());
}

#[test]
fn annotations_of_other_tools_are_ignored_if_allowed() {
    let reader = MarkReader { unknown_keys: UnknownKeys::Ignored, service: Some("s3") };
    let foreign =
        ["cnrm.cloud.google.com/deletion-policy", "kubectl.kubernetes.io/x", "services.k8s.aws/region"];
    let entries = foreign.map(|key| annotation(key, text("whatever")));
    assert!(reader.read(resource(), entries).unwrap().is_empty());
    let bad = reader.read(resource(), [annotation("services.k8s.aws/deletion-policy", text(""))]);
    assert!(bad.is_err(), "an invalid mark is always an error");
}

#[test]
fn service_is_derived_from_the_type() {
    for (token, service) in [
        ("aws.s3.Bucket", "s3"),
        ("AWS::S3::Bucket", "s3"),
        ("AWS::ElasticLoadBalancingV2::Listener", "elasticloadbalancingv2"),
        ("aws.Provider", "aws"),
        ("local.File", "local"),
        ("a.b.C", "a"),
    ] {
        assert_eq!(service_of(&TypeToken(token.into())), service);
    }
}
