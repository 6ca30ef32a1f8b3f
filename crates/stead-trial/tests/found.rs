//! Lives that once lost something, as short as they could be made. Each is a promise that was broken and is kept now.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

use stead_trial::relive;

/// A stopped holder, and a taker that waits for its receipts.
#[test]
fn a_holder_that_wakes_up_while_it_is_taken_over_starts_nothing() {
    let script = r##"{"medium": "Files", "program": {"things": [
        ["t16", {"size": 0, "place": 1}],
        ["t18", {"size": 4, "place": 0, "from": "t16"}]
    ]}, "acts": [
        {"seed": 0, "task": "Up"},
        {"seed": 0, "edits": [{"Place": ["t18", 2]}, {"Remove": "t16"}], "task": "Up", "weather": {"fate": {"stops_at": 19, "skew": {"off": -72432, "fast": -30}}}, "rivals": [{"task": "Unlock", "after": 0, "wakes": 37, "elsewhere": false}]}
    ]}"##;
    relive(script).unwrap();
}

/// What a look saw and that the update did not happen are one thing.
#[test]
fn a_crash_while_a_look_settles_an_update_leaves_no_old_values() {
    let script = r##"{"medium": "Files", "program": {"things": [
        ["t1", {"size": 4, "place": 2}],
        ["t2", {"size": 2, "place": 0}],
        ["t18", {"size": 1, "place": 2, "from": "t1"}],
        ["t17", {"size": 4, "place": 0, "from": "t2", "traits": ["Rooted"]}]
    ]}, "acts": [
        {"seed": 0, "task": "Up"},
        {"seed": 13669692149595040536, "edits": [{"Remove": "t2"}, {"Add": ["t20", {"size": 0, "place": 1, "depends_on": "t17", "tie": ["DeletedWith", "t9"]}]}], "task": "Up", "weather": {"fate": {}, "cloud": [{"at": 1, "luck": "Refused"}], "interrupt": [5, "Twice"]}},
        {"seed": 0, "task": "Up", "weather": {"fate": {"dies_at": 31}, "cloud": [{"at": 2, "luck": "LostBefore"}]}}
    ]}"##;
    relive(script).unwrap();
}

/// A protected thing in a container that is replaced without it.
#[test]
fn what_is_excluded_does_not_go_with_its_container() {
    let script = r##"{"medium": "Objects", "program": {"things": [
        ["t1", {"size": 4, "place": 1}],
        ["t21", {"size": 4, "place": 0, "tie": ["DeletedWith", "t1"], "traits": ["Protected"]}]
    ]}, "acts": [
        {"seed": 0, "task": "Up"},
        {"seed": 0, "edits": [{"Place": ["t1", 0]}], "task": "Up"},
        {"seed": 0, "task": {"Exclude": ["t21"]}}
    ]}"##;
    relive(script).unwrap();
}

/// The container holds what another one depends on.
#[test]
fn what_is_retained_does_not_go_with_a_container_that_others_need() {
    let script = r##"{"medium": "Files", "program": {"things": [
        ["t23", {"size": 0, "place": 2}],
        ["t8", {"size": 3, "place": 2, "from": "t23"}],
        ["t9", {"size": 0, "place": 2, "tie": ["Parent", "t8"]}],
        ["t17", {"size": 4, "place": 2, "depends_on": "t9", "tie": ["DeletedWith", "t23"], "traits": ["Retained"]}]
    ]}, "acts": [
        {"seed": 0, "task": "Up"},
        {"seed": 0, "task": "Destroy"}
    ]}"##;
    relive(script).unwrap();
}

