//! Marks in state: leftover copies, protection in state, retained resources, settings around the program.

use proptest::prelude::*;
use std::sync::atomic::Ordering;
use stead_guard::{LevelMarks, MarkReader, OuterLevels, RawMark, RawValue, Spelling, UnknownKeys};
use stead_model::{Level, Lifecycle, Name, NodeId, PhysicalId, Resource, RunResult};
use stead_plan::{Glob, MovePolicy, Purpose, Request, Selection};
use stead_state::{Record, Settlement};

use crate::bench::{Bench, Program, text};
use crate::marks::{ALL, Mark, attempt};

fn db(mark: Option<Mark>, place: &str) -> Program {
    Program::default().node("db", &[("place", text(place))]).options(|options| {
        if let Some(mark) = mark {
            mark.set(options);
        }
    })
}

fn name() -> Name {
    "dev:main:t.T#db".parse().unwrap()
}

/// Changes every copy of `db` in state.
async fn edit(bench: &Bench, edit: impl Fn(&mut Resource)) {
    let state = bench.load().await.state;
    let uid = state.by_name(&name()).unwrap().uid.clone();
    let run = bench.open().await;
    for mut copy in state.copies_of(&uid).cloned() {
        edit(&mut copy);
        run.submit(Record::Amend { resource: Box::new(copy) }).durable().await.unwrap();
    }
    run.close(RunResult::Succeeded).await.unwrap();
}

async fn up(bench: &mut Bench, program: &Program) -> Result<Vec<String>, String> {
    attempt(bench, program, Request::default()).await
}

#[tokio::test]
async fn leftover_copy_follows_its_recorded_marks() {
    for mark in ALL {
        let mut bench = Bench::new(1);
        bench.up(&db(None, "x")).await;
        bench.provider.refuses_delete.store(true, Ordering::SeqCst);
        bench.up(&db(None, "y")).await;
        bench.provider.refuses_delete.store(false, Ordering::SeqCst);
        let condemned = |copy: &mut Resource| {
            if copy.lifecycle == Lifecycle::Condemned {
                copy.prevent_delete = mark == Mark::Prevent;
                copy.deletion_policy = (mark == Mark::Retain).then_some(stead_model::DeletionPolicy::Retain);
            }
        };
        edit(&bench, condemned).await;
        let tried = up(&mut bench, &db(None, "y")).await;
        match mark {
            Mark::Prevent => assert!(tried.unwrap_err().starts_with("cannot delete the old copy of")),
            Mark::Retain => assert!(tried.unwrap().is_empty()),
            Mark::Delete => assert_eq!(tried.unwrap(), ["delete db"]),
        }
    }
}

#[tokio::test]
async fn later_mark_does_not_protect_a_leftover_copy() {
    let mut bench = Bench::new(1);
    bench.up(&db(None, "x")).await;
    bench.provider.refuses_delete.store(true, Ordering::SeqCst);
    bench.up(&db(None, "y")).await;
    bench.provider.refuses_delete.store(false, Ordering::SeqCst);
    assert_eq!(up(&mut bench, &db(Some(Mark::Prevent), "y")).await.unwrap(), ["delete db"]);
}

#[tokio::test]
async fn resource_that_was_never_created_is_not_guarded() {
    let mut bench = Bench::new(1);
    let program = |create: &str| {
        Program::default()
            .node("db", &[("create", text(create))])
            .options(|options| Mark::Prevent.set(options))
    };
    assert_eq!(bench.up(&program("fail")).await.result, RunResult::Failed);
    assert!(up(&mut bench, &Program::default()).await.unwrap().is_empty());
    assert_eq!(bench.up(&program("doubt")).await.result, RunResult::InDoubt);
    let op = bench.load().await.state.pending().next().unwrap().op;
    let run = bench.open().await;
    run.submit(Record::Settle { op, settlement: Settlement::DidNotHappen }).durable().await.unwrap();
    run.close(RunResult::Succeeded).await.unwrap();
    assert!(up(&mut bench, &Program::default()).await.unwrap().is_empty());
    assert!(bench.recorded().await.is_empty());
}

#[tokio::test]
async fn record_of_a_missing_resource_can_be_removed() {
    for mark in ALL {
        let mut bench = Bench::new(1);
        bench.up(&db(Some(mark), "x")).await;
        bench.drop_real("db").await;
        bench.refresh(|_| true).await;
        assert!(up(&mut bench, &Program::default()).await.unwrap().is_empty(), "{mark:?}");
        assert!(bench.recorded().await.is_empty());
        assert_eq!(bench.load().await.state.retained().count(), 0, "no resource was retained");
    }
}

