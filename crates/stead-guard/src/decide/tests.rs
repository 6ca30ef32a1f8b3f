//! Which deletions are allowed, and what is said of those that are not.

use std::sync::Arc;

use stead_model::{
    DeletionPolicy, Generation, Level, Lifecycle, Map, MarkSource, Marked, PhysicalId, SourceRef, TypeToken,
    Uid,
};

use super::*;

pub(crate) fn resource(name: &str, prevent_delete: bool) -> Resource {
    Resource {
        uid: Uid(name.into()),
        generation: Generation(1),
        name: format!("dev:main:t.T#{name}").parse().unwrap(),
        ty: TypeToken("t.T".into()),
        lifecycle: Lifecycle::Live,
        id: Some(PhysicalId("x".into())),
        inputs: Map::new(),
        outputs: Map::new(),
        dependencies: Vec::new(),
        property_dependencies: std::collections::BTreeMap::new(),
        ties: Default::default(),
        prevent_delete,
        deletion_policy: None,
        source: SourceRef { file: "main.ts".into(), line: 3, column: 7 },
        marks: Default::default(),
        pinned: false,
    }
}

fn source(level: Level, key: &str, line: u32) -> Arc<MarkSource> {
    let place = Some(SourceRef { file: "stead.toml".into(), line, column: 1 });
    Arc::new(MarkSource { level, key: key.into(), place })
}

fn prevented(value: bool) -> Marks {
    let source = source(Level::Environment("prod".into()), "t/prevent-delete", 7);
    Marks { prevent_delete: Some(Marked { value, source }), deletion_policy: None }
}

fn replaced() -> Cause {
    Cause::Replaced { because: "a change of `path` forces it".into() }
}

fn deletion(resource: &Resource, cause: Cause, fate: Fate) -> Deletion<'_> {
    Deletion { resource, today: Marks::default(), cause, fate, pin: Hold::Free }
}

fn shown(refusal: &Refusal) -> String {
    let diagnostic = refusal.diagnostic();
    let help: Vec<String> = diagnostic.help.iter().map(|help| format!("\n  {help}")).collect();
    format!("{}{}", diagnostic.message, help.concat())
}

#[test]
fn one_refusal_takes_every_permit_away() {
    let (free, kept) = (resource("free", false), resource("kept", true));
    let removed = |resource| deletion(resource, Cause::Removed, Fate::Deleted);
    let mut permits = decide(&[removed(&free)]).unwrap();
    assert!(permits.take(&free.copy()).is_some());
    assert!(permits.take(&free.copy()).is_none(), "a permit is good once");
    let refused = decide(&[removed(&free), removed(&kept)]).unwrap_err();
    assert_eq!(refused.len(), 1);
    assert_eq!(refused[0].name, kept.name);
}

#[test]
fn the_safer_of_the_recorded_and_the_declared_mark_holds() {
    for (recorded, today, allowed) in [
        (false, Marks::default(), true),
        (false, prevented(false), true),
        (false, prevented(true), false),
        (true, Marks::default(), false),
        (true, prevented(false), false),
    ] {
        let resource = resource("a", recorded);
        let deletion = Deletion {
            resource: &resource,
            today: today.clone(),
            cause: replaced(),
            fate: Fate::Deleted,
            pin: Hold::Free,
        };
        assert_eq!(decide(&[deletion]).is_ok(), allowed, "{recorded} {today:?}");
    }
}