/// The container is deleted first, because what it stands on is.
#[test]
fn what_is_retained_does_not_go_with_a_container_that_is_deleted_early() {
    let script = r##"{"medium": "Objects", "program": {"things": [
        ["t16", {"size": 2, "place": 2}],
        ["t4", {"size": 3, "place": 1, "traits": ["DeleteFirst"]}],
        ["t5", {"size": 0, "place": 2, "from": "t4", "traits": ["Rooted"]}],
        ["t12", {"size": 3, "place": 1, "tie": ["DeletedWith", "t5"]}],
        ["t11", {"size": 2, "place": 0}]
    ]}, "acts": [
        {"seed": 0, "edits": [{"Toggle": ["t12", "Retained"]}], "task": "Up"},
        {"seed": 0, "edits": [{"Remove": "t12"}, {"Remove": "t16"}], "task": "Up"},
        {"seed": 0, "edits": [{"Bind": ["t4", ["DeletedWith", "t11"]]}], "task": "Up"}
    ]}"##;
    relive(script).unwrap();
}

/// The container may be replaced, and then is not.
#[test]
fn what_was_to_go_with_a_container_that_stays_is_deleted_by_itself() {
    let script = r##"{"medium": "Objects", "program": {"things": [
        ["t19", {"size": 0, "place": 1}],
        ["t14", {"size": 3, "place": 0}],
        ["t0", {"size": 1, "place": 0, "traits": ["Rooted"]}],
        ["t8", {"size": 0, "place": 1}],
        ["t10", {"size": 4, "place": 1}],
        ["t4", {"size": 3, "place": 1, "tie": ["DeletedWith", "t0"], "traits": ["Unnamed"]}]
    ]}, "acts": [
        {"seed": 0, "edits": [{"Rename": {"from": "t10", "to": "t29", "alias": false}}], "task": "Up"},
        {"seed": 0, "edits": [{"From": ["t0", "t29"]}], "task": "Up"},
        {"seed": 0, "edits": [{"From": ["t29", "t8"]}], "task": "Up"},
        {"seed": 0, "edits": [{"Toggle": ["t8", "Unnamed"]}], "task": "Up"}
    ]}"##;
    relive(script).unwrap();
}

/// The journal cannot be written when the answer comes, and the answer is that half of it was done.
#[test]
fn an_answer_about_half_of_something_is_kept_whole() {
    let script = r##"{"medium": "Objects", "program": {"things": [
        ["t12", {"size": 1, "place": 1}],
        ["t7", {"size": 2, "place": 1}]
    ]}, "acts": [
        {"seed": 0, "task": "Up", "rivals": [{"task": "Unlock", "after": 2, "wakes": 10, "elsewhere": false}, {"task": "Wait", "weather": {"fate": {}, "cloud": [{"at": 2, "luck": "Partly"}], "store": [{"at": 14, "luck": "Down"}]}, "after": 4, "wakes": 37, "elsewhere": false}]}
    ]}"##;
    relive(script).unwrap();
}

/// An unchanged resource depends on one that is replaced, whose old copy reaches what now comes from the unchanged one.
#[test]
fn what_depends_on_something_replaced_is_recorded_with_the_new_copy() {
    let script = r##"{"medium": "Files", "program": {"things": [
        ["t17", {"size": 1, "place": 1}],
        ["t18", {"size": 3, "place": 0, "depends_on": "t17"}],
        ["t13", {"size": 0, "place": 0, "from": "t18", "traits": ["Rooted"]}],
        ["t5", {"size": 4, "place": 2, "depends_on": "t13"}],
        ["t4", {"size": 3, "place": 2}]
    ]}, "acts": [
        {"seed": 0, "edits": [{"Bind": ["t17", ["ReplaceWith", "t4"]]}], "task": "Up"},
        {"seed": 0, "edits": [{"Remove": "t18"}, {"Toggle": ["t17", "Unnamed"]}, {"From": ["t4", "t5"]}], "task": "Up"}
    ]}"##;
    relive(script).unwrap();
}

/// A person answers for a create that was done in part.
#[test]
fn what_a_person_says_was_made_is_recorded_as_it_is() {
    let script = r##"{"medium": "Files", "program": {"things": [
        ["t18", {"size": 3, "place": 1}],
        ["t8", {"size": 1, "place": 2}],
        ["t17", {"size": 0, "place": 0, "traits": ["Asks"]}]
    ]}, "acts": [
        {"seed": 0, "task": "Up", "weather": {"fate": {"dies_at": 24}, "cloud": [{"at": 3, "luck": "Partly"}]}},
        {"seed": 0, "task": "Resolve"}
    ]}"##;
    relive(script).unwrap();
}

