//! Truth table of the webhook, and the messages of its refusals.

use serde_json::json;

use super::*;

fn annotations(marks: &[(&str, &str)]) -> Annotations {
    marks.iter().map(|(key, value)| ((*key).to_owned(), json!(value))).collect()
}

fn bucket<'a>(annotations: &'a Annotations) -> Subject<'a> {
    Subject {
        kind: "Bucket",
        group: "s3.services.k8s.aws",
        resource: "buckets.s3.services.k8s.aws",
        name: "logs",
        namespace: Some("prod"),
        annotations,
    }
}

fn judged(own: &[(&str, &str)], around: &[(&str, &str)], flag: PreventDelete) -> Ruling {
    let (own, around) = (annotations(own), annotations(around));
    bucket(&own).judge(Some(EnclosingNamespace { name: "prod", annotations: &around }), flag)
}

fn message(ruling: &Ruling) -> String {
    bucket(&Annotations::new())
        .refused(ruling)
        .map_or_else(|| "allowed".to_owned(), |refused| refused.message)
}

#[test]
fn the_nearest_mark_wins_and_within_a_level_the_mark_of_the_service() {
    const S: &str = "s3.services.k8s.aws/prevent-delete";
    const G: &str = "services.k8s.aws/prevent-delete";
    for (own, around, protected) in [
        (&[][..], &[][..], false),
        (&[], &[(G, "true")], true),
        (&[], &[(S, "true"), (G, "false")], true),
        (&[], &[(S, "false"), (G, "true")], false),
        (&[(G, "false")], &[(S, "true")], false),
        (&[(G, "true")], &[(S, "false")], true),
        (&[(S, "true"), (G, "false")], &[], true),
        (&[(S, "false"), (G, "true")], &[(S, "true")], false),
        (&[("s3/prevent-delete", " TRUE ")], &[], true),
        (&[("prevent-delete", "true")], &[], true),
        (&[], &[("rds.services.k8s.aws/prevent-delete", "true")], false),
        (&[(S, "false")], &[("prevent-delete-lock", "true")], true),
        (&[(S, "false")], &[("rds/prevent-delete-lock", "true")], false),
        (&[("services.k8s.aws/deletion-policy", "retain")], &[], false),
        (&[("argocd.argoproj.io/sync-options", "Prune=false")], &[("team", "x")], false),
    ] {
        let ruling = judged(own, around, PreventDelete::AsMarked);
        assert_eq!(matches!(ruling, Ruling::Protected(_)), protected, "{own:?} {around:?}");
        assert_eq!(matches!(ruling, Ruling::Free), !protected, "{own:?} {around:?}");
        let always = judged(own, around, PreventDelete::Always);
        assert!(matches!(always, Ruling::Protected(_)), "{own:?} {around:?}");
    }
}

#[test]
fn invalid_mark_on_any_level_is_refused() {
    let bad = [
        ("services.k8s.aws/prevent-delete", "yes"),
        ("prevent-delete", ""),
        ("rds/prevent-delete", "1"),
        ("s3.services.k8s.aws/deletion-policy", "Retian"),
        ("deletion-policy", "snapshot"),
    ];
    for mark in bad {
        for (own, around) in [(&[mark][..], &[][..]), (&[("s3/prevent-delete", "false")], &[mark])] {
            let ruling = judged(own, around, PreventDelete::AsMarked);
            assert!(matches!(ruling, Ruling::Unreadable(_)), "{own:?} {around:?}");
        }
    }
    let lock_on_an_object = judged(&[("prevent-delete-lock", "true")], &[], PreventDelete::AsMarked);
    assert!(matches!(lock_on_an_object, Ruling::Unreadable(_)));
    let not_text: Annotations = [("prevent-delete".to_owned(), json!(true))].into();
    let ruling = bucket(&not_text).judge(None, PreventDelete::AsMarked);
    assert!(matches!(ruling, Ruling::Unreadable(_)), "an annotation is text, or nothing is sure");
}

#[test]
fn refusals_name_the_object_the_reason_and_the_next_step() {
    let texts = [
        judged(&[("s3.services.k8s.aws/prevent-delete", "true")], &[], PreventDelete::AsMarked),
        judged(&[], &[("services.k8s.aws/prevent-delete", "true")], PreventDelete::AsMarked),
        judged(&[("prevent-delete", "false")], &[("prevent-delete-lock", "true")], PreventDelete::AsMarked),
        judged(&[], &[], PreventDelete::Always),
        judged(&[("prevent-delete", "yes")], &[("deletion-policy", "Retian")], PreventDelete::AsMarked),
        judged(
            &[("s3/prevent-delete", "true"), ("s3.services.k8s.aws/prevent-delete", "false")],
            &[],
            PreventDelete::AsMarked,
        ),
    ];
    insta::assert_snapshot!(texts.iter().map(message).collect::<Vec<_>>().join("\n\n"));
}

#[test]
fn annotations_that_look_like_marks_give_a_warning() {
    let own = annotations(&[
        ("rds.services.k8s.aws/prevent-delete", "true"),
        ("stead.dev/prevent-delete", "true"),
        ("s3/deletion-policy", "retain"),
        ("team", "storage"),
    ]);
    insta::assert_snapshot!(bucket(&own).warnings().join("\n"));
}

#[test]
fn a_mark_of_any_service_protects_a_container() {
    for (marks, held) in [
        (&[][..], false),
        (&[("services.k8s.aws/prevent-delete", "true")][..], true),
        (&[("rds/prevent-delete", "true"), ("prevent-delete", "false")], true),
        (&[("rds/prevent-delete", "false"), ("prevent-delete", "true")], true),
        (&[("rds/prevent-delete", "false")], false),
        (&[("prevent-delete-lock", "true")], true),
        (&[("s3/prevent-delete-lock", "true")], true),
        (&[("deletion-policy", "retain")], false),
    ] {
        let own = annotations(marks);
        let namespace = Subject {
            kind: "Namespace",
            group: "",
            resource: "namespaces",
            name: "prod",
            namespace: None,
            annotations: &own,
        };
        assert_eq!(namespace.judge_container() != Ruling::Free, held, "{marks:?}");
    }
}
