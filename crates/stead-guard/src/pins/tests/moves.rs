//! Pins that a `move` of the program gives another path.

use stead_model::{Input, Value};

use super::super::{EmptySection, Orphans, PinfileUpdate, apply_pinfile};
use super::{FewTypes, Program, changes, file, full_text, pins, recorded, state, with};

const DATA: &str = r#""t.Box.data":{"type":"t.Box","attributes":{"path":"data"}}"#;

/// A program whose only leaf has moved.
fn moved(leaf: Program, from: &str) -> Program {
    let mut program = leaf;
    program.0.nodes[0].options.moved_from = Some(from.to_owned());
    program
}

#[test]
fn move_of_the_program_does_what_pin_mv_does() {
    let program = moved(Program::default().pinned(":t.Box#store", "new"), "t.Box.data");
    let base = state(vec![recorded(":t.Box#data", "data", true)]);
    for base in [None, Some(&base)] {
        let settled = program.apply_pinfile_on(Some(&with(DATA)), base).unwrap();
        assert_eq!(changes(&settled), ["[-pin] t.Box.data", "[+pin] t.Box.store"]);
        let node = &settled.graph.nodes[0];
        assert_eq!(node.options.original_path.as_deref(), Some("t.Box.data"));
        assert_eq!(node.inputs["path"], Input::Known(Value::from("data")), "the frozen value applies");
        let PinfileUpdate::Write(text) = settled.pins.update(EmptySection::Remove) else { panic!() };
        let by_hand = super::super::move_pin(&file(Some(&with(DATA))), "local", "t.Box.data", "t.Box.store");
        assert_eq!(PinfileUpdate::Write(text.clone()), by_hand.unwrap().0);
        let again = program.apply_pinfile_on(Some(&text), base).unwrap();
        assert!(again.changes.is_empty(), "{:?}", again.changes);
        assert_eq!(again.pins.update(EmptySection::Remove), PinfileUpdate::Unchanged);
    }
}

#[test]
fn second_move_keeps_the_first_original_path() {
    let first =
        with(r#""t.Box.store":{"type":"t.Box","originalPath":"t.Box.data","attributes":{"path":"data"}}"#);
    let program = moved(Program::default().pinned(":t.Box#vault", "new"), "t.Box.store");
    // The record has the path of the first move only, because its environment was made after it.
    let base = state(vec![recorded(":t.Box#store", "data", true)]);
    let settled = program.apply_pinfile_on(Some(&first), Some(&base)).unwrap();
    let node = &settled.graph.nodes[0];
    assert_eq!(node.options.original_path.as_deref(), Some("t.Box.data"));
    assert_eq!(node.options.moved_from.as_deref(), Some("t.Box.store"));
    assert!(settled.warnings.is_empty(), "the resource exists");
    assert_eq!(changes(&settled), ["[-pin] t.Box.store", "[+pin] t.Box.vault"]);
}

#[test]
fn move_from_a_path_without_an_entry_is_recorded_for_other_environments() {
    let program = moved(Program::default().pinned(":t.Box#store", "data"), "t.Box.data");
    let settled = program.apply_pinfile(None).unwrap();
    assert_eq!(changes(&settled), ["[+pin] t.Box.store"]);
    let PinfileUpdate::Write(text) = settled.pins.update(EmptySection::Keep) else { panic!() };
    assert!(text.contains("\"originalPath\": \"t.Box.data\""), "{text}");
}

#[test]
fn update_of_the_pins_releases_no_resource_that_moved() {
    let base = state(vec![recorded(":t.Box#data", "data", true)]);
    let programs = [
        (moved(Program::default().pinned(":t.Box#store", "data"), "t.Box.data"), with(DATA)),
        (
            Program::default().pinned(":t.Box#store", "data"),
            with(r#""t.Box.store":{"type":"t.Box","originalPath":"t.Box.data"}"#),
        ),
    ];
    for (program, text) in programs {
        let settled =
            apply_pinfile(program.0, pins(Some(&text)), &FewTypes, Some(&base), Orphans::Release).unwrap();
        assert!(!settled.status.releases("t.Box.data"), "{:?}", settled.changes);
    }
}

#[test]
fn unpinning_and_moving_in_one_run_is_refused() {
    let program = moved(Program::default().unpinned(":t.Box#store", "data"), "t.Box.data");
    let refused = program.apply_pinfile(Some(&with(DATA))).unwrap_err();
    assert!(full_text(&refused).contains("ST0412"), "{}", full_text(&refused));
}
