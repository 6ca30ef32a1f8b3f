//! Words of Terraform and Pulumi on the command line.
//!
//! A word that means the same as one of stead's is replaced before the arguments are parsed. A word that means something
//! else is refused, with stead's word for it and the command to type. [`table`] has the words, as data.

mod table;

use std::collections::HashSet;
use std::ffi::OsString;

use clap::CommandFactory as _;
use stead_model::{Code, Diagnostic};
use stead_world::ShellCommand;

use crate::args::Arguments;
use table::{COMMANDS, FLAGS, Meaning, Word};

/// Replaces the words of other tools in the arguments of the process. The first argument is the binary.
///
/// Fails at a word that has no equivalent here.
pub(crate) fn translate(arguments: Vec<OsString>) -> Result<Vec<OsString>, Diagnostic> {
    let Some(words) =
        arguments.iter().map(|word| word.to_str().map(str::to_owned)).collect::<Option<Vec<_>>>()
    else {
        return Ok(arguments);
    };
    // Only a word of the table needs the flags of every command, whose list takes long to make.
    if !words.iter().skip(1).any(|word| is_listed(word)) {
        return Ok(arguments);
    }
    let own = OwnFlags::read();
    let words = translate_flags(words, &own)?;
    let words = destroy_of_apply(words, &own);
    if let Some(refused) = shown_file(&words, &own) {
        return Err(refused);
    }
    Ok(translate_command(words, &own)?.into_iter().map(OsString::from).collect())
}

/// Returns true if a word may be a flag or the beginning of a command in the table.
fn is_listed(word: &str) -> bool {
    let Some(bare) = word.strip_prefix("--").or_else(|| word.strip_prefix('-')) else {
        return COMMANDS.iter().any(|row| row.written.split(' ').next() == Some(word));
    };
    let name = bare.split_once('=').map_or(bare, |(name, _)| name);
    FLAGS.iter().any(|flag| flag.written == bare || flag.written == name)
}

/// Flags of stead, with their dashes.
struct OwnFlags {
    all: HashSet<String>,
    /// Flags whose value may be the next argument.
    with_value: HashSet<String>,
}

impl OwnFlags {
    fn read() -> OwnFlags {
        let mut flags = OwnFlags { all: HashSet::new(), with_value: HashSet::new() };
        flags.add(&Arguments::command());
        flags
    }

    fn add(&mut self, command: &clap::Command) {
        for flag in command.get_arguments() {
            let long = flag.get_long().map(|long| format!("--{long}"));
            let short = flag.get_short().map(|short| format!("-{short}"));
            let names: Vec<String> = long.into_iter().chain(short).collect();
            if flag.get_action().takes_values() && !flag.is_require_equals_set() {
                self.with_value.extend(names.iter().cloned());
            }
            self.all.extend(names);
        }
        command.get_subcommands().for_each(|inner| self.add(inner));
    }
}

/// Replaces flags. Arguments after `--` stay as they are.
fn translate_flags(words: Vec<String>, own: &OwnFlags) -> Result<Vec<String>, Diagnostic> {
    let mut out = Vec::with_capacity(words.len());
    let mut words = words.into_iter();
    out.extend(words.next());
    while let Some(word) = words.next() {
        if word == "--" {
            out.push(word);
            break;
        }
        let word = match foreign_flag(&word, own) {
            None => word,
            Some((flag, value)) => match &flag.meaning {
                Meaning::Same(ours) => value.map_or((*ours).to_owned(), |value| format!("{ours}={value}")),
                Meaning::Instead { .. } | Meaning::Help => return Err(refusal(flag, &word, value)),
            },
        };
        let takes_next = own.with_value.contains(&word);
        out.push(word);
        if takes_next {
            out.extend(words.next());
        }
    }
    out.extend(words);
    Ok(out)
}

/// Replaces `apply -destroy` by `destroy`.
fn destroy_of_apply(mut words: Vec<String>, own: &OwnFlags) -> Vec<String> {
    const FLAG: &str = "--destroy";
    let command = positions(&words, own).first().copied();
    let flag = words.iter().take_while(|word| *word != "--").position(|word| word == FLAG);
    if let (Some(command), Some(flag)) = (command, flag)
        && ["apply", "up", "update"].contains(&words[command].as_str())
    {
        words[command] = "destroy".to_owned();
        words.remove(flag);
    }
    words
}