/// A pin that a run could not write down, and a run for a part that writes the file without it.
#[test]
fn a_pin_that_was_never_written_down_was_not_taken_out() {
    let script = r##"{"medium": "Objects", "program": {"things": [
        ["t12", {"size": 3, "place": 1}],
        ["t2", {"size": 2, "place": 0, "tie": ["DeletedWith", "t12"]}],
        ["t18", {"size": 4, "place": 0, "traits": ["Pinned"]}],
        ["t10", {"size": 1, "place": 0, "tie": ["Parent", "t12"]}],
        ["t16", {"size": 1, "place": 2, "from": "t10", "traits": ["Pinned"]}]
    ]}, "acts": [
        {"seed": 0, "task": "Up", "weather": {"fate": {}, "cloud": [{"at": 1, "luck": "Refused"}]}, "rivals": [{"task": "Wait", "weather": {"fate": {}, "cloud": [{"at": 4, "luck": "Refused"}]}, "after": 0, "wakes": 10, "elsewhere": false}]},
        {"seed": 0, "edits": [{"Remove": "t18"}], "task": "Up"},
        {"seed": 0, "task": {"Target": [["t2"], false]}},
        {"seed": 0, "task": "Up"}
    ]}"##;
    relive(script).unwrap();
}

/// The journal cannot be written when a look settles an update.
#[test]
fn what_a_look_saw_is_not_kept_by_halves() {
    let script = r##"{"medium": "Objects", "program": {"things": [
        ["t7", {"size": 2, "place": 1}],
        ["t14", {"size": 3, "place": 2, "traits": ["Rooted"]}],
        ["t11", {"size": 1, "place": 2}],
        ["t6", {"size": 2, "place": 0, "from": "t14"}],
        ["t19", {"size": 3, "place": 1}]
    ]}, "acts": [
        {"seed": 15811278661081404006, "task": "Up", "weather": {"fate": {}, "cloud": [{"at": 4, "luck": "Partly"}]}},
        {"seed": 0, "edits": [{"Size": ["t7", 3]}], "task": "Resolve"},
        {"seed": 0, "edits": [{"From": ["t14", "t19"]}], "task": "Up", "rivals": [{"task": "Unlock", "after": 18, "wakes": 28, "elsewhere": false}]},
        {"seed": 0, "task": "Up", "weather": {"fate": {}, "cloud": [{"at": 1, "luck": "HangsBefore"}], "store": [{"at": 16, "luck": "Down"}]}}
    ]}"##;
    relive(script).unwrap();
}

/// A container is replaced without what is in it, and the old one is retained.
#[test]
fn what_is_in_a_container_that_was_retained_does_not_go_with_its_successor() {
    let script = r##"{"medium": "Objects", "program": {"things": [
        ["t7", {"size": 2, "place": 2, "traits": ["Rooted"]}],
        ["t4", {"size": 3, "place": 2, "tie": ["DeletedWith", "t7"], "traits": ["Protected"]}],
        ["t22", {"size": 3, "place": 2}],
        ["t3", {"size": 4, "place": 0}]
    ]}, "acts": [
        {"seed": 0, "edits": [{"From": ["t3", "t7"]}], "task": "Up"},
        {"seed": 0, "edits": [{"From": ["t7", "t22"]}], "task": "Up"},
        {"seed": 0, "edits": [{"Toggle": ["t7", "Retained"]}], "task": "Up"},
        {"seed": 0, "task": {"Target": [["t3"], true]}},
        {"seed": 0, "edits": [{"Remove": "t7"}], "task": "Up"}
    ]}"##;
    relive(script).unwrap();
}

