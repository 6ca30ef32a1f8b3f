//! A life that breaks a promise is told as shortly as it can be.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

use stead_trial::{Edit, Script, Task, as_test, perform, relive, shrink_by};

/// An oracle that holds something against lives that are fine: they must have been interrupted by a death and have
/// seen a removal before a destruction.
fn planted(script: &Script) -> Option<(String, String)> {
    let life = perform(script).ok()?;
    let killed = life.reached.iter().any(|mark| mark.starts_with("killed"));
    let removal = |act: &stead_trial::Act| act.edits.iter().any(|edit| matches!(edit, Edit::Remove(_)));
    let removed = script.acts.iter().position(removal)?;
    let destroyed = script.acts.iter().rposition(|act| act.task == Task::Destroy)?;
    (killed && removed < destroyed).then(|| ("planted".to_owned(), "it broke".to_owned()))
}

#[test]
fn a_broken_life_is_made_as_short_as_it_can_be_and_still_breaks_the_same_promise() {
    let long =
        (0..).map(|seed| Script::draw(seed, Some(12))).find(|script| planted(script).is_some()).unwrap();
    let (short, end) = shrink_by(&long, planted).unwrap();
    assert_eq!(end, "it broke");
    assert!(planted(&short).is_some());
    assert!(short.acts.len() <= 3, "{short:#?}");
    assert!(short.program.things.len() <= 2, "{short:#?}");
    let edits: usize = short.acts.iter().map(|act| act.edits.len()).sum();
    assert!(edits <= 2, "{short:#?}");
}

#[test]
fn a_life_that_breaks_nothing_is_not_shrunk() {
    assert!(shrink_by(&Script::draw(1, None), |_| None).is_none());
}

#[test]
fn a_printed_life_is_the_life() {
    for seed in 0..50 {
        let script = Script::draw(seed, None);
        let text = serde_json::to_string(&script).unwrap();
        assert_eq!(serde_json::from_str::<Script>(&text).unwrap(), script, "seed {seed}");
        let test = as_test(&script, "it");
        let body = test.split("r##\"").nth(1).unwrap().split("\"##").next().unwrap();
        assert_eq!(serde_json::from_str::<Script>(body).unwrap(), script);
    }
    let script = Script::draw(3, None);
    relive(&serde_json::to_string(&script).unwrap()).unwrap();
    assert!(relive("{}").is_err());
}