/// Refuses `show FILE` with the way to see a saved plan.
fn shown_file(words: &[String], own: &OwnFlags) -> Option<Diagnostic> {
    let positions = positions(words, own);
    let [command, file] = positions[..] else { return None };
    let file = &words[file];
    let names_a_file = [".out", ".plan", ".tfplan", ".json", ".bin"].iter().any(|end| file.ends_with(end));
    if words[command] != "show" || !(names_a_file || file.contains('/') && !file.contains(':')) {
        return None;
    }
    let word = ShellCommand::word(file);
    Some(
        Diagnostic::error(Code::USAGE, "stead has no `show`, a word of Terraform and Pulumi")
            .note("A saved plan is shown by the command that applies it, before it asks.")
            .help(format!("type `stead up {word}`, and answer `n` to change nothing")),
    )
}

/// Returns the row of a flag that is none of stead's, and the value after its `=`.
fn foreign_flag<'w>(word: &'w str, own: &OwnFlags) -> Option<(&'static Word, Option<&'w str>)> {
    let bare = word.strip_prefix("--").or_else(|| word.strip_prefix('-'))?;
    let (name, value) = match bare.split_once('=') {
        Some((name, value)) => (name, Some(value)),
        None => (bare, None),
    };
    if own.all.contains(&word[..word.len() - bare.len() + name.len()]) {
        return None;
    }
    let row = |wanted: &str| FLAGS.iter().find(|flag| flag.written == wanted);
    row(bare).map(|flag| (flag, None)).or_else(|| row(name).map(|flag| (flag, value)))
}

/// Replaces the words of a command, such as `state list`.
fn translate_command(mut words: Vec<String>, own: &OwnFlags) -> Result<Vec<String>, Diagnostic> {
    let positions = positions(&words, own);
    let matches = |row: &&Word| {
        let written: Vec<&str> = row.written.split(' ').collect();
        written.len() <= positions.len()
            && written.iter().zip(&positions).all(|(word, at)| words[*at] == *word)
    };
    let Some(row) = COMMANDS.iter().filter(matches).max_by_key(|row| row.written.split(' ').count()) else {
        return Ok(words);
    };
    let (matched, rest) = positions.split_at(row.written.split(' ').count());
    match &row.meaning {
        Meaning::Instead { .. } => {
            let given = rest.first().map(|at| words[*at].clone());
            Err(refusal(row, row.written, given.as_deref()))
        }
        Meaning::Same(ours) => {
            let first = matched[0];
            matched.iter().skip(1).rev().for_each(|at| drop(words.remove(*at)));
            words.splice(first..=first, ours.split(' ').map(str::to_owned));
            Ok(words)
        }
        Meaning::Help => {
            words.remove(matched[0]);
            words.push("--help".to_owned());
            translate_command(words, own)
        }
    }
}

/// Returns the places of the words that are neither flags nor values of flags.
fn positions(words: &[String], own: &OwnFlags) -> Vec<usize> {
    let mut found = Vec::new();
    let mut at = 1;
    while let Some(word) = words.get(at).filter(|word| *word != "--") {
        if own.with_value.contains(word) {
            at += 1;
        } else if !word.starts_with('-') {
            found.push(at);
        }
        at += 1;
    }
    found
}

/// Reports a word that stead does not have, with the command to type. A given name takes the place of `NAME` in it.
fn refusal(row: &Word, typed: &str, given: Option<&str>) -> Diagnostic {
    let message = format!("stead has no `{typed}`, a word of {}", row.tool.name());
    let problem = Diagnostic::error(Code::USAGE, message);
    let Meaning::Instead { why, commands } = &row.meaning else { return problem };
    let name = given.map_or("NAME".to_owned(), ShellCommand::word);
    commands.iter().fold(problem.note(*why), |problem, command| {
        problem.help(format!("type `{}`", command.replace("NAME", &name)))
    })
}

#[cfg(test)]
mod tests {
    use clap::Parser as _;

    use super::*;

    fn typed(line: &str) -> Result<String, Diagnostic> {
        let words = std::iter::once("stead").chain(line.split(' ')).map(OsString::from).collect();
        let words = translate(words)?.into_iter().skip(1).map(|word| word.into_string().unwrap());
        Ok(words.collect::<Vec<_>>().join(" "))
    }