/// A container that is to be retained is replaced in a run that does not get to its end.
#[test]
fn what_is_in_an_old_copy_that_is_retained_stays() {
    let script = r##"{"medium": "Files", "program": {"things": [
        ["t3", {"size": 2, "place": 1}],
        ["t6", {"size": 3, "place": 0, "tie": ["DeletedWith", "t3"], "traits": ["Retained"]}]
    ]}, "acts": [
        {"seed": 0, "task": "Up"},
        {"seed": 0, "edits": [{"Place": ["t3", 0]}], "task": "Up"},
        {"seed": 0, "edits": [{"Toggle": ["t3", "Retained"]}], "task": "Up",
            "weather": {"fate": {}, "cloud": [{"at": 1, "luck": "HangsBefore"}]}},
        {"seed": 0, "task": "Up"}
    ]}"##;
    relive(script).unwrap();
}

/// The pinfile is lost, and a run for a part ends well.
#[test]
fn a_lost_pinfile_is_not_written_without_what_it_had() {
    let script = r##"{"medium": "Files", "program": {"things": [
        ["t21", {"size": 0, "place": 1, "traits": ["Pinned"]}],
        ["t15", {"size": 0, "place": 1, "traits": ["Pinned"]}]
    ]}, "acts": [
        {"seed": 0, "task": "Up"},
        {"seed": 0, "edits": [{"Remove": "t15"}], "outside": "LosesPinfile", "task": {"Target": [["t21"], true]}},
        {"seed": 0, "task": "Up"}
    ]}"##;
    relive(script).unwrap();
}

/// The replacement of something retained is interrupted, and then its old container goes.
#[test]
fn an_old_copy_that_is_retained_does_not_go_with_its_container() {
    let script = r##"{"medium": "Objects", "program": {"things": [
        ["t14", {"size": 4, "place": 0}],
        ["t1", {"size": 0, "place": 0, "tie": ["DeletedWith", "t14"], "traits": ["Retained"]}],
        ["t7", {"size": 3, "place": 1, "from": "t5", "tie": ["DeletedWith", "t1"]}]
    ]}, "acts": [
        {"seed": 0, "task": "Up"},
        {"seed": 0, "edits": [{"Remove": "t14"}], "task": {"Target": [["t7"], true]},
            "weather": {"fate": {}, "cloud": [{"at": 2, "luck": "LostAfter"}]}},
        {"seed": 0, "task": "Up"}
    ]}"##;
    relive(script).unwrap();
}

/// A container is replaced twice, and what is in its oldest copy goes with that one alone.
#[test]
fn what_is_in_an_older_copy_of_its_container_does_not_go_with_a_newer_one() {
    let script = r##"{"medium": "Files", "program": {"things": [
        ["t18", {"size": 3, "place": 0}],
        ["t12", {"size": 2, "place": 2, "tie": ["DeletedWith", "t18"]}],
        ["t22", {"size": 3, "place": 0, "tie": ["DeletedWith", "t12"], "traits": ["DeleteFirst"]}],
        ["t19", {"size": 4, "place": 2, "tie": ["DeletedWith", "t22"]}]
    ]}, "acts": [
        {"seed": 0, "task": "Up"},
        {"seed": 0, "edits": [{"Bind": ["t12", ["Parent", "t18"]]}], "task": "Up", "weather": {"fate": {"dies_at": 6}}},
        {"seed": 0, "task": "Up"},
        {"seed": 0, "task": {"Rollback": 1}, "weather": {"fate": {"dies_at": 6}}},
        {"seed": 0, "task": "Up", "weather": {"fate": {}, "cloud": [{"at": 4, "luck": "LostBefore"}]}}
    ]}"##;
    relive(script).unwrap();
}

