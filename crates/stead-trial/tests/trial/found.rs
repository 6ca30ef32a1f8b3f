//! Minimized scripts of lives that once failed. Each one is a regression test.

use stead_trial::replay;

/// A suspended holder, and a takeover that waits until its receipts expire.
#[test]
fn a_holder_woken_during_a_takeover_starts_no_operation() {
    let script = r##"{"medium": "Files", "program": {"things": [
        ["t16", {"size": 0, "place": 1}],
        ["t18", {"size": 4, "place": 0, "from": "t16"}]
    ]}, "acts": [
        {"seed": 0, "task": "Up"},
        {"seed": 0, "edits": [{"Place": ["t18", 2]}, {"Remove": "t16"}], "task": "Up", "weather": {"fate": {"stops_at": 19, "skew": {"off": -72432, "fast": -30}}}, "rivals": [{"task": "Unlock", "after": 0, "wakes": 37, "elsewhere": false}]}
    ]}"##;
    replay(script).unwrap();
}

/// The values that a read returned and the failure of the update are recorded together.
#[test]
fn a_crash_while_a_read_settles_an_update_leaves_no_old_values() {
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
    replay(script).unwrap();
}

/// A protected resource is in a container that is replaced without it.
#[test]
fn an_excluded_resource_is_not_deleted_with_its_container() {
    let script = r##"{"medium": "Objects", "program": {"things": [
        ["t1", {"size": 4, "place": 1}],
        ["t21", {"size": 4, "place": 0, "tie": ["DeletedWith", "t1"], "traits": ["Protected"]}]
    ]}, "acts": [
        {"seed": 0, "task": "Up"},
        {"seed": 0, "edits": [{"Place": ["t1", 0]}], "task": "Up"},
        {"seed": 0, "task": {"Exclude": ["t21"]}}
    ]}"##;
    replay(script).unwrap();
}

/// The container holds a dependency of another resource.
#[test]
fn a_retained_resource_is_not_deleted_with_a_container_that_has_dependents() {
    let script = r##"{"medium": "Files", "program": {"things": [
        ["t23", {"size": 0, "place": 2}],
        ["t8", {"size": 3, "place": 2, "from": "t23"}],
        ["t9", {"size": 0, "place": 2, "tie": ["Parent", "t8"]}],
        ["t17", {"size": 4, "place": 2, "depends_on": "t9", "tie": ["DeletedWith", "t23"], "traits": ["Retained"]}]
    ]}, "acts": [
        {"seed": 0, "task": "Up"},
        {"seed": 0, "task": "Destroy"}
    ]}"##;
    replay(script).unwrap();
}

/// The container is deleted first, because its dependency is replaced delete-first.
#[test]
fn a_retained_resource_is_not_deleted_with_a_container_that_is_deleted_early() {
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
    replay(script).unwrap();
}

/// The container may be replaced, and the replacement turns out to be unnecessary.
#[test]
fn a_resource_is_deleted_by_itself_if_its_container_stays() {
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
    replay(script).unwrap();
}

/// The journal cannot be written when a partial answer arrives.
#[test]
fn a_partial_answer_is_spooled_completely() {
    let script = r##"{"medium": "Objects", "program": {"things": [
        ["t12", {"size": 1, "place": 1}],
        ["t7", {"size": 2, "place": 1}]
    ]}, "acts": [
        {"seed": 0, "task": "Up", "rivals": [{"task": "Unlock", "after": 2, "wakes": 10, "elsewhere": false}, {"task": "Wait", "weather": {"fate": {}, "cloud": [{"at": 2, "luck": "Partly"}], "store": [{"at": 14, "luck": "Down"}]}, "after": 4, "wakes": 37, "elsewhere": false}]}
    ]}"##;
    replay(script).unwrap();
}

/// An unchanged resource depends on a replaced one, whose old copy depends on an output of the unchanged one.
#[test]
fn a_dependent_of_a_replaced_resource_is_recorded_with_the_new_copy() {
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
    replay(script).unwrap();
}