    /// Parses a line of the words of stead; requested help and version count as parsed.
    fn parses(line: &str) -> bool {
        match Arguments::try_parse_from(line.split(' ')) {
            Ok(_) => true,
            Err(error) => !error.use_stderr(),
        }
    }

    #[test]
    fn every_row_is_translated_to_a_line_that_parses_or_names_commands_that_parse() {
        for row in COMMANDS.iter().chain(FLAGS) {
            let Word { example, meaning, .. } = row;
            match (typed(example), meaning) {
                (Ok(ours), Meaning::Same(_) | Meaning::Help) => {
                    assert_ne!(ours, *example);
                    assert!(parses(&format!("stead {ours}")), "{example} became {ours}");
                }
                (Err(problem), Meaning::Instead { why, commands }) => {
                    assert_eq!(problem.code, Code::USAGE);
                    assert!(why.ends_with('.'), "{why}");
                    let ours = commands.iter().filter(|command| command.starts_with("stead "));
                    ours.for_each(|command| assert!(parses(command), "{example}: {command}"));
                }
                (outcome, _) => panic!("{example}: {outcome:?}"),
            }
        }
    }

    #[test]
    fn every_example_contains_its_word_and_no_row_shadows_a_command_of_stead() {
        for row in COMMANDS {
            assert!(row.example.starts_with(row.written), "{}", row.example);
            let mut command = Arguments::command();
            let mut known = true;
            for word in row.written.split(' ') {
                match command.find_subcommand(word).cloned() {
                    Some(inner) => command = inner,
                    None => known = false,
                }
            }
            assert!(!known, "`{}` is a command of stead", row.written);
        }
        for row in FLAGS {
            assert!(row.example.contains(&format!("-{}", row.written)), "{}", row.example);
        }
    }

    #[test]
    fn flags_are_translated_in_both_spellings_and_own_flags_stay() {
        for (line, ours) in [
            ("apply -target=a -target b -auto-approve", "up --target-resource=a --target-resource b --yes"),
            ("apply --auto-approve", "up --yes"),
            ("-chdir=infra plan -out=x", "-C=infra plan --out=x"),
            ("-C state list plan", "-C state list plan"),
            ("plan --target local -t local", "plan --target local -t local"),
            ("-e prod state list", "-e prod state ls"),
            ("state -e apply list", "state ls -e apply"),
            ("help apply", "up --help"),
            ("help", "--help"),
            ("state show -- -target", "state show -- -target"),
        ] {
            assert_eq!(typed(line).unwrap(), ours, "{line}");
        }
    }

    #[test]
    fn refused_word_names_the_command_with_the_name_that_was_given() {
        let help = |line: &str| match typed(line) {
            Err(problem) => format!("{problem:?}"),
            Ok(line) => panic!("{line}"),
        };
        assert!(help("taint web").contains("type `stead up --replace web`"), "{}", help("taint web"));
        assert!(help("taint").contains("type `stead up --replace NAME`"));
        assert!(help("-e prod stack select qa").contains("-e qa"));
    }

    #[test]
    fn apply_of_a_destruction_is_a_destroy() {
        for line in
            ["apply -destroy", "apply --destroy", "up --destroy", "-e prod apply -destroy -auto-approve"]
        {
            let ours = typed(line).unwrap();
            assert!(ours.contains("destroy") && !ours.contains("--destroy"), "{line} became {ours}");
            assert!(parses(&format!("stead {ours}")), "{line} became {ours}");
        }
        assert_eq!(typed("plan -destroy").unwrap(), "plan --destroy");
    }

    #[test]
    fn show_of_a_saved_plan_names_the_command_that_shows_it() {
        let problem = format!("{:?}", typed("show plan.out").unwrap_err());
        assert!(problem.contains("stead up plan.out"), "{problem}");
        let problem = format!("{:?}", typed("show dev:main/Site:local.File#a").unwrap_err());
        assert!(problem.contains("stead state show"), "{problem}");
    }

    #[test]
    fn page_for_users_of_other_tools_lists_every_row() {
        let page = include_str!("../../../docs/guide/from-other-tools.md");
        let missing = |row: &&Word| !page.contains(&format!("`{}`", row.example));
        let missing: Vec<&str> =
            COMMANDS.iter().chain(FLAGS).filter(missing).map(|row| row.example).collect();
        assert!(missing.is_empty(), "docs/guide/from-other-tools.md does not list {missing:?}");
    }
}
