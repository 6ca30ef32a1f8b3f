//! Marks on resources, on groups and around the program, over whole graphs.

use stead_model::{DeletionPolicy, Options, SourceRef, TypeToken, Value};

use super::*;

fn node(graph: &mut Graph, token: &str, kind: NodeKind, parent: Option<u32>, set: impl FnOnce(&mut Options)) {
    let line = graph.nodes.len() as u32 + 1;
    let mut options = Options::default();
    set(&mut options);
    graph.nodes.push(Node {
        name: format!("dev:main:{token}#n{line}").parse().unwrap(),
        ty: TypeToken(token.into()),
        kind,
        parent: parent.map(NodeId),
        inputs: Default::default(),
        options,
        source: SourceRef { file: "main.ts".into(), line, column: 1 },
        marks: Default::default(),
    });
}

fn annotate(options: &mut Options, key: &str, value: Value) {
    options.annotations.insert(key.to_owned(), value);
}

fn environment(key: &str, value: RawValue) -> OuterLevels {
    let place = Some(SourceRef { file: "stead.toml".into(), line: 7, column: 1 });
    let entry = RawMark { key: key.into(), spelling: Spelling::Annotation, value, place };
    let reader = MarkReader { unknown_keys: UnknownKeys::Refused, service: None };
    OuterLevels::new([reader.read(Level::Environment("prod".into()), [entry]).unwrap()])
}

/// Returns a group that contains a bucket that contains a queue, and a file outside the group.
fn nested(group: impl FnOnce(&mut Options), bucket: impl FnOnce(&mut Options)) -> Graph {
    let mut graph = Graph::default();
    node(&mut graph, "Web", NodeKind::Group, None, group);
    node(&mut graph, "aws.s3.Bucket", NodeKind::Provisioned, Some(0), bucket);
    node(&mut graph, "aws.sqs.Queue", NodeKind::Provisioned, Some(1), |_| {});
    node(&mut graph, "local.File", NodeKind::Provisioned, None, |_| {});
    graph
}

fn display(graph: &Graph) -> String {
    let mark = |node: &Node| {
        let prevented =
            node.marks.prevent_delete.as_ref().map(|mark| format!("{} ({})", mark.value, mark.source));
        let policy =
            node.marks.deletion_policy.as_ref().map(|mark| format!("{:?} ({})", mark.value, mark.source));
        format!("{}: {} / {}", node.name, prevented.unwrap_or("-".into()), policy.unwrap_or("-".into()))
    };
    graph.nodes.iter().map(mark).collect::<Vec<_>>().join("\n")
}

#[test]
fn marks_are_inherited_and_the_nearest_decides() {
    let mut graph = nested(
        |group| {
            group.prevent_delete = Some(true);
            annotate(group, "sqs/deletion-policy", Value::from("Retain"));
        },
        |bucket| bucket.protect = Some(false),
    );
    let warnings =
        mark_graph(&mut graph, &environment("deletion-policy", RawValue::Text("retain".into()))).unwrap();
    assert!(warnings.is_empty());
    insta::assert_snapshot!(display(&graph), @r#"
    dev:main:Web#n1: - / -
    dev:main:aws.s3.Bucket#n2: false (protect on resource "dev:main:aws.s3.Bucket#n2", main.ts:2) / Retain (deletion-policy on environment "prod", stead.toml:7)
    dev:main:aws.sqs.Queue#n3: false (protect on enclosing "dev:main:aws.s3.Bucket#n2", main.ts:2) / Retain (sqs/deletion-policy on enclosing "dev:main:Web#n1", main.ts:1)
    dev:main:local.File#n4: - / Retain (deletion-policy on environment "prod", stead.toml:7)
    "#);
}

#[test]
fn marks_of_the_program_or_of_outer_levels_alone_apply() {
    let prevented = |graph: &Graph| -> Vec<bool> {
        graph.nodes.iter().map(|node| node.marks.prevents_deletion()).collect()
    };
    let mut inside = nested(|group| group.prevent_delete = Some(true), |_| {});
    mark_graph(&mut inside, &OuterLevels::default()).unwrap();
    assert_eq!(prevented(&inside), [false, true, true, false]);
    let mut around = nested(|_| {}, |_| {});
    mark_graph(&mut around, &environment("prevent-delete", RawValue::Bool(true))).unwrap();
    assert_eq!(prevented(&around), [false, true, true, true]);
}

#[test]
fn node_has_no_marks_if_none_are_set() {
    let mut graph = nested(|_| {}, |_| {});
    assert!(mark_graph(&mut graph, &OuterLevels::default()).unwrap().is_empty());
    assert!(graph.nodes.iter().all(|node| node.marks.is_empty()));
    assert!(!serde_json::to_string(&graph).unwrap().contains("marks"));
}

#[test]
fn invalid_mark_is_an_error_even_if_a_nearer_one_decides() {
    let mut graph = nested(
        |group| annotate(group, "deletion-policy", Value::from("retian")),
        |bucket| bucket.deletion_policy = Some(DeletionPolicy::Delete),
    );
    let problems = mark_graph(&mut graph, &OuterLevels::default()).unwrap_err();
    assert_eq!((problems.len(), problems[0].code.as_str()), (1, "ST0402"));
}

#[test]
fn key_that_matches_no_resource_causes_a_warning() {
    let mut graph = nested(
        |group| annotate(group, "local/prevent-delete", Value::from(true)),
        |bucket| {
            annotate(bucket, "rds/deletion-policy", Value::from("retain"));
            annotate(bucket, "sqs/deletion-policy", Value::from("retain"));
        },
    );
    let warnings =
        mark_graph(&mut graph, &environment("rdss/deletion-policy", RawValue::Text("retain".into())))
            .unwrap();
    let text: Vec<String> = warnings.into_iter().map(|warning| warning.message).collect();
    insta::assert_snapshot!(text.join("\n"), @r#"
    local/prevent-delete on enclosing "dev:main:Web#n1" (main.ts:1) matches no resource; services here: local, s3, sqs
    rds/deletion-policy on resource "dev:main:aws.s3.Bucket#n2" (main.ts:2) is for another service and has no effect on it
    rdss/deletion-policy on environment "prod" (stead.toml:7) matches no resource; services here: local, s3, sqs
    "#);
}

#[test]
fn near_levels_are_those_of_the_parents_nearest_first() {
    let graph = nested(|group| group.prevent_delete = Some(true), |bucket| bucket.protect = Some(false));
    let levels = near_levels(&graph, NodeId(2)).unwrap();
    let levels: Vec<String> = levels.iter().map(|level| level.level().to_string()).collect();
    assert_eq!(levels, ["enclosing \"dev:main:aws.s3.Bucket#n2\"", "enclosing \"dev:main:Web#n1\""]);
}