/// A person resolves a create that was done in part.
#[test]
fn a_create_resolved_by_a_person_is_recorded_as_it_exists() {
    let script = r##"{"medium": "Files", "program": {"things": [
        ["t18", {"size": 3, "place": 1}],
        ["t8", {"size": 1, "place": 2}],
        ["t17", {"size": 0, "place": 0, "traits": ["Asks"]}]
    ]}, "acts": [
        {"seed": 0, "task": "Up", "weather": {"fate": {"dies_at": 24}, "cloud": [{"at": 3, "luck": "Partly"}]}},
        {"seed": 0, "task": "Resolve"}
    ]}"##;
    replay(script).unwrap();
}

/// A run could not write a pin, and a targeted run writes the pinfile without it.
#[test]
fn a_pin_that_was_never_written_does_not_count_as_removed() {
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
    replay(script).unwrap();
}

/// The journal cannot be written when a read settles an update.
#[test]
fn the_result_of_a_read_is_spooled_completely() {
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
    replay(script).unwrap();
}

/// A container is replaced without its content, and the old container is retained.
#[test]
fn the_content_of_a_retained_container_is_not_deleted_with_its_replacement() {
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
    replay(script).unwrap();
}

/// A run that replaces a retained container is interrupted.
#[test]
fn the_content_of_a_retained_old_copy_stays() {
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
    replay(script).unwrap();
}

/// The pinfile is lost, and a targeted run succeeds.
#[test]
fn a_lost_pinfile_is_not_rewritten_without_its_former_entries() {
    let script = r##"{"medium": "Files", "program": {"things": [
        ["t21", {"size": 0, "place": 1, "traits": ["Pinned"]}],
        ["t15", {"size": 0, "place": 1, "traits": ["Pinned"]}]
    ]}, "acts": [
        {"seed": 0, "task": "Up"},
        {"seed": 0, "edits": [{"Remove": "t15"}], "outside": "LosesPinfile", "task": {"Target": [["t21"], true]}},
        {"seed": 0, "task": "Up"}
    ]}"##;
    replay(script).unwrap();
}

/// The replacement of a retained resource is interrupted, and then its old container is deleted.
#[test]
fn a_retained_old_copy_is_not_deleted_with_its_container() {
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
    replay(script).unwrap();
}

/// A container is replaced twice; the content of its oldest copy is deleted only with that copy.
#[test]
fn the_content_of_an_older_copy_is_not_deleted_with_a_newer_copy() {
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
    replay(script).unwrap();
}

/// A resource is deleted early, and another one takes its name.
#[test]
fn a_name_is_vacated_before_its_resource_is_deleted() {
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
    replay(script).unwrap();
}

/// A process on another machine dies during a move between stacks, and holds both locks.
#[test]
fn a_waiting_run_waits_for_the_lock_of_the_other_stack_as_well() {
    let script = r##"{"medium": "Objects", "program": {"things": [["t26", {"size": 4, "place": 1}]]}, "acts": [
        {"seed": 0, "task": "Up"},
        {"seed": 0, "task": "Up", "rivals": [
            {"task": {"ToStack": "t26"}, "weather": {"fate": {"dies_at": 5}}, "after": 0, "wakes": 28, "elsewhere": true}
        ]}
    ]}"##;
    replay(script).unwrap();
}

/// The pinfile was emptied on purpose before another resource was pinned in a failed run.
#[test]
fn an_empty_pinfile_releases_only_its_former_entries() {
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
    replay(script).unwrap();
}

/// A new tie leads to an unselected resource that still depends, in the state, on a resource replaced in the same run.
#[test]
fn a_resource_tied_to_an_unselected_one_waits_for_the_dependencies_of_that_one() {
    let script = r##"{"medium": "Files", "start": {"program": {"things": [
        ["t4", {"size": 0, "place": 1}],
        ["t19", {"size": 2, "place": 1, "depends_on": "t4"}],
        ["t11", {"size": 0, "place": 0, "from": "t19"}]
    ]}}, "program": {"things": [
        ["t4", {"size": 0, "place": 1, "tie": ["ReplaceWith", "t11"]}],
        ["t11", {"size": 0, "place": 0}],
        ["t19", {"size": 2, "place": 2, "traits": ["DeleteFirst"]}]
    ]}, "acts": [{"seed": 0, "task": {"Exclude": ["t11"]}}]}"##;
    replay(script).unwrap();
}

