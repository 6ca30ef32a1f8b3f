//! Marks against every operation that could delete a resource: each row of the table in `docs/guards.md`.

use std::collections::BTreeSet;

use stead_engine::Stop;
use stead_model::{DeletionPolicy, NodeId, Options};
use stead_plan::{Follow, Glob, Purpose, Reach, Request, Selection};
use tokio::sync::watch;

use crate::bench::{Bench, Program, text};

#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Mark {
    Prevent,
    Retain,
    Delete,
}

pub(crate) const ALL: [Mark; 3] = [Mark::Prevent, Mark::Retain, Mark::Delete];

impl Mark {
    pub(crate) fn set(self, options: &mut Options) {
        match self {
            Mark::Prevent => options.prevent_delete = Some(true),
            Mark::Retain => options.deletion_policy = Some(DeletionPolicy::Retain),
            Mark::Delete => options.deletion_policy = Some(DeletionPolicy::Delete),
        }
    }
}

/// The log of calls, or the first refusal with its hints.
pub(crate) type Attempt = Result<Vec<String>, String>;

/// Applies the program unless the guards refuse. A refused run calls no provider and leaves state as it was.
pub(crate) async fn attempt(bench: &mut Bench, program: &Program, request: Request) -> Attempt {
    bench.provider.log();
    let before = bench.load().await.state.snapshot(None);
    let (_keep, stop) = watch::channel(Stop::No);
    let tried = match request.purpose {
        Purpose::Destroy => bench.destroy(request).await,
        Purpose::Up if request == Request::default() => bench.try_up(program, stop).await,
        Purpose::Up => Ok(bench.up_with(program, request).await),
    };
    let log = bench.provider.log();
    match tried {
        Ok(_) => Ok(log),
        Err(problems) => {
            assert_eq!(problems[0].code.as_str(), "ST0401");
            assert!(log.is_empty(), "a refused run called the provider: {log:?}");
            assert_eq!(bench.load().await.state.snapshot(None), before, "a refused run changed state");
            Err(format!(
                "{} | {}",
                problems[0].message,
                problems[0].help.iter().map(ToString::to_string).collect::<Vec<_>>().join(" | ")
            ))
        }
    }
}

async fn up(bench: &mut Bench, program: &Program) -> Attempt {
    attempt(bench, program, Request::default()).await
}

fn real(bench: &Bench) -> BTreeSet<String> {
    let real = bench.provider.real.lock().unwrap();
    real.values().filter_map(|inputs| inputs.get("name")?.as_str().map(str::to_owned)).collect()
}

async fn retained(bench: &Bench) -> Vec<String> {
    bench.load().await.state.retained().map(|kept| kept.name.short().to_owned()).collect()
}

/// `db` with a mark, and `other` beside it.
fn pair(mark: Mark, place: &str) -> Program {
    Program::default().node("db", &[("place", text(place))]).options(|o| mark.set(o)).node("other", &[])
}

fn names(names: &[&str]) -> BTreeSet<String> {
    names.iter().map(|name| (*name).to_owned()).collect()
}

fn destroy() -> Request {
    Request::from(Purpose::Destroy)
}

#[tokio::test]
async fn destroy_follows_the_mark_of_each_resource() {
    for mark in ALL {
        let mut bench = Bench::new(1);
        bench.up(&pair(mark, "x")).await;
        let tried = attempt(&mut bench, &Program::default(), destroy()).await;
        match mark {
            Mark::Prevent => assert!(
                tried.unwrap_err().starts_with("cannot delete dev:main:t.T#db: prevent-delete is true")
            ),
            Mark::Retain => {
                assert_eq!(tried.unwrap(), ["delete other"]);
                assert_eq!((real(&bench), retained(&bench).await), (names(&["db"]), vec!["db".to_owned()]));
            }
            Mark::Delete => assert_eq!(tried.unwrap().len(), 2),
        }
    }
}

#[tokio::test]
async fn targeted_destroy_with_a_protected_dependent_is_refused() {
    let program = |mark: Mark| {
        let mut program = Program::default().node("net", &[]);
        let out = program.of(0);
        program.node("db", &[("size", out)]).options(|o| mark.set(o))
    };
    let request = || Request {
        selection: Selection {
            targets: vec![Glob::new("net")],
            exclude: Vec::new(),
            reach: Reach { dependencies: Follow::No, dependents: Follow::Yes },
        },
        ..destroy()
    };
    for mark in ALL {
        let mut bench = Bench::new(1);
        bench.up(&program(mark)).await;
        let tried = attempt(&mut bench, &Program::default(), request()).await;
        match mark {
            Mark::Prevent => assert!(tried.unwrap_err().contains("#db")),
            Mark::Retain => assert_eq!(tried.unwrap(), ["delete net"]),
            Mark::Delete => assert_eq!(tried.unwrap(), ["delete db", "delete net"]),
        }
    }
}