/// Something is deleted early, and its name is wanted by another.
#[test]
fn what_makes_room_does_so_before_it_goes() {
    let script = r##"{"medium": "Files", "program": {"things": [
        ["t11", {"size": 3, "place": 0, "traits": ["Unnamed"]}],
        ["t2", {"size": 0, "place": 0, "traits": ["Serves"]}],
        ["t16", {"size": 3, "place": 2, "from": "t11", "traits": ["DeleteFirst", "Unnamed"]}],
        ["t4", {"size": 4, "place": 2, "from": "t11", "provider": "t2"}],
        ["t10", {"size": 3, "place": 1, "traits": ["Unnamed"]}]
    ]}, "acts": [
        {"seed": 0, "task": "Up"},
        {"seed": 0, "edits": [{"Place": ["t2", 1]}, {"Remove": "t11"}], "task": "Up", "weather": {"fate": {"dies_at": 15}}}
    ]}"##;
    relive(script).unwrap();
}

/// Somebody dies elsewhere while something is on its way to another stack, and has that one, too.
#[test]
fn who_waits_waits_for_the_other_stack_as_well() {
    let script = r##"{"medium": "Objects", "program": {"things": [["t26", {"size": 4, "place": 1}]]}, "acts": [
        {"seed": 0, "task": "Up"},
        {"seed": 0, "task": "Up", "rivals": [
            {"task": {"ToStack": "t26"}, "weather": {"fate": {"dies_at": 5}}, "after": 0, "wakes": 28, "elsewhere": true}
        ]}
    ]}"##;
    relive(script).unwrap();
}

/// The pinfile was emptied on purpose before something else was pinned, in a run that did not end well.
#[test]
fn an_empty_pinfile_lets_go_only_of_what_was_in_it() {
    let script = r##"{"medium": "Files", "program": {"things": [
        ["t2", {"size": 1, "place": 1}],
        ["t9", {"size": 1, "place": 1, "traits": ["Unnamed"]}],
        ["t19", {"size": 3, "place": 0}],
        ["t10", {"size": 0, "place": 2, "from": "t2"}],
        ["t22", {"size": 1, "place": 1}]
    ]}, "acts": [
        {"seed": 0, "edits": [{"Toggle": ["t9", "Pinned"]}], "task": "Up", "weather": {"fate": {}, "cloud": [{"at": 5, "luck": "Refused"}]}},
        {"seed": 0, "edits": [{"Add": ["t6", {"size": 2, "place": 1, "provider": "t22"}]}], "task": {"Move": ["t2", "t37"]}},
        {"seed": 0, "task": "Up", "weather": {"fate": {"dies_at": 23}}},
        {"seed": 0, "edits": [{"Remove": "t9"}], "task": "Up"},
        {"seed": 0, "edits": [{"Rename": {"from": "t19", "to": "t26", "alias": false}}, {"Add": ["t9", {"size": 0, "place": 0, "traits": ["Pinned"]}]}], "task": "Up"},
        {"seed": 0, "task": "PinsFollow"},
        {"seed": 0, "task": "UpLooking", "weather": {"fate": {}, "cloud": [{"at": 5, "luck": "HangsBefore"}]}},
        {"seed": 0, "task": "Destroy"}
    ]}"##;
    relive(script).unwrap();
}

/// Something gets a tie to what is not selected, and that still needs, on record, what is replaced in the same run.
#[test]
fn who_is_tied_to_what_stays_waits_for_what_that_needs() {
    let script = r##"{"medium": "Files", "start": {"program": {"things": [
        ["t4", {"size": 0, "place": 1}],
        ["t19", {"size": 2, "place": 1, "depends_on": "t4"}],
        ["t11", {"size": 0, "place": 0, "from": "t19"}]
    ]}}, "program": {"things": [
        ["t4", {"size": 0, "place": 1, "tie": ["ReplaceWith", "t11"]}],
        ["t11", {"size": 0, "place": 0}],
        ["t19", {"size": 2, "place": 2, "traits": ["DeleteFirst"]}]
    ]}, "acts": [{"seed": 0, "task": {"Exclude": ["t11"]}}]}"##;
    relive(script).unwrap();
}

