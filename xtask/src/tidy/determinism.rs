//! One door to the world: outside `stead-world` and the command line's wiring, nothing asks the clock, the
//! disk, the environment, the network or a source of randomness. What does cannot be simulated.

use super::paths::{Mention, Place, mentions};
use super::source::{Finding, SourceFile};
use super::tokens::{tokens, without_tests};

/// Where the door is, and who is not part of what ships.
const MAY: &[&str] = &[
    "crates/stead-world/",
    "crates/stead-cli/src/wiring",
    // Runs when the crate is built, and does not ship.
    "crates/stead-eval/build.rs",
    // A simulated world is made of a simulated clock.
    "crates/stead-trial/src/process",
    "crates/stead-trial/examples/",
    "crates/stead-cloud/examples/",
    "xtask/",
];

/// Where sockets are opened: what serves others needs real ones, and its time-outs are the world's all the same.
const MAY_OPEN_SOCKETS: &str = "crates/stead-server/src/net.rs";

/// Paths that reach outside, and what to use in their place.
const DOORS: &[(&[&str], &str)] = &[
    (&["std", "fs"], FILES),
    (&["tokio", "fs"], FILES),
    (&["std", "env"], "read the environment in stead-cli's wiring and hand the value in"),
    (&["std", "process"], PROCESSES),
    (&["tokio", "process"], PROCESSES),
    (&["std", "net"], NETWORK),
    (&["tokio", "net"], NETWORK),
    (&["std", "time", "Instant"], CLOCK),
    (&["std", "time", "SystemTime"], CLOCK),
    (&["time", "Instant"], CLOCK),
    (&["time", "SystemTime"], CLOCK),
    (&["tokio", "time"], CLOCK),
    (&["std", "thread", "sleep"], CLOCK),
    (&["thread", "sleep"], CLOCK),
    (&["rand"], RANDOM),
    (&["getrandom"], RANDOM),
];

const FILES: &str = "use `files` of stead_world::World";
const PROCESSES: &str = "use `processes` of stead_world::World";
const NETWORK: &str = "the network is reached through stead-world";
const CLOCK: &str = "use `clock` of stead_world::World, to tell time and to wait";
const RANDOM: &str = "use `entropy` of stead_world::World";

/// Below a door, but only data: they ask nobody.
const HARMLESS: &[&[&str]] = &[
    &["std", "env", "consts"],
    &["std", "process", "ExitCode"],
    &["std", "process", "Termination"],
    &["std", "net", "IpAddr"],
    &["std", "net", "SocketAddr"],
];

pub(crate) fn check(files: &[SourceFile]) -> Vec<Finding> {
    files.iter().filter(|file| is_bound(file)).flat_map(findings_in).collect()
}

fn is_bound(file: &SourceFile) -> bool {
    file.is_rust() && !file.is_test() && !MAY.iter().any(|place| file.path.starts_with(place))
}

fn findings_in(file: &SourceFile) -> Vec<Finding> {
    let all = tokens(&file.text);
    mentions(&without_tests(&all))
        .iter()
        .filter_map(|mention| {
            let (message, instead) = trespass(mention)?;
            if instead == Some(NETWORK) && file.path == MAY_OPEN_SOCKETS {
                return None;
            }
            Some(file.finding(mention.line, message))
        })
        .collect()
}

/// What is wrong with a mention, if anything is, and what to use instead of the door that it names.
fn trespass(mention: &Mention<'_>) -> Option<(String, Option<&'static str>)> {
    let path = mention.segments.as_slice();
    let in_use = matches!(mention.place, Place::Use | Place::Renamed);
    if mention.place == Place::Macro || HARMLESS.iter().any(|harmless| path.starts_with(harmless)) {
        return None;
    }
    // A single word in code is a variable or a function; the `use` that brought it in was looked at.
    if path.len() == 1 && !in_use {
        return None;
    }
    if let Some((_, instead)) = DOORS.iter().find(|(door, _)| path.starts_with(door)) {
        return Some((format!("`{}` is not allowed here: {instead}", path.join("::")), Some(*instead)));
    }
    hides_a_door(mention)
        .then(|| (format!("`use {}` hides what is used: import the items by name", path.join("::")), None))
}