#[tokio::test]
async fn resource_removed_from_the_program_keeps_its_recorded_mark() {
    for mark in ALL {
        let mut bench = Bench::new(1);
        bench.up(&pair(mark, "x")).await;
        let tried = up(&mut bench, &Program::default().node("other", &[])).await;
        match mark {
            Mark::Prevent => {
                let refused = tried.unwrap_err();
                assert!(refused.contains("was removed from the program"), "{refused}");
                assert!(refused.contains("last set by preventDelete on resource"), "{refused}");
            }
            Mark::Retain => {
                assert!(tried.unwrap().is_empty());
                assert_eq!(real(&bench), names(&["db", "other"]));
            }
            Mark::Delete => assert_eq!(tried.unwrap(), ["delete db"]),
        }
    }
}

#[tokio::test]
async fn rename_with_an_alias_keeps_the_marks() {
    for mark in ALL {
        let mut bench = Bench::new(1);
        bench.up(&pair(mark, "x")).await;
        let mut renamed =
            Program::default().node("new", &[("place", text("x")), ("name", text("db"))]).options(|o| {
                mark.set(o);
                o.aliases.push("dev:main:t.T#db".parse().unwrap());
            });
        renamed.0.nodes[0].inputs.insert("name", text("db"));
        let renamed = renamed.node("other", &[]);
        assert!(up(&mut bench, &renamed).await.unwrap().is_empty());
        let state = bench.load().await.state;
        let resource = state.by_name(&"dev:main:t.T#new".parse().unwrap()).unwrap();
        assert_eq!(resource.prevents_deletion(), mark == Mark::Prevent);
        assert_eq!(resource.recorded_marks().retains(), mark == Mark::Retain);
    }
}

#[tokio::test]
async fn rename_without_an_alias_is_a_deletion() {
    for mark in ALL {
        let mut bench = Bench::new(1);
        bench.up(&pair(mark, "x")).await;
        let renamed = Program::default().node("new", &[("place", text("x"))]).node("other", &[]);
        let tried = up(&mut bench, &renamed).await;
        match mark {
            Mark::Prevent => assert!(tried.unwrap_err().contains("`aliases: [\"dev:main:t.T#db\"]`")),
            Mark::Retain => {
                assert_eq!(tried.unwrap(), ["create new"]);
                assert_eq!(real(&bench), names(&["db", "new", "other"]));
            }
            Mark::Delete => assert_eq!(tried.unwrap(), ["create new", "delete db"]),
        }
    }
}

#[tokio::test]
async fn create_first_replacement_is_refused_before_the_create() {
    for mark in ALL {
        let mut bench = Bench::new(1);
        bench.up(&pair(mark, "x")).await;
        let tried = up(&mut bench, &pair(mark, "y")).await;
        match mark {
            Mark::Prevent => {
                let refused = tried.unwrap_err();
                assert!(
                    refused.starts_with("cannot replace dev:main:t.T#db: a change of `place` forces it"),
                    "{refused}"
                );
            }
            Mark::Retain => {
                assert_eq!(tried.unwrap(), ["create db"]);
                assert_eq!(
                    bench.provider.real.lock().unwrap().len(),
                    3,
                    "the old copy, the new copy, and `other`"
                );
                assert_eq!(retained(&bench).await, ["db"]);
            }
            Mark::Delete => assert_eq!(tried.unwrap(), ["create db", "delete db"]),
        }
    }
}

fn labelled(mark: Mark, first: bool, place: &str, label: &str) -> Program {
    Program::default().node("db", &[("place", text(place)), ("label", text(label))]).options(|o| {
        mark.set(o);
        o.delete_before_replace = Some(first);
    })
}

#[tokio::test]
async fn delete_first_replacement_of_a_retained_resource_needs_another_name() {
    for mark in ALL {
        let mut bench = Bench::new(1);
        bench.up(&labelled(mark, true, "x", "one")).await;
        let same = up(&mut bench, &labelled(mark, true, "y", "one")).await;
        match mark {
            Mark::Delete => {
                assert_eq!(same.unwrap(), ["delete db", "create db"]);
                continue;
            }
            Mark::Prevent => assert!(same.unwrap_err().contains("prevent-delete is true")),
            Mark::Retain => {
                assert!(same.unwrap_err().contains("the old resource keeps the name that the new one needs"))
            }
        }
        let other = up(&mut bench, &labelled(mark, true, "y", "two")).await;
        match mark {
            Mark::Retain => {
                assert_eq!(other.unwrap(), ["create db"], "no deletion is needed");
                let real: Vec<String> = bench.provider.real.lock().unwrap().keys().cloned().collect();
                assert_eq!(real, ["one", "two"]);
            }
            _ => assert!(other.is_err()),
        }
    }
}

