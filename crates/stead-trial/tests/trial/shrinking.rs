//! Failing scripts are minimized, and a printed script replays the same life.

use stead_trial::{Command, Edit, Script, as_test, replay, run_script, shrink_by};

/// An artificial oracle that rejects sound lives: a process was killed, and a resource was removed before a destroy.
fn artificial_oracle(script: &Script) -> Option<(String, String)> {
    let life = run_script(script).ok()?;
    let killed = life.reached.iter().any(|mark| mark.starts_with("killed"));
    let removal = |round: &stead_trial::Round| round.edits.iter().any(|edit| matches!(edit, Edit::Remove(_)));
    let removed = script.rounds.iter().position(removal)?;
    let destroyed = script.rounds.iter().rposition(|round| round.command == Command::Destroy)?;
    (killed && removed < destroyed).then(|| ("artificial".to_owned(), "it broke".to_owned()))
}

#[test]
fn a_failing_script_is_minimized_and_still_violates_the_same_oracle() {
    let long = (0..)
        .map(|seed| Script::draw(seed, Some(12)))
        .find(|script| artificial_oracle(script).is_some())
        .unwrap();
    let (short, end) = shrink_by(&long, artificial_oracle).unwrap();
    assert_eq!(end, "it broke");
    assert!(artificial_oracle(&short).is_some());
    assert!(short.rounds.len() <= 3, "{short:#?}");
    assert!(short.program.resources.len() <= 2, "{short:#?}");
    let edits: usize = short.rounds.iter().map(|round| round.edits.len()).sum();
    assert!(edits <= 2, "{short:#?}");
}

#[test]
fn a_passing_script_is_not_minimized() {
    assert!(shrink_by(&Script::draw(1, None), |_| None).is_none());
}

#[test]
fn a_printed_script_is_read_back_unchanged() {
    for seed in 0..50 {
        let script = Script::draw(seed, None);
        let text = serde_json::to_string(&script).unwrap();
        assert_eq!(serde_json::from_str::<Script>(&text).unwrap(), script, "seed {seed}");
        let test = as_test(&script, "it");
        let body = test.split("r##\"").nth(1).unwrap().split("\"##").next().unwrap();
        assert_eq!(serde_json::from_str::<Script>(body).unwrap(), script);
    }
    let script = Script::draw(3, None);
    replay(&serde_json::to_string(&script).unwrap()).unwrap();
    assert!(replay("{}").is_err());
}