/// Dependents of an old copy that is deleted early depend on the current copy from then on.
#[test]
fn the_current_copy_of_an_early_deleted_one_is_deleted_after_its_dependents() {
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
    replay(script).unwrap();
}

/// A resource in a container has an old copy, and its current copy contains a retained resource.
#[test]
fn every_copy_in_a_container_is_searched_for_retained_content() {
    let script = r##"{"medium": "Files", "start": {"program": {"things": [
        ["t3", {"size": 4, "place": 2}],
        ["t17", {"size": 1, "place": 0, "tie": ["DeletedWith", "t3"]}],
        ["t23", {"size": 1, "place": 1, "tie": ["DeletedWith", "t17"], "traits": ["Retained"]}]
    ]}, "left_over": ["t17", "t23"]}, "program": {"things": []}, "acts": [{"seed": 0, "task": "Up"}]}"##;
    replay(script).unwrap();
}

/// The pin is removed, the resource is deleted, and a rollback restores it with its pin.
#[test]
fn a_restored_pin_does_not_count_as_removed() {
    let script = r##"{"medium": "Files", "program": {"things": [
        ["t16", {"size": 2, "place": 2, "traits": ["Pinned"]}]
    ]}, "acts": [
        {"seed": 0, "task": "Up"},
        {"seed": 0, "task": {"Unpin": "t16"}},
        {"seed": 0, "edits": [{"Remove": "t16"}], "task": "Up", "weather": {"fate": {"dies_at": 6}}},
        {"seed": 0, "task": {"Rollback": 2}},
        {"seed": 0, "task": "Up"}
    ]}"##;
    replay(script).unwrap();
}

/// A rollback restores a resource in an older, retained copy of its container.
#[test]
fn the_content_of_an_older_copy_is_not_deleted_with_the_current_copy() {
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
    replay(script).unwrap();
}

/// The pinfile is lost, and a partial run writes it again with a pin that no run applied.
#[test]
fn a_pin_that_no_run_applied_does_not_hold() {
    let script = r##"{"medium": "Files", "program": {"things": [
        ["t9", {"size": 0, "place": 1}],
        ["t0", {"size": 2, "place": 1}],
        ["t23", {"size": 2, "place": 0}]
    ]}, "acts": [
        {"seed": 0, "task": "Up", "weather": {"fate": {}, "cloud": [{"at": 3, "luck": {"Lies": "Strange"}}]}},
        {"seed": 0, "edits": [{"Add": ["t2", {"size": 4, "place": 2, "traits": ["Rooted"]}]}, {"Toggle": ["t23", "Pinned"]}], "task": "Refresh"},
        {"seed": 0, "task": "Up"},
        {"seed": 0, "outside": "LosesPinfile", "task": "Plan"},
        {"seed": 0, "edits": [{"Remove": "t23"}], "task": "Up"},
        {"seed": 0, "edits": [{"Toggle": ["t2", "Pinned"]}], "task": {"Target": [["t0"], true]}},
        {"seed": 0, "task": {"Rollback": 2}}
    ]}"##;
    replay(script).unwrap();
}