#[tokio::test]
async fn retained_resource_with_a_fixed_name_is_not_replaced_in_either_order() {
    for first in [false, true] {
        let mut bench = Bench::new(1);
        bench.up(&labelled(Mark::Retain, first, "x", "one")).await;
        let tried = up(&mut bench, &labelled(Mark::Retain, first, "y", "one")).await;
        assert!(tried.unwrap_err().contains("deletion-policy is retain"), "{first}");
    }
}

#[tokio::test]
async fn delete_first_replacement_of_an_unnamed_retained_resource_is_refused() {
    let program = |place: &str| {
        Program::default().node("db", &[("place", text(place))]).options(|o| {
            Mark::Retain.set(o);
            o.delete_before_replace = Some(true);
        })
    };
    let mut bench = Bench::new(1);
    bench.up(&program("x")).await;
    assert!(up(&mut bench, &program("y")).await.is_err(), "the two copies could have the same name");
}

#[tokio::test]
async fn refusal_to_replace_a_dependent_names_the_root_cause() {
    let program = |mark: Mark, place: &str| {
        let mut program = Program::default().node("vpc", &[("place", text(place)), ("size", text(place))]);
        let vpc = program.of(0);
        let mut program = program.node("subnet", &[("place", vpc.clone()), ("size", vpc)]);
        let subnet = program.of(1);
        program.node("app", &[("place", subnet)]).options(|o| mark.set(o))
    };
    for mark in ALL {
        let mut bench = Bench::new(1);
        bench.up(&program(mark, "x")).await;
        let tried = up(&mut bench, &program(mark, "y")).await;
        match mark {
            Mark::Prevent => {
                let refused = tried.unwrap_err();
                insta::assert_snapshot!(refused.replace(" | ", "\n"), @r#"
                cannot replace dev:main:t.T#app: it is replaced because dev:main:t.T#subnet is, and that because dev:main:t.T#vpc is, where a change of `place` forces it, and prevent-delete is true (preventDelete on resource "dev:main:t.T#app", main.ts:3)
                undo the change; or set `preventDelete: false` on it, apply the program, then change it
                "#);
            }
            Mark::Retain => {
                let log = tried.unwrap();
                assert!(
                    log.contains(&"create app".to_owned()) && !log.contains(&"delete app".to_owned()),
                    "{log:?}"
                );
            }
            Mark::Delete => assert!(tried.unwrap().contains(&"delete app".to_owned())),
        }
    }
}

/// `db` with one of two providers, each in a region.
fn served(mark: Mark, regions: [&str; 2], by: u32, first: bool) -> Program {
    let mut program = Program::default();
    for (name, region) in ["p", "q"].into_iter().zip(regions) {
        program = program
            .provider(name, &[("place", text(region)), ("size", text(region))])
            .options(|options| options.delete_before_replace = first.then_some(true));
    }
    program.node("db", &[]).options(|options| {
        mark.set(options);
        options.provider = Some(NodeId(by));
    })
}

#[tokio::test]
async fn provider_with_another_region_replaces_its_resources() {
    for (mark, first) in ALL.into_iter().flat_map(|mark| [(mark, false), (mark, true)]) {
        let mut bench = Bench::new(1);
        bench.up(&served(mark, ["eu", "eu"], 0, first)).await;
        let tried = up(&mut bench, &served(mark, ["us", "eu"], 0, first)).await;
        match (mark, first) {
            (Mark::Prevent, _) => {
                let refused = tried.unwrap_err();
                assert!(
                    refused.contains(
                        "it is replaced because dev:main:t.Provider#p is, where a change of `place`"
                    ),
                    "{refused}"
                );
            }
            (Mark::Retain, false) => assert_eq!(tried.unwrap(), ["create p", "create db", "delete p"]),
            (Mark::Delete, false) => {
                assert_eq!(tried.unwrap(), ["create p", "create db", "delete db", "delete p"]);
            }
            (Mark::Retain, true) => {
                assert!(tried.is_err(), "the retained resource would have to be deleted first")
            }
            (Mark::Delete, true) => {
                assert_eq!(tried.unwrap(), ["delete db", "delete p", "create p", "create db"]);
            }
        }
    }
}

#[tokio::test]
async fn replacement_of_a_provider_is_finished_by_the_next_run() {
    let mut bench = Bench::new(1);
    bench.up(&served(Mark::Delete, ["eu", "eu"], 0, false)).await;
    let mut failing = served(Mark::Delete, ["us", "eu"], 0, false);
    failing.0.nodes[2].inputs.insert("create", text("fail"));
    assert_eq!(up(&mut bench, &failing).await.unwrap(), ["create p", "create db"]);
    let again = up(&mut bench, &served(Mark::Delete, ["us", "eu"], 0, false)).await;
    assert_eq!(again.unwrap(), ["create db", "delete db", "delete p"]);
}

#[tokio::test]
async fn change_of_provider_replaces_only_if_the_region_differs() {
    for mark in ALL {
        let mut bench = Bench::new(1);
        bench.up(&served(mark, ["eu", "us"], 0, false)).await;
        let tried = up(&mut bench, &served(mark, ["eu", "us"], 1, false)).await;
        match mark {
            Mark::Prevent => assert!(tried.unwrap_err().starts_with("cannot replace dev:main:t.T#db")),
            Mark::Retain => assert_eq!(tried.unwrap(), ["create db"]),
            Mark::Delete => assert_eq!(tried.unwrap(), ["create db", "delete db"]),
        }
        let mut bench = Bench::new(1);
        bench.up(&served(mark, ["eu", "eu"], 0, false)).await;
        assert!(up(&mut bench, &served(mark, ["eu", "eu"], 1, false)).await.unwrap().is_empty());
        let state = bench.load().await.state;
        let now = state.by_name(&"dev:main:t.T#db".parse().unwrap()).unwrap().ties.provider.clone();
        let served_by = state.resolve(&now.unwrap()).unwrap().name.short().to_owned();
        assert_eq!(served_by, "q", "the new provider is recorded");
    }
}

/// `inner` is in `middle`, which is in `box`.
fn boxes(mark: Mark, place: &str) -> Program {
    Program::default()
        .node("box", &[("place", text(place))])
        .node("middle", &[])
        .options(|o| o.deleted_with = Some(NodeId(0)))
        .node("inner", &[])
        .options(|o| {
            mark.set(o);
            o.deleted_with = Some(NodeId(1));
        })
}

#[tokio::test]
async fn container_of_a_protected_resource_is_not_deleted() {
    for mark in [Mark::Prevent, Mark::Retain] {
        let mut bench = Bench::new(1);
        bench.up(&boxes(mark, "x")).await;
        let refused = up(&mut bench, &Program::default()).await.unwrap_err();
        assert!(refused.contains("#inner would be deleted with dev:main:t.T#middle"), "{refused}");
        assert!(attempt(&mut bench, &Program::default(), destroy()).await.is_err());
        assert!(up(&mut bench, &boxes(mark, "y")).await.is_err(), "the container is not replaced either");
        // A declaration outside of the container does not move the resource out of it.
        let outside = Program::default().node("inner", &[]).options(|o| mark.set(o));
        let refused = up(&mut bench, &outside).await.unwrap_err();
        assert!(refused.contains("#inner would be deleted with"), "{refused}");
    }
    let mut bench = Bench::new(1);
    bench.up(&boxes(Mark::Delete, "x")).await;
    assert_eq!(up(&mut bench, &Program::default()).await.unwrap(), ["delete box"]);
}

#[tokio::test]
async fn safer_of_recorded_and_declared_mark_holds() {
    for (then, now) in [(Mark::Retain, Mark::Delete), (Mark::Delete, Mark::Retain)] {
        let mut bench = Bench::new(1);
        bench.up(&pair(then, "x")).await;
        assert_eq!(up(&mut bench, &pair(now, "y")).await.unwrap(), ["create db"], "{then:?} then {now:?}");
    }
    for (then, now) in [(Mark::Prevent, Mark::Delete), (Mark::Delete, Mark::Prevent)] {
        let mut bench = Bench::new(1);
        bench.up(&pair(then, "x")).await;
        assert!(up(&mut bench, &pair(now, "y")).await.is_err(), "{then:?} then {now:?}");
    }
    let mut bench = Bench::new(1);
    bench.up(&pair(Mark::Prevent, "x")).await;
    assert!(up(&mut bench, &pair(Mark::Delete, "x")).await.unwrap().is_empty());
    assert_eq!(up(&mut bench, &pair(Mark::Delete, "y")).await.unwrap(), ["create db", "delete db"]);
}
