//! Enables the planted bugs one by one and counts the lives until each is detected: `cargo xtask trial --planted [NAME …]`.

#![allow(clippy::disallowed_methods, clippy::disallowed_types, reason = "a tool for developers")]
#![allow(clippy::print_stdout, clippy::print_stderr, reason = "a command-line tool")]

use std::process::ExitCode;

#[cfg(not(stead_planted))]
fn main() -> ExitCode {
    eprintln!("the bugs are not compiled in; use `cargo xtask trial --planted`");
    ExitCode::from(2)
}

#[cfg(stead_planted)]
fn main() -> ExitCode {
    use stead_trial::planted::{BUGS, hunt, plant};

    const MOST: u64 = 10_000;
    let asked: Vec<String> = std::env::args().skip(1).collect();
    std::panic::set_hook(Box::new(|_| ()));
    let mut missed = Vec::new();
    for (bug, detail) in
        BUGS.iter().filter(|(bug, _)| asked.is_empty() || asked.iter().any(|name| name == bug))
    {
        plant(bug);
        match hunt(MOST) {
            Some(detection) => println!("{bug:<28} {:>6}  {}", detection.lives, detection.oracle),
            None => {
                println!("{bug:<28}      -  not detected: {detail}");
                missed.push(*bug);
            }
        }
    }
    plant("");
    if let Some(detection) = hunt(200) {
        println!("without a planted bug, life {} failed: {}", detection.lives, detection.oracle);
        return ExitCode::FAILURE;
    }
    if missed.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