/// An imported object is deleted outside and made again with other values, and no run looks.
#[test]
fn an_object_made_again_outside_is_drift() {
    let imported_later = r##"{"medium": "Files", "program": {"things": [
        ["t11", {"size": 1, "place": 0}], ["t14", {"size": 3, "place": 0}], ["t6", {"size": 0, "place": 1}]
    ]}, "acts": [
        {"seed": 0, "edits": [{"Import": ["t14", "outside-2"]}, {"Add": ["t9", {"size": 2, "place": 2, "traits": ["Serves"]}]}], "task": "Up"},
        {"seed": 0, "edits": [{"Add": ["t2", {"size": 0, "place": 0, "traits": ["Pinned"]}]}], "outside": {"Makes": 2}, "task": "Up"},
        {"seed": 0, "outside": {"Deletes": 4}, "task": "Up"},
        {"seed": 0, "outside": {"Makes": 2}, "task": "Up"},
        {"seed": 0, "task": "Up"}
    ]}"##;
    let imported_renamed = r##"{"medium": "Files", "program": {"things": [
        ["t3", {"size": 0, "place": 0}], ["t10", {"size": 0, "place": 2}], ["t23", {"size": 0, "place": 1}],
        ["t20", {"size": 3, "place": 2}], ["t6", {"size": 4, "place": 0}]
    ]}, "acts": [
        {"seed": 0, "edits": [{"Rename": {"from": "t6", "to": "t27", "alias": true}}, {"Import": ["t27", "outside-1"]}], "outside": {"Makes": 1}, "task": "Up"},
        {"seed": 0, "outside": {"Deletes": 9}, "task": "Up"},
        {"seed": 0, "outside": {"Makes": 1}, "task": "Up"},
        {"seed": 0, "task": "Up"}
    ]}"##;
    replay(imported_later).unwrap();
    replay(imported_renamed).unwrap();
}

/// A person releases the pin of a resource whose create is in doubt.
#[test]
fn a_released_create_in_doubt_may_be_deleted() {
    let script = r##"{"medium": "Files", "program": {"things": [
        ["t14", {"size": 0, "place": 1}],
        ["t18", {"size": 4, "place": 1, "traits": ["Pinned"]}]
    ]}, "acts": [
        {"seed": 0, "task": {"Target": [["t14"], false]}},
        {"seed": 0, "task": "Up", "weather": {"fate": {"dies_at": 6}}},
        {"seed": 0, "edits": [{"Remove": "t18"}], "task": "Up", "weather": {"fate": {"dies_at": 1}}},
        {"seed": 0, "task": "PinsFollow"},
        {"seed": 0, "task": "Up"}
    ]}"##;
    replay(script).unwrap();
}

/// A person restores and releases a pin while the create of the resource inside is in doubt.
#[test]
fn a_released_container_with_a_create_in_doubt_may_be_deleted() {
    let script = r##"{"medium": "Files", "program": {"things": [
        ["t20", {"size": 4, "place": 0, "traits": ["Pinned"]}],
        ["t1", {"size": 1, "place": 2, "tie": ["Parent", "t20"]}],
        ["t4", {"size": 0, "place": 2}]
    ]}, "acts": [
        {"seed": 0, "task": "Up", "weather": {"fate": {"dies_at": 20}}},
        {"seed": 0, "edits": [{"Rename": {"from": "t1", "to": "t25", "alias": true}}, {"Remove": "t20"}], "task": "Up", "weather": {"fate": {}, "cloud": [{"at": 1, "luck": "LostAfter"}]}},
        {"seed": 0, "task": "PinsRestore"},
        {"seed": 0, "task": "PinsFollow"},
        {"seed": 0, "edits": [{"Remove": "t25"}], "task": "Up"}
    ]}"##;
    replay(script).unwrap();
}

/// A batch of a run that was left at once arrives after the next run has compared the journal with its plan.
#[test]
fn a_run_opens_only_on_the_state_of_its_plan() {
    let script = r##"{"medium": "Objects", "program": {"things": [
        ["t8", {"size": 4, "place": 1}],
        ["t22", {"size": 2, "place": 1}]
    ]}, "acts": [
        {"seed": 0, "task": "Up"},
        {"seed": 0, "edits": [{"Add": ["t6", {"size": 0, "place": 2, "tie": ["ReplaceWith", "t8"], "traits": ["Retained"]}]}, {"From": ["t22", "t8"]}], "task": "Up", "weather": {"fate": {}, "interrupt": [2, "Twice"]}, "rivals": [{"task": "Up", "weather": {"fate": {}, "store": [{"at": 10, "luck": "Late"}]}, "after": 0, "wakes": 21, "elsewhere": false}]}
    ]}"##;
    replay(script).unwrap();
}

