//! Every spelling, every value, every contradiction.

use super::*;
use stead_model::TypeToken;

fn text(value: &str) -> Given {
    Given::Text(value.to_owned())
}

fn entry(key: &str, written: Written, value: Given) -> Entry {
    let place = Some(SourceRef { file: "stead.toml".into(), line: 7, column: 1 });
    Entry { key: key.to_owned(), written, value, place }
}

fn annotation(key: &str, value: Given) -> Entry {
    entry(key, Written::Annotation, value)
}

fn option(key: &str, value: Given) -> Entry {
    entry(key, Written::Option, value)
}

fn strict() -> Reader<'static> {
    Reader { foreign: Foreign::Refused, service: Some("s3") }
}

fn project() -> Level {
    Level::Project("shop".into())
}

fn resource() -> Level {
    Level::Resource("db".into())
}

fn problem(level: Level, entries: impl IntoIterator<Item = Entry>) -> String {
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
        ("preventDelete", Given::Bool(true), Some(true), None),
        ("protect", Given::Bool(false), Some(false), None),
        ("deletionPolicy", text("retain"), None, Some(DeletionPolicy::Retain)),
        ("retainOnDelete", Given::Bool(true), None, Some(DeletionPolicy::Retain)),
        ("retainOnDelete", Given::Bool(false), None, Some(DeletionPolicy::Delete)),
    ] {
        let Slots { prevent_delete, deletion_policy, .. } =
            strict().read(resource(), [option(key, value)]).unwrap().general;
        assert_eq!(prevent_delete.map(|mark| mark.value), prevented);
        assert_eq!(deletion_policy.map(|mark| mark.value), policy);
    }
}

#[test]
fn values_are_read_without_regard_to_case_and_blanks_and_nothing_else_is() {
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
    assert!(value::policy(&Given::Bool(true)).is_err());
    assert!(value::flag(&Given::Other("1".into())).is_err());
}

#[test]
fn what_is_wrong_is_said_with_its_place_and_what_to_write() {
    let shown = [
        problem(resource(), [annotation("deletion-policy", text("Retian"))]),
        problem(Level::Environment("prod".into()), [annotation("prevent-delete", text("yes"))]),
        problem(project(), [annotation("s3/deletion-policy", text("snapshot"))]),
        problem(project(), [annotation("deletion-polcy", text("retain"))]),
        problem(project(), [annotation("stead.dev/deletion-policy", text("retain"))]),
        problem(project(), [annotation("owner", text("me"))]),
        problem(resource(), [annotation("prevent-delete-lock", Given::Bool(true))]),
        problem(project(), [annotation("prevent-delete", Given::Other("[1]".into()))]),
        problem(
            project(),
            [
                annotation("s3/prevent-delete", Given::Bool(true)),
                annotation("s3.services.k8s.aws/prevent-delete", text("false")),
            ],
        ),
        problem(
            resource(),
            [option("preventDelete", Given::Bool(false)), annotation("s3/prevent-delete", text("true"))],
        ),
        problem(
            resource(),
            [option("deletionPolicy", text("retain")), option("retainOnDelete", Given::Bool(false))],
        ),
    ];
    insta::assert_snapshot!(shown.join("\n"), @r#"
    ST0402 invalid deletion-policy "Retian" on resource "db" (stead.toml:7): use "delete" or "retain"
    ST0402 invalid prevent-delete "yes" on environment "prod" (stead.toml:7): use true or false
    ST0402 deletion-policy (s3/deletion-policy) "snapshot" on project "shop" (stead.toml:7) is not supported yet: use "delete" or "retain"
    ST0402 there is no mark `deletion-polcy`, which is set on project "shop" (stead.toml:7)
      help: did you mean `deletion-policy`?
    ST0402 there is no mark `stead.dev/deletion-policy`, which is set on project "shop" (stead.toml:7)
      help: write `deletion-policy`, or a service before it: `s3/deletion-policy`
    ST0402 there is no mark `owner`, which is set on project "shop" (stead.toml:7)
      help: there are deletion-policy, prevent-delete, prevent-delete-lock; each also for one service, like `s3/deletion-policy`
    ST0402 `prevent-delete-lock` cannot be set on resource "db" (stead.toml:7): a lock is for many resources
      help: set it for a namespace, an environment or the project; on a resource, use `prevent-delete`
    ST0402 invalid prevent-delete [1] on project "shop" (stead.toml:7): use true or false
    ST0403 two settings disagree on project "shop" (stead.toml:7): s3/prevent-delete is true but s3.services.k8s.aws/prevent-delete is false
      help: say it once, or say the same twice
    ST0403 two settings disagree on resource "db" (stead.toml:7): preventDelete is false but s3/prevent-delete is true
      help: say it once, or say the same twice
    ST0403 two settings disagree on resource "db" (stead.toml:7): deletionPolicy is retain but retainOnDelete is delete
      help: say it once, or say the same twice
    "#);
}

#[test]
fn what_is_not_understood_and_what_is_said_twice_are_told_apart() {
    let noted = |entries: &[Entry]| {
        let problems = strict().read(resource(), entries.to_vec()).unwrap_err();
        problems[0].diagnostic().notes
    };
    let both = [option("protect", Given::Bool(true)), option("preventDelete", Given::Bool(false))];
    assert_eq!(noted(&both), ["Nobody can tell which of the two is meant, so nothing is done."]);
    assert_eq!(
        noted(&[option("protect", text("yes"))]),
        ["A mark that is not understood protects nothing, so nothing is done before it is."]
    );
}

#[test]
fn an_option_speaks_for_the_service_of_its_resource_and_a_general_key_does_not() {
    let by_service = || annotation("s3/deletion-policy", text("delete"));
    let said = problem(resource(), [option("deletionPolicy", text("retain")), by_service()]);
    assert!(said.contains("deletionPolicy is retain but s3/deletion-policy is delete"), "{said}");
    let general = annotation("deletion-policy", text("retain"));
    assert!(strict().read(resource(), [general, by_service()]).is_ok());
}

#[test]
fn the_same_twice_is_no_contradiction_and_neither_is_another_services_key() {
    let same = [annotation("deletion-policy", text("retain")), option("deletionPolicy", text("RETAIN"))];
    assert!(strict().read(resource(), same).is_ok());
    let other = [option("preventDelete", Given::Bool(false)), annotation("rds/prevent-delete", text("true"))];
    assert!(strict().read(resource(), other.clone()).is_ok());
    let group = Level::Enclosing("web".into());
    let all_but_s3 =
        [option("preventDelete", Given::Bool(false)), annotation("s3/prevent-delete", text("true"))];
    assert!(Reader { foreign: Foreign::Refused, service: None }.read(group, all_but_s3).is_ok());
}

#[test]
fn annotations_of_others_are_left_alone_where_they_may_stand() {
    let reader = Reader { foreign: Foreign::Ignored, service: Some("s3") };
    let foreign =
        ["cnrm.cloud.google.com/deletion-policy", "kubectl.kubernetes.io/x", "services.k8s.aws/region"];
    let entries = foreign.map(|key| annotation(key, text("whatever")));
    assert!(reader.read(resource(), entries).unwrap().is_empty());
    let bad = reader.read(resource(), [annotation("services.k8s.aws/deletion-policy", text(""))]);
    assert!(bad.is_err(), "one of ours that is not understood is an error anywhere");
}

#[test]
fn the_service_comes_from_the_type() {
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