/// A glob or a new name for a module above a door would let its items in unseen.
fn hides_a_door(mention: &Mention<'_>) -> bool {
    let above = match (mention.segments.split_last(), mention.place) {
        (Some((&"*", parent)), _) => parent,
        (_, Place::Renamed) => &mention.segments,
        _ => return false,
    };
    !above.is_empty() && DOORS.iter().any(|(door, _)| door.starts_with(above))
}

#[cfg(test)]
mod tests {
    use super::super::source::{files, shown};
    use super::*;

    fn in_engine(text: &str) -> Vec<String> {
        shown(&check(&files([("crates/stead-engine/src/a.rs", text)])))
    }

    #[test]
    fn a_direct_use_is_found_with_its_line_and_what_to_use_instead() {
        let found = in_engine("//! x\nfn f() { std::fs::read(p); }");
        assert_eq!(
            found,
            [
                "crates/stead-engine/src/a.rs:2: `std::fs::read` is not allowed here: use `files` of stead_world::World"
            ]
        );
    }

    #[test]
    fn every_door_is_found_in_a_use_tree() {
        for (path, count) in [
            ("std::{fs, io}", 1),
            ("std::time::{Duration, Instant, SystemTime}", 2),
            ("tokio::{sync::Mutex, time::sleep, fs, process::Command, net::TcpStream}", 4),
            ("std::{env, net::TcpListener, process}", 3),
            ("rand::Rng", 1),
            ("getrandom::fill", 1),
            ("std::thread::sleep", 1),
        ] {
            assert_eq!(in_engine(&format!("use {path};")).len(), count, "{path}");
        }
    }

    #[test]
    fn a_module_that_is_allowed_does_not_let_its_clock_in() {
        assert_eq!(in_engine("use std::{thread, time};").len(), 0);
        assert_eq!(in_engine("fn f() { time::Instant::now(); thread::sleep(d); }").len(), 2);
    }

    #[test]
    fn globs_and_new_names_cannot_hide_a_door() {
        for text in ["use std::time::*;", "use std::*;", "use std::time as clock;", "use std as s;"] {
            assert_eq!(in_engine(text).len(), 1, "{text}");
        }
        assert_eq!(in_engine("use std::fmt::*; use std::io as inout; use super::*;").len(), 0);
    }

    #[test]
    fn compile_time_macros_constants_and_exit_codes_are_fine() {
        let text =
            "use std::process::ExitCode; const A: &str = std::env!(\"A\"); const B: &str = env!(\"B\");
            fn f() -> ExitCode { std::env::consts::OS; rand.next(); std::time::Duration::ZERO }";
        assert!(in_engine(text).is_empty(), "{:?}", in_engine(text));
    }

    #[test]
    fn comments_and_strings_are_not_code() {
        assert!(in_engine("// std::fs::read\nconst A: &str = \"std::fs::read\";").is_empty());
    }

    #[test]
    fn the_door_its_wiring_and_tests_may() {
        let text = "use std::fs;";
        for path in [
            "crates/stead-world/src/real.rs",
            "crates/stead-cli/src/wiring.rs",
            "crates/stead-cli/src/wiring/clock.rs",
            "xtask/src/main.rs",
            "crates/stead-cli/tests/up.rs",
            "crates/stead-store/src/file/tests.rs",
        ] {
            assert!(check(&files([(path, text)])).is_empty(), "{path}");
        }
        assert!(in_engine("#[cfg(test)]\nmod tests { use std::fs; }").is_empty());
        assert_eq!(check(&files([("crates/stead-cli/src/up.rs", text)])).len(), 1);
    }

    #[test]
    fn sockets_are_opened_in_one_file_which_has_no_other_door() {
        let text =
            "use std::net::SocketAddr;\nuse tokio::net::{TcpListener, TcpStream};\nuse tokio::time::sleep;";
        let found = |path| check(&files([(path, text)])).len();
        assert_eq!(found("crates/stead-server/src/net.rs"), 1, "the clock is still the world's");
        assert_eq!(found("crates/stead-server/src/http.rs"), 3);
    }

    #[test]
    fn code_behind_a_test_module_is_still_checked() {
        assert_eq!(in_engine("#[cfg(test)]\nmod tests;\nuse std::fs;").len(), 1);
    }
}
