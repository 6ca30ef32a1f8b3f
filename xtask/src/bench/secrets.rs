//! Cost of secrets: a plan with nothing to do of 100,000 resources, with a secret in one of ten and without any.

use std::fmt::Write as _;
use std::path::Path;
use std::process::Command;

use super::driver::write;
use super::process::run;
use super::renew;
use super::stead::Stead;
use super::watched::{Taken, watch};

const RESOURCES: usize = 100_000;
const ROUNDS: usize = 5;

/// Bar: processor time with secrets, beside that without.
const BAR: f64 = 1.1;

/// A program that reads a secret of its config.
const OF_CONFIG: &str = r#"import * as local from "stead/local";
import { config } from "stead";

new local.Data({ value: [config.secret("password")] }, { id: "one" });
"#;

/// Values of the resources.
#[derive(Clone, Copy)]
enum Values {
    Plain,
    /// One of ten is secret.
    Secrets,
}

/// Processor times of the plans, and of one passphrase.
#[derive(Clone, Copy)]
pub(crate) struct SecretCost {
    plain: Taken,
    secrets: Taken,
    passphrase: f64,
    /// Stretchings of one command.
    stretchings: usize,
}

pub(crate) fn measure(stead: &Stead, scratch: &Path) -> Result<SecretCost, String> {
    let folder = |name: &str| scratch.join("secrets").join(name);
    let all = [
        (folder("plain"), Values::Plain, RESOURCES),
        (folder("secrets"), Values::Secrets, RESOURCES),
        (folder("one-plain"), Values::Plain, 1),
        (folder("one-secret"), Values::Secrets, 1),
    ];
    for (folder, values, size) in &all {
        eprintln!("bench: {}", folder.display());
        renew(folder)?;
        write(folder, "stead.toml", "project = \"bench\"\nmain = \"main.ts\"\n")?;
        write(folder, "main.ts", &source(*values, *size))?;
        watch(&mut command(stead, folder, &["up", "--yes"]), 0)?;
    }
    let mut taken: [Vec<Taken>; 4] = Default::default();
    // Interleaved: a slow minute of the machine affects all.
    for _ in 0..ROUNDS {
        for (at, (folder, ..)) in all.iter().enumerate() {
            taken[at].push(watch(&mut command(stead, folder, &["plan", "--exit-code"]), 0)?);
        }
    }
    let [plain, secrets, one_plain, one_secret] = taken.map(median);
    let passphrase = (seconds(&one_secret) - seconds(&one_plain)).max(0.0);
    let stretchings = stretchings(stead, &folder("config"))?;
    Ok(SecretCost { plain, secrets, passphrase, stretchings })
}

/// Counts the stretchings of a plan whose config and whose stack both have a secret.
fn stretchings(stead: &Stead, folder: &Path) -> Result<usize, String> {
    renew(folder)?;
    write(folder, "stead.toml", "project = \"bench\"\nmain = \"main.ts\"\n")?;
    write(folder, "main.ts", OF_CONFIG)?;
    watch(&mut command(stead, folder, &["config", "set", "--secret", "password", "known to the bench"]), 0)?;
    watch(&mut command(stead, folder, &["up", "--yes"]), 0)?;
    let logged = run(command(stead, folder, &["plan", "--exit-code"]).env("STEAD_LOG", "debug"))?;
    Ok(logged.stderr.matches("passphrase stretched").count())
}

impl SecretCost {
    pub(crate) fn section(&self) -> String {
        let mut out = format!(
            "## What secrets cost\n\n`stead plan` with nothing to do, {RESOURCES} `local.Data`, a secret in one of ten. Processor time, \
             median of {ROUNDS}. The\npassphrase is stretched {}× in one command, with a secret in the config and one in the stack, which takes {:.2} s and is not part of the ratio.\n\n\
             | without secrets | with secrets | ratio | bar | |\n|---:|---:|---:|---:|---|\n",
            self.stretchings, self.passphrase
        );
        let verdict = if self.missed() == 0 { "PASS" } else { "MISS" };
        // Writing to a string cannot fail.
        let _ = writeln!(
            out,
            "| {:.2} s | {:.2} s | {:.2}× | {BAR}× | {verdict} |",
            seconds(&self.plain),
            seconds(&self.secrets),
            self.ratio()
        );
        out
    }

    fn ratio(&self) -> f64 {
        (seconds(&self.secrets) - self.passphrase) / seconds(&self.plain)
    }

    /// Returns the number of figures above their bars.
    pub(crate) fn missed(&self) -> usize {
        usize::from(self.ratio() > BAR || self.stretchings != 1)
    }
}

fn seconds(taken: &Taken) -> f64 {
    taken.busy.unwrap_or(taken.wall).as_secs_f64()
}

fn median(mut taken: Vec<Taken>) -> Taken {
    taken.sort_by(|a, b| seconds(a).total_cmp(&seconds(b)));
    taken[taken.len() / 2]
}

fn command(stead: &Stead, folder: &Path, words: &[&str]) -> Command {
    let mut command = Command::new(&stead.binary);
    command.arg("-C").arg(folder).args(words).env("STEAD_PASSPHRASE", "correct horse battery staple 9");
    command
}

fn source(values: Values, size: usize) -> String {
    let value = match values {
        Values::Plain => "text",
        Values::Secrets => "i % 10 === 0 ? stead.secret(text) : text",
    };
    format!(
        r#"import * as local from "stead/local";
import * as stead from "stead";

for (let i = 0; i < {size}; i++) {{
  const text = `password-${{i}}-x`;
  new local.Data({{ value: [{value}] }}, {{ id: `c${{i}}` }});
}}
"#
    )
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn passphrase_is_not_part_of_the_ratio() {
        let taken = |millis| Taken { busy: Some(Duration::from_millis(millis)), ..Taken::default() };
        let cost = SecretCost { plain: taken(2000), secrets: taken(2300), passphrase: 0.1, stretchings: 1 };
        assert!(cost.section().contains("| 2.00 s | 2.30 s | 1.10× | 1.1× |"), "{}", cost.section());
        assert_eq!(SecretCost { passphrase: 0.0, ..cost }.missed(), 1);
        assert_eq!(SecretCost { stretchings: 2, ..cost }.missed(), 1);
    }
}
