//! Serialised names, which saved plans and the JSON stream rely on, differ from the names in the code in places.

use super::*;
use crate::{Confidence, Reach, Reason, RecordChange, ReplacementCause};

fn json(value: &impl serde::Serialize) -> String {
    serde_json::to_string(value).unwrap()
}

#[test]
fn actions_and_reasons_keep_their_serialised_names() {
    assert_eq!(json(&Action::Barrier), r#"{"action":"gather"}"#);
    assert_eq!(json(&Why::Barrier), r#"{"why":"gathering"}"#);
    assert_eq!(json(&Why::NameVacated), r#"{"why":"made_room"}"#);
    assert_eq!(json(&Why::RetainedNameConflict), r#"{"why":"in_the_way"}"#);
    assert_eq!(
        json(&Why::DeletedWithContainer { name: name("a") }),
        r#"{"why":"gone_with","name":"dev:main:t.T#a"}"#
    );
    assert_eq!(
        json(&Why::RecordOnly { changes: vec![RecordChange::Pinned, RecordChange::FormerNames] }),
        r#"{"why":"bookkeeping","noted":["pinned","former_names"]}"#
    );
    let replaced = Why::Replaced {
        forced_by: Vec::new(),
        order: ReplaceOrder::CreateFirst,
        certainty: Certainty::Certain,
        cause: Some(ReplacementCause::ReplaceWith { name: name("a") }),
    };
    assert!(json(&replaced).ends_with(r#""drag":{"tie":"replace_with","name":"dev:main:t.T#a"}}"#));
}

#[test]
fn steps_suggestions_verdicts_and_requests_keep_their_serialised_names() {
    let base = state(&[("a", &[("size", "1")], &[]), ("b", &[("place", "e")], &["a"])]);
    let mut program = Program::default().node("a", &[("size", known("2"))]);
    let etag = program.of(0, "etag");
    let plan = program.node("b", &[("place", etag)]).plan(&base);
    let step = json(&plan.steps[1]);
    assert!(
        step.contains(r#""type":"t.T""#) && step.contains(r#""dragged_by":["dev:main:t.T#a"]"#),
        "{step}"
    );
    let moved = Program::default().node("new", &[]).plan(&state(&[("old", &[], &[])]));
    assert_eq!(moved.suggestions[0].confidence, Confidence::Likely);
    assert!(json(&moved.suggestions[0]).contains(r#""sureness":"likely""#));
    assert_eq!(json(&Reason::SameDependents), r#"{"reason":"same_neighbours"}"#);
    assert_eq!(json(&Reason::SameGivenId), r#"{"reason":"same_id_elsewhere"}"#);
    assert_eq!(json(&Reason::Swapped { property: "p".into() }), r#"{"reason":"swapped","property":"p"}"#);
    assert_eq!(json(&Reason::Similar { equal: 1, of: 2 }), r#"{"reason":"alike","equal":1,"of":2}"#);
    let same_id = Reason::SamePhysicalId { property: "p".into() };
    assert_eq!(json(&same_id), r#"{"reason":"same_thing","property":"p"}"#);
    assert_eq!(json(&Reach::default()), r#"{"dependencies":"No","dependants":"No"}"#);
    assert_eq!(json(&Verdict::Invalid(Vec::new())), r#""wrong""#);
}