#[test]
fn what_was_protected_in_state_is_protected_whatever_the_program_says() {
    let mut resource = resource("a", false);
    resource.marks.protected = true;
    let refused = [Cause::Destroyed, Cause::Removed].map(|cause| {
        let deletion = Deletion { today: prevented(false), ..deletion(&resource, cause, Fate::Deleted) };
        shown(&decide(&[deletion]).unwrap_err()[0])
    });
    insta::assert_snapshot!(refused.join("\n"), @r#"
    cannot delete dev:main:t.T#a: prevent-delete is true (set with `stead state protect`)
      run `stead state unprotect 'dev:main:t.T#a'`, then try again
    dev:main:t.T#a was removed from the program, but prevent-delete is true on it (set with `stead state protect`)
      run `stead state unprotect 'dev:main:t.T#a'`, then try again
      if you renamed it, tell the new one: `aliases: ["dev:main:t.T#a"]`
    "#);
}

#[test]
fn what_may_not_be_deleted_may_not_be_forgotten_either() {
    for (recorded, today, forgotten) in [
        (false, Marks::default(), true),
        (false, prevented(false), true),
        (false, prevented(true), false),
        (true, prevented(false), false),
    ] {
        let refused = crate::cannot_forget(&resource("a", recorded), &today);
        assert_eq!(refused.is_none(), forgotten, "{recorded} {today:?}");
    }
    let mut protected = resource("a", false);
    protected.marks.protected = true;
    let problem = crate::cannot_forget(&protected, &Marks::default()).unwrap();
    insta::assert_snapshot!(format!("{}\n  {}", problem.message, problem.help.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n  ")), @"
    cannot forget dev:main:t.T#a: prevent-delete is true (set with `stead state protect`)
      run `stead state unprotect 'dev:main:t.T#a'`, then try again
    ");
}

#[test]
fn what_state_or_a_setting_of_today_retains_is_not_replaced_in_its_place() {
    let mut kept = resource("a", false);
    assert!(decide(&[deletion(&kept, replaced(), Fate::Deleted)]).is_ok());
    kept.deletion_policy = Some(DeletionPolicy::Retain);
    let refused = decide(&[deletion(&kept, replaced(), Fate::InTheWay)]).unwrap_err();
    assert_eq!((refused[0].mark, refused[0].set_by().key.as_str()), (Mark::Retain, "deletionPolicy"));
    assert!(shown(&refused[0]).contains("(last set by deletionPolicy on resource"), "{}", shown(&refused[0]));
    let source = source(Level::Project("shop".into()), "deletion-policy", 9);
    let today = |value| Marks {
        deletion_policy: Some(Marked { value, source: source.clone() }),
        prevent_delete: None,
    };
    let refused = |resource: &Resource, today: Marks| {
        decide(&[Deletion { today, ..deletion(resource, replaced(), Fate::InTheWay) }]).unwrap_err().remove(0)
    };
    let by_today = refused(&resource("b", false), today(DeletionPolicy::Retain));
    assert!(shown(&by_today).contains("(deletion-policy on project"), "{}", shown(&by_today));
    let by_state = refused(&kept, today(DeletionPolicy::Delete));
    assert!(shown(&by_state).contains("(last set by deletionPolicy on resource"), "{}", shown(&by_state));
}

#[test]
fn a_mark_that_is_set_somewhere_else_today_is_shown_there_too() {
    let labels = |today: Marks, recorded: bool| {
        let resource = resource("a", recorded);
        let deletion = Deletion { today, ..deletion(&resource, Cause::Destroyed, Fate::Deleted) };
        let problem = decide(&[deletion]).unwrap_err()[0].diagnostic();
        problem.labels.iter().map(|label| label.place.file.clone()).collect::<Vec<_>>()
    };
    assert_eq!(labels(prevented(true), false), ["main.ts", "stead.toml"]);
    assert_eq!(labels(Marks::default(), true), ["main.ts"], "nobody can look where it was set once");
    let mut here = prevented(true);
    let mark = here.prevent_delete.as_mut().unwrap();
    mark.source = Arc::new(MarkSource { place: Some(resource("a", false).source), ..(*mark.source).clone() });
    assert_eq!(labels(here, false), ["main.ts"], "once is enough");
    let mut then = resource("a", true);
    then.marks.prevent_delete = Some(source(Level::Project("shop".into()), "prevent-delete", 9));
    let refused = decide(&[deletion(&then, Cause::Destroyed, Fate::Deleted)]).unwrap_err();
    assert_eq!(refused[0].diagnostic().labels.len(), 1, "that place may say something else today");
}

#[test]
fn messages_say_what_why_and_what_now() {
    let causes = [Cause::Removed, Cause::Destroyed, replaced(), Cause::LeftOver];
    let mut db = resource("db", true);
    db.marks.prevent_delete = Some(source(Level::Project("shop".into()), "prevent-delete", 9));
    let mut text: Vec<String> = causes
        .into_iter()
        .flat_map(|cause| [Marks::default(), prevented(true)].map(|today| (cause.clone(), today)))
        .map(|(cause, today)| {
            let deletion = Deletion { resource: &db, today, cause, fate: Fate::Deleted, pin: Hold::Free };
            shown(&decide(&[deletion]).unwrap_err()[0])
        })
        .collect();
    for set_by in [
        source(Level::Flag, "--prevent-delete", 1),
        source(Level::Environment("prod".into()), "prevent-delete-lock", 4),
    ] {
        let today =
            Marks { prevent_delete: Some(Marked { value: true, source: set_by }), ..Marks::default() };
        let free = resource("free", false);
        let deletion = Deletion {
            resource: &free,
            today,
            cause: Cause::Destroyed,
            fate: Fate::Deleted,
            pin: Hold::Free,
        };
        text.push(shown(&decide(&[deletion]).unwrap_err()[0]));
    }
    insta::assert_snapshot!(text.join("\n"), @r#"
    dev:main:t.T#db was removed from the program, but prevent-delete is true on it (last set by prevent-delete on project "shop", stead.toml:9)
      put it back, set `preventDelete: false` on it, run `stead up`, then remove it
      if you renamed it, tell the new one: `aliases: ["dev:main:t.T#db"]`
    dev:main:t.T#db was removed from the program, but prevent-delete is true on it (t/prevent-delete on environment "prod", stead.toml:7)
      put it back, set `preventDelete: false` on it, run `stead up`, then remove it
      if you renamed it, tell the new one: `aliases: ["dev:main:t.T#db"]`
    cannot delete dev:main:t.T#db: prevent-delete is true (last set by prevent-delete on project "shop", stead.toml:9)
      set `preventDelete: false` on it, run `stead up`, then try again
    cannot delete dev:main:t.T#db: prevent-delete is true (t/prevent-delete on environment "prod", stead.toml:7)
      set `preventDelete: false` on it, run `stead up`, then try again
    cannot replace dev:main:t.T#db: a change of `path` forces it, and prevent-delete is true (last set by prevent-delete on project "shop", stead.toml:9)
      undo the change; or set `preventDelete: false` on it, run `stead up`, then change it
    cannot replace dev:main:t.T#db: a change of `path` forces it, and prevent-delete is true (t/prevent-delete on environment "prod", stead.toml:7)
      undo the change; or set `preventDelete: false` on it, run `stead up`, then change it
    cannot delete the old copy of dev:main:t.T#db: prevent-delete is true on it (last set by prevent-delete on project "shop", stead.toml:9)
      set `preventDelete: false` on it, run `stead up`, then try again
    cannot delete the old copy of dev:main:t.T#db: prevent-delete is true on it (t/prevent-delete on environment "prod", stead.toml:7)
      set `preventDelete: false` on it, run `stead up`, then try again
    cannot delete dev:main:t.T#free: prevent-delete is true (--prevent-delete on the command line, stead.toml:1)
      leave the flag out, if it was given by mistake, then try again
    cannot delete dev:main:t.T#free: prevent-delete is true (prevent-delete-lock on environment "prod", stead.toml:4)
      ask who set the lock; without it, set `preventDelete: false`, run `stead up`, then try again
    "#);
}

#[test]
fn a_retained_one_neither_goes_with_another_nor_stands_in_the_way() {
    let with: Name = "dev:main:t.T#box".parse().unwrap();
    let gone = || Fate::GoneWith { name: with.clone() };
    let mut text = Vec::new();
    for (retained, prevented, fate, mark) in [
        (true, false, Fate::Forgotten, None),
        (true, true, Fate::Forgotten, Some(Mark::PreventDelete)),
        (true, false, gone(), Some(Mark::Retain)),
        (false, false, gone(), None),
        (false, true, gone(), Some(Mark::PreventDelete)),
        (true, false, Fate::InTheWay, Some(Mark::Retain)),
    ] {
        let mut resource = resource("a", prevented);
        resource.deletion_policy = retained.then_some(DeletionPolicy::Retain);
        let decision = decide(&[deletion(&resource, replaced(), fate)]);
        match (decision, mark) {
            (Ok(mut permits), None) => {
                assert!(permits.take(&resource.copy()).is_none(), "no call, no permit")
            }
            (Err(refused), Some(mark)) => {
                assert_eq!(refused[0].mark, mark);
                text.push(shown(&refused[0]));
            }
            (decision, mark) => panic!("{decision:?}, {mark:?}"),
        }
    }
    insta::assert_snapshot!(text.join("\n"), @r#"
    cannot replace dev:main:t.T#a: a change of `path` forces it, and prevent-delete is true (last set by preventDelete on resource "dev:main:t.T#a")
      undo the change; or set `preventDelete: false` on it, run `stead up`, then change it
    dev:main:t.T#a would go with dev:main:t.T#box, and its deletion-policy is retain (last set by deletionPolicy on resource "dev:main:t.T#a")
      keep what it is in; or set `deletionPolicy: "delete"` on it, run `stead up`, then try again
    dev:main:t.T#a would go with dev:main:t.T#box, and prevent-delete is true on it (last set by preventDelete on resource "dev:main:t.T#a")
      keep what it is in; or set `preventDelete: false` on it, run `stead up`, then try again
    cannot replace dev:main:t.T#a: a change of `path` forces it, and the old one stays where the new one has to be, because its deletion-policy is retain (last set by deletionPolicy on resource "dev:main:t.T#a")
      undo the change, or give the new one another name; or set `deletionPolicy: "delete"` on it, run `stead up`, then change it
    "#);
}