/// What depends on an old copy that goes early depends on the current one from then on.
#[test]
fn the_copy_that_stands_for_one_that_is_gone_goes_after_who_needs_it() {
    let script = r##"{"medium": "Objects", "start": {"program": {"things": [
        ["t19", {"size": 3, "place": 1, "traits": ["DeleteFirst"]}],
        ["t17", {"size": 1, "place": 2, "from": "t19", "tie": ["DeletedWith", "t19"], "traits": ["Asks"]}],
        ["t12", {"size": 3, "place": 2, "from": "t17", "tie": ["DeletedWith", "t19"], "traits": ["Rooted"]}],
        ["t23", {"size": 2, "place": 0, "from": "t17"}]
    ]}}, "program": {"things": [
        ["t19", {"size": 3, "place": 1, "traits": ["DeleteFirst"]}],
        ["t8", {"size": 4, "place": 0, "traits": ["Rooted"]}],
        ["t17", {"size": 1, "place": 2, "from": "t19", "traits": ["Asks"]}]
    ]}, "acts": [
        {"seed": 4595608907861764568, "task": "Up", "weather": {"fate": {"rare": {"place": "Pinfile", "nth": 1}}, "cloud": [{"at": 2, "luck": "LostAfter"}, {"at": 1, "luck": "HangsBefore"}], "store": [{"at": 19, "luck": "Down"}, {"at": 14, "luck": "Down"}]}},
        {"seed": 9103342795900160816, "edits": [{"Remove": "t17"}, {"Toggle": ["t8", "Rooted"]}, {"Place": ["t19", 0]}, {"Bind": ["t19", ["Parent", "t8"]]}], "task": "Reimport", "rivals": [{"task": "Unlock", "after": 12, "wakes": 6, "elsewhere": true}]}
    ]}"##;
    relive(script).unwrap();
}

/// Of what is in a container there is an old copy, too, and something that is to stay is in the current one.
#[test]
fn every_copy_of_what_is_in_a_container_is_looked_into() {
    let script = r##"{"medium": "Files", "start": {"program": {"things": [
        ["t3", {"size": 4, "place": 2}],
        ["t17", {"size": 1, "place": 0, "tie": ["DeletedWith", "t3"]}],
        ["t23", {"size": 1, "place": 1, "tie": ["DeletedWith", "t17"], "traits": ["Retained"]}]
    ]}, "left_over": ["t17", "t23"]}, "program": {"things": []}, "acts": [{"seed": 0, "task": "Up"}]}"##;
    relive(script).unwrap();
}

/// Its pin was taken out, it went, and a rollback brought it back, pinned as it was.
#[test]
fn what_is_pinned_anew_was_not_taken_out() {
    let script = r##"{"medium": "Files", "program": {"things": [
        ["t16", {"size": 2, "place": 2, "traits": ["Pinned"]}]
    ]}, "acts": [
        {"seed": 0, "task": "Up"},
        {"seed": 0, "task": {"Unpin": "t16"}},
        {"seed": 0, "edits": [{"Remove": "t16"}], "task": "Up", "weather": {"fate": {"dies_at": 6}}},
        {"seed": 0, "task": {"Rollback": 2}},
        {"seed": 0, "task": "Up"}
    ]}"##;
    relive(script).unwrap();
}

/// A rollback brings something back into an older copy of its container, which is retained.
#[test]
fn what_is_in_an_older_copy_of_its_container_does_not_go_with_the_current_one() {
    let script = r##"{"medium": "Files", "program": {"things": [
        ["t3", {"size": 1, "place": 2}],
        ["t1", {"size": 2, "place": 0, "from": "t3", "traits": ["Retained", "Rooted"]}],
        ["t19", {"size": 3, "place": 2, "tie": ["DeletedWith", "t1"]}]
    ]}, "acts": [
        {"seed": 0, "task": "Up"},
        {"seed": 0, "edits": [{"Remove": "t3"}], "task": {"Exclude": ["t19"]}},
        {"seed": 0, "task": "Up"},
        {"seed": 0, "edits": [{"Remove": "t1"}], "task": {"Rollback": 1}}
    ]}"##;
    relive(script).unwrap();
}