/// A run of another resource lists the pin in the pinfile, and state does not have it when the resource gets another name.
#[test]
fn a_pin_that_only_the_pinfile_has_follows_a_new_name() {
    for edit in ["Move", "Rename"] {
        let script = r##"{"medium": "Files", "program": {"things": [
            ["t1", {"size": 1, "place": 0, "traits": ["Unnamed"]}],
            ["t2", {"size": 2, "place": 1}]
        ]}, "acts": [
            {"seed": 0, "task": "Up"},
            {"seed": 0, "edits": [{"Toggle": ["t1", "Pinned"]}], "task": {"Target": [["t2"], false]}},
            {"seed": 0, "task": {"EDIT": ["t1", "t36"]}},
            {"seed": 0, "task": {"UpMoves": {"accept": false}}}
        ]}"##;
        replay(&script.replace("EDIT", edit)).unwrap();
    }
}

/// The process dies while it gives the stack its first name back.
#[test]
fn a_stack_whose_rename_was_cut_off_is_found() {
    let script = r##"{"medium": "Objects", "program": {"things": [["t17", {"size": 2, "place": 2}]]}, "acts": [
        {"seed": 0, "task": "Up"},
        {"seed": 0, "task": "RenameStack", "weather": {"fate": {"dies_at": 11}}}
    ]}"##;
    replay(script).unwrap();
}

/// The network repeats the seal of a run, which finds its own seal in the slot.
#[test]
fn a_repeated_seal_is_that_of_the_run_itself() {
    let script = r##"{"medium": "Objects", "program": {"things": [["t8", {"size": 2, "place": 0}]]}, "acts": [
        {"seed": 0, "task": "Up", "weather": {"fate": {}, "store": [{"at": 9, "luck": "EffectLate"}]}},
        {"seed": 0, "task": "Up", "weather": {"fate": {}, "store": [{"at": 6, "luck": "Doubled"}]}}
    ]}"##;
    replay(script).unwrap();
}

/// The program unpins a resource whose pin only the pinfile has, and the run is killed when it has written the file.
#[test]
fn a_killed_run_that_wrote_the_pinfile_has_ended_the_pin() {
    let script = r##"{"medium": "Files", "program": {"things": [
        ["t4", {"size": 4, "place": 2}],
        ["t6", {"size": 0, "place": 0, "from": "t4"}]
    ]}, "acts": [
        {"seed": 0, "task": "Up"},
        {"seed": 0, "edits": [{"Toggle": ["t4", "Pinned"]}], "task": {"Target": [["t6"], false]}},
        {"seed": 0, "edits": [{"Reorder": ["t4", 14]}, {"Toggle": ["t4", "Pinned"]}], "task": "Up", "weather": {"fate": {"dies_at": 16}}},
        {"seed": 0, "edits": [{"Remove": "t4"}], "task": "Up"}
    ]}"##;
    replay(script).unwrap();
}

/// A run that waits for the lock takes the epoch that a suspended takeover was about to take, and deletes the journal.
#[test]
fn a_takeover_that_another_run_overtook_is_fenced() {
    let script = r##"{"medium": "Files", "program": {"things": [["t18", {"size": 3, "place": 0}]]}, "acts": [
        {"seed": 0, "task": "Up", "weather": {"fate": {"dies_at": 6}}},
        {"seed": 0, "task": "Up", "weather": {"fate": {"dies_at": 15, "stops_at": 2}}, "rivals": [
            {"task": "Unlock", "weather": {"fate": {"stops_at": 3}}, "after": 0, "wakes": 11, "elsewhere": false},
            {"task": "Wait", "after": 0, "wakes": 23, "elsewhere": false}
        ]}
    ]}"##;
    replay(script).unwrap();
}
