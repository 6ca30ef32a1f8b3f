//! Imports of physical resources that are recorded already.

use super::*;

#[test]
fn physical_id_that_is_recorded_or_imported_twice_cannot_be_imported() {
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
    assert!(again[0].contains("one already belongs to dev:main:t.T#kept"), "{again:?}");
    // Also if the holder is removed from the program, because it would be deleted.
    let instead = problems(&Program::default().node("other", &[]).options(import("one")));
    assert!(instead[0].contains("one already belongs to dev:main:t.T#kept"), "{instead:?}");
    let twice = kept().node("a", &[]).options(import("two")).node("b", &[]).options(import("two"));
    let twice = problems(&twice);
    assert!(
        twice.iter().any(|problem| problem.contains("two already belongs to dev:main:t.T#a")),
        "{twice:?}"
    );
    // The option may stay after the import.
    kept().options(import("one")).ask(&base, &Purpose::Up.into()).unwrap();
}
