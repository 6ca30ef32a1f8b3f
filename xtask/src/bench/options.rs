//! Options of `cargo xtask bench`.

/// Part of the measurements that can be made alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Part {
    /// Evaluation of programs.
    Evaluator,
    /// Growth with the number of resources, durability and secrets.
    Scale,
    /// AWS types on the embedded cloud.
    Aws,
    /// Cost of secrets.
    Secrets,
}

impl Part {
    fn of(flag: &str) -> Option<Part> {
        Some(match flag {
            "--only-evaluator" => Part::Evaluator,
            "--only-scale" => Part::Scale,
            "--only-aws" => Part::Aws,
            "--only-secrets" => Part::Secrets,
            _ => return None,
        })
    }
}

/// Rows to measure, number of runs, and use of the result.
#[derive(Clone, Debug, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of its own on the command line")]
pub(crate) struct Options {
    pub(crate) stead: bool,
    pub(crate) peer: bool,
    /// The only part to measure.
    pub(crate) only: Option<Part>,
    /// Runs per row for both sides. Without it each side has its own default.
    pub(crate) repeat: Option<usize>,
    pub(crate) strict: bool,
    pub(crate) write: bool,
    /// Numbers of resources for which growth is measured, too.
    pub(crate) scale: Vec<usize>,
}

impl Options {
    pub(crate) fn parse(arguments: &[String]) -> Result<Options, String> {
        let mut options = Options {
            stead: true,
            peer: true,
            only: None,
            repeat: None,
            strict: false,
            write: false,
            scale: Vec::new(),
        };
        let mut rest = arguments.iter();
        while let Some(argument) = rest.next() {
            match argument.as_str() {
                "--no-peer" => options.peer = false,
                "--only-peer" => options.stead = false,
                "--strict" => options.strict = true,
                "--write" => options.write = true,
                "--scale" => {
                    let sizes = rest.next().map(|sizes| sizes.split(',').map(str::parse).collect());
                    let sizes: Option<Result<Vec<usize>, _>> = sizes;
                    options.scale =
                        sizes.and_then(Result::ok).ok_or("--scale needs numbers, such as 1000,10000")?;
                }
                "--repeat" => {
                    let count = rest.next().and_then(|count| count.parse().ok()).filter(|count| *count > 0);
                    options.repeat = Some(count.ok_or("--repeat needs a number above 0")?);
                }
                other => match Part::of(other) {
                    None => return Err(format!("bench does not know `{other}`")),
                    Some(_) if options.only.is_some() => {
                        return Err(format!("{other}: another part is already the only one"));
                    }
                    part => options.only = part,
                },
            }
        }
        if !options.stead && !options.peer {
            return Err("--no-peer and --only-peer together leave nothing to measure".to_owned());
        }
        match options.only {
            Some(Part::Scale) if options.scale.is_empty() || options.write => {
                return Err("--only-scale needs --scale, and makes no page".to_owned());
            }
            Some(Part::Evaluator) if options.write => {
                return Err("--only-evaluator makes no page".to_owned());
            }
            Some(_) if !options.stead => {
                return Err("--only-peer leaves nothing of this part to measure".to_owned());
            }
            _ => {}
        }
        Ok(options)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(line: &str) -> Result<Options, String> {
        let arguments: Vec<String> = line.split_whitespace().map(str::to_owned).collect();
        Options::parse(&arguments)
    }

    #[test]
    fn without_options_both_sides_are_measured() {
        let want = Options {
            stead: true,
            peer: true,
            only: None,
            repeat: None,
            strict: false,
            write: false,
            scale: Vec::new(),
        };
        assert_eq!(parse(""), Ok(want));
    }

    #[test]
    fn every_option_is_parsed() {
        let want = Options {
            stead: true,
            peer: false,
            only: None,
            repeat: Some(7),
            strict: true,
            write: true,
            scale: vec![1000, 20],
        };
        assert_eq!(parse("--repeat 7 --no-peer --strict --write --scale 1000,20"), Ok(want));
        assert!(parse("--only-peer").is_ok_and(|options| !options.stead));
        assert!(parse("--only-aws --write").is_ok_and(|options| options.only == Some(Part::Aws)));
    }

    #[test]
    fn invalid_options_are_refused() {
        for line in [
            "--scale x",
            "--repeat",
            "--repeat 0",
            "--repeat x",
            "--fast",
            "--no-peer --only-peer",
            "--only-evaluator --write",
            "--only-scale",
            "--only-scale --scale 10 --write",
            "--only-secrets --only-aws",
            "--only-aws --only-peer",
        ] {
            assert!(parse(line).is_err(), "{line}");
        }
    }
}