#[tokio::test]
async fn protection_in_state_lasts_until_it_is_removed_there() {
    let mut bench = Bench::new(1);
    bench.up(&db(None, "x")).await;
    edit(&bench, |copy| copy.marks.protected = true).await;
    let freed = |place: &str, size: &str| {
        Program::default()
            .node("db", &[("place", text(place)), ("size", text(size))])
            .options(|options| options.prevent_delete = Some(false))
    };
    assert_eq!(up(&mut bench, &freed("x", "2")).await.unwrap(), ["update db"], "an update is allowed");
    for program in [freed("y", "2"), Program::default()] {
        let refused = up(&mut bench, &program).await.unwrap_err();
        assert!(refused.contains("unprotect dev:main:"), "{refused}");
    }
    assert!(attempt(&mut bench, &Program::default(), Purpose::Destroy.into()).await.is_err());
    edit(&bench, |copy| copy.marks.protected = false).await;
    assert_eq!(up(&mut bench, &freed("y", "2")).await.unwrap(), ["create db", "delete db"]);
}

#[tokio::test]
async fn retained_resource_is_listed_until_it_is_imported() {
    let mut bench = Bench::new(1);
    bench.up(&db(Some(Mark::Retain), "x")).await;
    bench.up(&Program::default()).await;
    let kept = bench.load().await.state;
    let kept: Vec<_> = kept.retained().cloned().collect();
    assert_eq!((kept.len(), &kept[0].name), (1, &name()));
    assert_eq!(kept[0].reason.source.as_ref().unwrap().key, "deletionPolicy");
    let id: PhysicalId = kept[0].id.clone();
    let back = db(None, "x").options(|options| options.import = Some(id.clone()));
    bench.up(&back).await;
    let state = bench.load().await.state;
    assert_eq!((state.retained().count(), state.by_name(&name()).unwrap().id.as_ref()), (0, Some(&id)));
}

fn project(key: &str, value: RawValue) -> OuterLevels {
    let entry = RawMark { key: key.into(), spelling: Spelling::Annotation, value, place: None };
    let reader = MarkReader { unknown_keys: UnknownKeys::Refused, service: None };
    let level: LevelMarks = reader.read(Level::Project("shop".into()), [entry]).unwrap();
    OuterLevels::new([level])
}

#[tokio::test]
async fn project_mark_covers_resources_removed_from_the_program() {
    let mut bench = Bench::new(1);
    bench.up(&db(None, "x")).await;
    let outer = project("t/prevent-delete", RawValue::Bool(true));
    let request = Request { outer, ..Purpose::Destroy.into() };
    let refused = attempt(&mut bench, &Program::default(), request).await.unwrap_err();
    assert!(refused.contains("t/prevent-delete on project \"shop\""), "{refused}");
    let outer = project("deletion-policy", RawValue::Text("retain".into()));
    let request = Request { outer, moves: MovePolicy::Refuse, ..Request::default() };
    assert!(attempt(&mut bench, &Program::default(), request).await.unwrap().is_empty());
    let state = bench.load().await.state;
    assert_eq!(state.retained().next().unwrap().reason.source.as_ref().unwrap().key, "deletion-policy");
}

#[tokio::test]
async fn replacement_of_a_container_with_an_unselected_resource_is_refused() {
    let alone = |place: &str| Program::default().node("box", &[("place", text(place))]);
    let both = alone("x").node("inner", &[]).options(|options| options.deleted_with = Some(NodeId(0)));
    let mut bench = Bench::new(1);
    bench.up(&both).await;
    // The replacement of `box` would delete `inner`, which is neither declared nor selected.
    let selection = Selection { targets: vec![Glob::new("box")], ..Selection::default() };
    let request = Request { selection, ..Request::default() };
    let base = bench.load().await.state;
    let refused = bench.engine.plan(&base, &alone("y").settled(), request).await.unwrap_err();
    let expected = "#inner would be deleted with its container dev:main:t.T#box, but is not selected";
    assert!(refused[0].message.contains(expected), "{}", refused[0].message);
}

/// One operation on a stack with three resources.
#[derive(Clone, Debug)]
enum Action {
    /// Applies a program: mark, place and delete-first order of each resource; `None` leaves it out.
    Up([Option<(Option<Mark>, u8, bool)>; 3]),
    Destroy,
    Protect(usize),
    Unprotect(usize),
    RefuseDeletions(bool),
}

