//! Puts in one bug after the other and counts the lives until it is found: `cargo xtask trial --teeth [NAME …]`.

#![allow(clippy::disallowed_methods, clippy::disallowed_types, reason = "a tool for developers")]
#![allow(clippy::print_stdout, clippy::print_stderr, reason = "a command-line tool")]

use std::process::ExitCode;

#[cfg(not(stead_planted))]
fn main() -> ExitCode {
    eprintln!("the bugs are not compiled in; use `cargo xtask trial --teeth`");
    ExitCode::from(2)
}

#[cfg(stead_planted)]
fn main() -> ExitCode {
    use stead_trial::teeth::{BUGS, hunt, plant};

    const MOST: u64 = 10_000;
    let asked: Vec<String> = std::env::args().skip(1).collect();
    std::panic::set_hook(Box::new(|_| ()));
    let mut missed = Vec::new();
    for (bug, what) in BUGS.iter().filter(|(bug, _)| asked.is_empty() || asked.iter().any(|name| name == bug))
    {
        plant(bug);
        match hunt(MOST) {
            Some(find) => println!("{bug:<28} {:>6}  {}", find.lives, find.oracle),
            None => {
                println!("{bug:<28}      -  not found: {what}");
                missed.push(*bug);
            }
        }
    }
    plant("");
    if let Some(find) = hunt(200) {
        println!("without a bug, life {} was lost: {}", find.lives, find.oracle);
        return ExitCode::FAILURE;
    }
    if missed.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
