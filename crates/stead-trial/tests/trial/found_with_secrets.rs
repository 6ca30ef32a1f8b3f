//! Minimized scripts of lives that once failed, with secrets. Each one is a regression test.

use stead_trial::replay;

/// Found in a life of the first secrets: an update that gives a resource its first password is interrupted, and the resource is read
/// with the record of before, which knows of no secret.
#[test]
fn secret_of_an_interrupted_update_is_not_recorded_in_the_clear() {
    for place in 8..30 {
        let script = r##"{
  "medium": "Files",
  "program": { "things": [["t12", { "size": 3, "place": 0 }]] },
  "acts": [
    { "seed": 0, "task": "Up" },
    { "seed": 0, "edits": [{ "Password": ["t12", 71084482171394366] }], "task": "Up",
      "weather": { "fate": { "dies_at": PLACE } } },
    { "seed": 0, "task": "Resolve" }
  ]
}"##;
        replay(&script.replace("PLACE", &place.to_string())).unwrap();
    }
}

/// The store fails while a rollback opens the secrets of the earlier snapshot.
#[test]
fn rollback_whose_keys_cannot_be_read_writes_no_locked_secret() {
    let script = r##"{"medium": "Objects", "program": {"things": [
        ["t5", {"size": 3, "place": 2, "password": 55080588266348167}],
        ["t16", {"size": 3, "place": 0}]
    ]}, "acts": [
        {"seed": 0, "task": "Up"},
        {"seed": 0, "task": {"Rename": ["t16", "t32"]}},
        {"seed": 0, "task": {"Rollback": 1}, "weather": {"fate": {}, "store": [{"at": 7, "luck": "Fails"}]}}
    ]}"##;
    replay(script).unwrap();
}

/// An output at the path of a former secret is one, too, and a short one: other values are equal to it.
#[test]
fn plain_value_that_is_equal_to_a_short_secret_is_recorded_plain() {
    let script = r##"{"medium": "Files", "program": {"things": [
        ["t8", {"size": 2, "place": 2}],
        ["t9", {"size": 3, "place": 2, "password": 27705315808836401}],
        ["t6", {"size": 3, "place": 1}],
        ["t3", {"size": 0, "place": 0, "tie": ["DeletedWith", "t9"]}],
        ["t19", {"size": 0, "place": 1}],
        ["t4", {"size": 3, "place": 2, "from": "t8", "password": 27705315808836397}],
        ["t13", {"size": 1, "place": 2}],
        ["t15", {"size": 3, "place": 0, "from": "t6"}]
    ]}, "acts": [
        {"seed": 0, "task": "Up"},
        {"seed": 0, "edits": [{"Password": ["t6", 27705315808836405]}], "task": "Up", "weather": {"fate": {}, "cloud": [{"at": 1, "luck": "Refused"}]}},
        {"seed": 0, "task": "Up"},
        {"seed": 0, "edits": [{"Place": ["t15", 2]}], "task": {"Rollback": 2}}
    ]}"##;
    replay(script).unwrap();
}

/// A run that was suspended during a takeover fails a call that it did not start, and can write that to its spool only.
#[test]
fn a_spooled_failure_does_not_end_an_operation_that_another_run_repeated() {
    let script = r##"{"medium": "Files", "program": {"things": [["t12", {"size": 0, "place": 0, "password": 59857171930638247}]]}, "acts": [
        {"seed": 0, "task": "Up", "weather": {"fate": {"stops_at": 10, "disk_fault": {"at": 70, "kind": "ReadOnlyFilesystem", "extent": "Store"}}}, "rivals": [
            {"task": "Wait", "weather": {"fate": {}, "cloud": [{"at": 1, "luck": {"Lies": "NoId"}}]}, "after": 0, "wakes": 32, "elsewhere": false}
        ]}
    ]}"##;
    replay(script).unwrap();
}

/// The cloud tells a token when it has accepted the operation, not before.
#[test]
fn a_repeated_create_that_is_suspended_at_its_token_changes_nothing_later() {
    let script = r##"{"medium": "Objects", "program": {"things": [
        ["t2", {"size": 2, "place": 2}],
        ["t17", {"size": 0, "place": 1, "tie": ["DeletedWith", "t2"]}],
        ["t8", {"size": 1, "place": 1, "password": 55240224865904196}],
        ["t3", {"size": 0, "place": 0, "from": "t8", "password": 55240224865904192}]
    ]}, "acts": [
        {"seed": 0, "task": "Up", "weather": {"fate": {"dies_at": 5}}},
        {"seed": 0, "edits": [{"Size": ["t8", 3]}], "task": "Up", "weather": {"fate": {"stops_at": 12}}, "rivals": [{"task": "Wait", "after": 0, "wakes": 26, "elsewhere": false}]}
    ]}"##;
    replay(script).unwrap();
}