fn action() -> impl Strategy<Value = Action> {
    let mark = prop_oneof![Just(None), prop::sample::select(ALL.to_vec()).prop_map(Some)];
    let one = prop::option::weighted(0.7, (mark, 0..3u8, any::<bool>()));
    prop_oneof![
        6 => [one.clone(), one.clone(), one].prop_map(Action::Up),
        2 => Just(Action::Destroy),
        1 => (0..3usize).prop_map(Action::Protect),
        1 => (0..3usize).prop_map(Action::Unprotect),
        1 => any::<bool>().prop_map(Action::RefuseDeletions),
    ]
}

/// Declares up to three resources. Each can take its place from the one before, and the last is deleted with it.
fn program(nodes: &[Option<(Option<Mark>, u8, bool)>; 3]) -> Program {
    let mut program = Program::default();
    let mut previous: Option<u32> = None;
    for (index, node) in nodes.iter().enumerate() {
        let Some((mark, place, first)) = node else { continue };
        let place = match previous.filter(|_| *place == 2) {
            Some(before) => program.of(before),
            None => text(&place.to_string()),
        };
        program = program.node(&format!("n{index}"), &[("place", place.clone()), ("size", place)]).options(
            |options| {
                options.delete_before_replace = first.then_some(true);
                options.deleted_with = previous.filter(|_| index == 2).map(NodeId);
                if let Some(mark) = mark {
                    mark.set(options);
                }
            },
        );
        previous = Some(program.0.nodes.len() as u32 - 1);
    }
    program
}

/// Returns names and physical ids of the protected and retained resources and of their containers.
async fn guarded(bench: &Bench) -> Vec<(String, PhysicalId)> {
    let state = bench.load().await.state;
    let kept = |copy: &&Resource| copy.prevents_deletion() || copy.recorded_marks().retains();
    let mut guarded = Vec::new();
    for copy in state.copies().filter(kept) {
        let mut around = Some(copy);
        while let Some(resource) = around {
            guarded.extend(resource.id.clone().map(|id| (resource.name.short().to_owned(), id)));
            let inside =
                resource.ties.deleted_with.as_ref().filter(|_| resource.lifecycle == Lifecycle::Live);
            around = inside.and_then(|uid| state.current(uid));
        }
    }
    guarded
}

async fn run(actions: &[Action]) {
    let mut bench = Bench::new(2);
    bench.provider.trusting.store(true, Ordering::SeqCst);
    for action in actions {
        let before = guarded(&bench).await;
        match action {
            Action::Up(nodes) => {
                let (_keep, stop) = tokio::sync::watch::channel(stead_engine::Stop::No);
                drop(bench.try_up(&program(nodes), stop).await);
            }
            Action::Destroy => drop(bench.destroy(Purpose::Destroy.into()).await),
            Action::Protect(index) => protect(&bench, *index, true).await,
            Action::Unprotect(index) => protect(&bench, *index, false).await,
            Action::RefuseDeletions(refuses) => {
                bench.provider.refuses_delete.store(*refuses, Ordering::SeqCst)
            }
        }
        let real = bench.provider.real.lock().unwrap();
        for (name, id) in before {
            assert!(
                real.contains_key(id.as_str()),
                "{name} was protected or retained, and {action:?} deleted it"
            );
        }
    }
}

async fn protect(bench: &Bench, index: usize, protected: bool) {
    let state = bench.load().await.state;
    let name: Name = format!("dev:main:t.T#n{index}").parse().unwrap();
    let Some(uid) = state.by_name(&name).map(|resource| resource.uid.clone()) else { return };
    let run = bench.open().await;
    for mut copy in state.copies_of(&uid).cloned() {
        copy.marks.protected = protected;
        run.submit(Record::Amend { resource: Box::new(copy) }).durable().await.unwrap();
    }
    run.close(RunResult::Succeeded).await.unwrap();
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(150))]

    #[test]
    fn no_sequence_of_runs_deletes_a_protected_or_retained_resource(actions in prop::collection::vec(action(), 1..8)) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().start_paused(true).build().unwrap();
        runtime.block_on(run(&actions));
    }
}

#[test]
fn scripted_provider_forgets_deleted_objects() {
    // Otherwise the property above could not fail.
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let mut bench = Bench::new(1);
        bench.up(&db(Some(Mark::Delete), "x")).await;
        bench.up(&Program::default()).await;
        assert!(bench.provider.real.lock().unwrap().is_empty());
    });
}
