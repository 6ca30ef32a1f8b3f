//! Imports of what is somebody's already.

use super::*;

#[test]
fn what_is_on_record_or_imported_twice_cannot_be_imported() {
    let base = edited(&state(&[("kept", &[], &[])]), |_, kept| kept.id = Some(PhysicalId("one".into())));
    let import = |id: &str| {
        let id = PhysicalId(id.into());
        move |options: &mut Options| options.import = Some(id)
    };
    let problems = |program: &Program| {
        let problems = program.ask(&base, &Purpose::Up.into()).unwrap_err();
        problems.into_iter().map(|problem| problem.message).collect::<Vec<_>>()
    };
    let kept = || Program::default().node("kept", &[]);
    let again = problems(&kept().node("other", &[]).options(import("one")));
    assert!(again[0].contains("one is dev:main:t.T#kept already"), "{again:?}");
    // Also when the one that has it is gone from the program: it would be deleted.
    let instead = problems(&Program::default().node("other", &[]).options(import("one")));
    assert!(instead[0].contains("one is dev:main:t.T#kept already"), "{instead:?}");
    let twice = kept().node("a", &[]).options(import("two")).node("b", &[]).options(import("two"));
    let twice = problems(&twice);
    assert!(twice.iter().any(|problem| problem.contains("two is dev:main:t.T#a already")), "{twice:?}");
    // What was imported long ago, and still says so, is no second one.
    kept().options(import("one")).ask(&base, &Purpose::Up.into()).unwrap();
}