/// A declaration of the earlier run has the present name of another, pinned resource as its alias.
#[test]
fn a_rollback_that_matches_by_an_alias_keeps_the_pin() {
    let script = r##"{"medium": "Files", "program": {"things": [
        ["t10", {"size": 0, "place": 1, "password": 33711514619168113, "traits": ["Unnamed"]}],
        ["t22", {"size": 0, "place": 2, "tie": ["ReplaceWith", "t10"]}]
    ]}, "acts": [
        {"seed": 0, "task": "Up"},
        {"seed": 0, "edits": [{"Toggle": ["t10", "Pinned"]}], "task": "Resolve"},
        {"seed": 0, "task": {"Rename": ["t10", "t32"]}},
        {"seed": 0, "task": {"ToStack": "t22"}},
        {"seed": 0, "task": "Up", "weather": {"fate": {"dies_at": 2}}},
        {"seed": 0, "task": "Up"},
        {"seed": 0, "task": "Up", "rivals": [{"task": {"Rollback": 3}, "after": 0, "wakes": 20, "elsewhere": false}]}
    ]}"##;
    replay(script).unwrap();
}

/// The request that renames the stack arrives after everything else.
#[test]
fn a_stack_whose_rename_arrives_late_is_found() {
    let script = r##"{"medium": "Objects", "start": {"program": {"things": [["t13", {"size": 3, "place": 0, "password": 53647129469347759, "traits": ["DeleteFirst", "Pinned"]}], ["t23", {"size": 2, "place": 0, "traits": ["Retained"]}], ["t20", {"size": 1, "place": 0, "from": "t13", "depends_on": "t23", "tie": ["Parent", "t13"], "password": 53647129469347758}], ["t2", {"size": 2, "place": 2, "import": "outside-1", "password": 53647129469347762, "traits": ["Serves"]}], ["t8", {"size": 1, "place": 1, "tie": ["Parent", "t13"], "provider": "t2", "traits": ["Asks"]}], ["t1", {"size": 1, "place": 0, "traits": ["DeleteFirst"]}], ["t19", {"size": 2, "place": 1, "from": "t8", "tie": ["DeletedWith", "t23"], "password": 53647129469347759}], ["t4", {"size": 1, "place": 2, "from": "t2", "provider": "t2", "password": 53647129469347759, "traits": ["Protected", "Rooted", "Pinned"]}], ["t16", {"size": 3, "place": 1, "from": "t13", "traits": ["Asks"]}]]}}, "program": {"things": []}, "acts": [{"seed": 13812353749373125801, "edits": [{"Password": ["t12", 53647129469347770]}], "task": "RenameStack", "weather": {"fate": {}, "store": [{"at": 27, "luck": "EffectLate"}, {"at": 22, "luck": "Doubled"}]}}]}"##;
    replay(script).unwrap();
}

/// The first run cannot sync its last batch, the second one reads it and seals the journal, and the power fails.
#[test]
fn a_seal_is_never_durable_before_the_batch_that_it_follows() {
    let script = r##"{"medium": "Files", "program": {"things": [["t23", {"size": 3, "place": 1}], ["t8", {"size": 4, "place": 0, "depends_on": "t23"}]]}, "acts": [{"seed": 0, "task": "Up", "weather": {"fate": {"disk_fault": {"at": 73, "kind": "Interrupted", "extent": "Disk"}}, "cloud": [{"at": 2, "luck": {"Lies": "OtherId"}}]}}, {"seed": 0, "task": "Up", "weather": {"fate": {"disk_fault": {"at": 73, "kind": "QuotaExceeded", "extent": "Project"}}}}, {"seed": 15315916250170793142, "task": "Up", "weather": {"fate": {"dies_at": 1, "power": true}}}]}"##;
    replay(script).unwrap();
}

/// The request that renames the stack arrives while the next run loads the state.
#[test]
fn a_stack_whose_rename_arrives_in_the_next_run_is_found() {
    let script = r##"{"medium": "Objects", "program": {"things": [["t3", {"size": 4, "place": 0}]]}, "acts": [{"seed": 0, "task": "Up"}, {"seed": 0, "task": "RenameStack", "weather": {"fate": {}, "store": [{"at": 30, "luck": "EffectLate"}, {"at": 13, "luck": "Late"}]}}, {"seed": 0, "task": "Up"}]}"##;
    replay(script).unwrap();
}

/// The release of the general section counts for a stack that has a section of its own.
#[test]
fn a_release_counts_although_another_section_is_added() {
    let script = r##"{"medium": "Files", "program": {"things": [["t7", {"size": 1, "place": 2}]]}, "acts": [{"seed": 0, "edits": [{"Toggle": ["t7", "Pinned"]}], "task": "Up"}, {"seed": 0, "edits": [{"Remove": "t7"}], "task": "Up"}, {"seed": 0, "task": "UpPins"}, {"seed": 0, "outside": "AddsSection", "task": {"Rollback": 1}, "rivals": [{"task": "Wait", "after": 0, "wakes": 37, "elsewhere": false}]}]}"##;
    replay(script).unwrap();
}
