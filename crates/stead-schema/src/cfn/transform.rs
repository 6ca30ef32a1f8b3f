//! Evaluation of `propertyTransform`: how a service changes a value that it stores.
//!
//! The expressions are JSONata. The evaluator supports the functions that nearly all types use: the value itself, text,
//! `$lowercase`, `$uppercase`, `$join`, `$split(…)[n]`, `$replace`, `$substringAfter`, `$string`, `&`, and alternatives
//! with `$OR`. A result may be a regular expression that the live value must match.

use stead_model::Value;

/// Result of a transformation.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Transformed {
    OneOf(Vec<Candidate>),
    Unsupported,
}

/// One value, or pattern, that the service may return.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Candidate {
    text: String,
    /// The text contains literals of the expression, which may be regular expressions.
    pattern: bool,
}

impl Candidate {
    pub(crate) fn fits(&self, live: &Value) -> bool {
        let Some(live) = live.as_str() else { return false };
        let matches = || {
            regex_lite::Regex::new(&format!("^(?:{})$", self.text)).is_ok_and(|regex| regex.is_match(live))
        };
        live == self.text || (self.pattern && matches())
    }
}

/// Returns whether a service that transforms values by an expression may return `live` for `want`, or `None` if the
/// expression is not understood.
pub fn transform_allows(expression: &str, want: &Value, live: &Value) -> Option<bool> {
    match transformed(expression, want) {
        Transformed::OneOf(all) => Some(all.iter().any(|one| one.fits(live))),
        Transformed::Unsupported => None,
    }
}

pub(crate) fn transformed(expression: &str, value: &Value) -> Transformed {
    let text = match value {
        Value::String(text) => text.to_string(),
        Value::Number(number) => number.to_string(),
        Value::Bool(flag) => flag.to_string(),
        _ => return Transformed::Unsupported,
    };
    let mut all = Vec::new();
    for alternative in expression.split(" $OR ") {
        let mut reader = Reader { rest: alternative.trim(), value: &text, pattern: false, used: false };
        match reader.sum() {
            // An expression that ignores the value cannot be compared with it.
            Some(text) if reader.rest.trim().is_empty() && reader.used => {
                all.push(Candidate { text, pattern: reader.pattern });
            }
            _ => return Transformed::Unsupported,
        }
    }
    Transformed::OneOf(all)
}

struct Reader<'a> {
    rest: &'a str,
    value: &'a str,
    pattern: bool,
    /// The result contains the value.
    used: bool,
}

impl Reader<'_> {
    /// Parses `a & b & c`.
    fn sum(&mut self) -> Option<String> {
        let mut text = self.term()?;
        while self.take("&") {
            text.push_str(&self.term()?);
        }
        Some(text)
    }

    fn term(&mut self) -> Option<String> {
        self.rest = self.rest.trim_start();
        match self.rest.chars().next()? {
            '"' | '\'' => {
                self.pattern = true;
                self.literal()
            }
            '$' => self.call(),
            first if first.is_ascii_alphabetic() => self.property(),
            _ => None,
        }
    }

    /// Parses a name, or a dotted path, of the property itself.
    fn property(&mut self) -> Option<String> {
        let end = self
            .rest
            .find(|c: char| !c.is_ascii_alphanumeric() && c != '.' && c != '_')
            .unwrap_or(self.rest.len());
        self.rest = &self.rest[end..];
        self.used = true;
        // An unsupported operator follows: the property alone is not the result.
        let next = self.rest.trim_start().chars().next();
        next.is_none_or(|next| ",)]&".contains(next)).then(|| self.value.to_owned())
    }

    fn call(&mut self) -> Option<String> {
        let open = self.rest.find('(')?;
        let name = &self.rest[1..open];
        self.rest = &self.rest[open + 1..];
        match name {
            "lowercase" => self.argument().map(|text| text.to_lowercase()),
            "uppercase" => self.argument().map(|text| text.to_uppercase()),
            "string" => self.argument(),
            "join" => self.join(),
            "split" => self.split(),
            "replace" => self.replace(),
            "substringAfter" => {
                let text = self.sum()?;
                self.take(",").then_some(())?;
                let mark = self.literal()?;
                self.take(")").then_some(())?;
                Some(text.split_once(&mark).map_or(text.clone(), |(_, after)| after.to_owned()))
            }
            _ => None,
        }
    }

    fn argument(&mut self) -> Option<String> {
        let text = self.sum()?;
        self.take(")").then_some(text)
    }

    fn join(&mut self) -> Option<String> {
        self.take("[").then_some(())?;
        let mut text = self.sum()?;
        while self.take(",") {
            text.push_str(&self.sum()?);
        }
        (self.take("]") && self.take(")")).then_some(text)
    }

    fn split(&mut self) -> Option<String> {
        let text = self.sum()?;
        self.take(",").then_some(())?;
        let mark = self.literal()?;
        (self.take(")") && self.take("[")).then_some(())?;
        let close = self.rest.find(']')?;
        let index: isize = self.rest[..close].trim().parse().ok()?;
        self.rest = &self.rest[close + 1..];
        let parts: Vec<&str> = text.split(mark.as_str()).collect();
        let at = if index < 0 { parts.len().checked_add_signed(index)? } else { index.unsigned_abs() };
        parts.get(at).map(|part| (*part).to_owned())
    }

    fn replace(&mut self) -> Option<String> {
        let text = self.sum()?;
        self.take(",").then_some(())?;
        self.rest = self.rest.trim_start();
        if let Some(after) = self.rest.strip_prefix('/') {
            let close = after.find("/,")?;
            let regex = regex_lite::Regex::new(&after[..close]).ok()?;
            self.rest = &after[close + 1..];
            self.take(",").then_some(())?;
            let with = self.literal()?;
            return self.take(")").then(|| regex.replace_all(&text, with.as_str()).into_owned());
        }
        let what = self.literal()?;
        self.take(",").then_some(())?;
        let with = self.literal()?;
        self.take(")").then(|| text.replace(&what, &with))
    }

    /// Parses text in single or double quotes, with the escapes of JSON.
    fn literal(&mut self) -> Option<String> {
        self.rest = self.rest.trim_start();
        let quote = self.rest.chars().next().filter(|c| matches!(c, '"' | '\''))?;
        let mut text = String::new();
        let mut characters = self.rest[1..].char_indices();
        while let Some((at, character)) = characters.next() {
            match character {
                '\\' => match characters.next()?.1 {
                    'n' => text.push('\n'),
                    't' => text.push('\t'),
                    other => text.push(other),
                },
                end if end == quote => {
                    self.rest = &self.rest[1 + at + end.len_utf8()..];
                    return Some(text);
                }
                other => text.push(other),
            }
        }
        None
    }

    fn take(&mut self, token: &str) -> bool {
        match self.rest.trim_start().strip_prefix(token) {
            Some(rest) => {
                self.rest = rest;
                true
            }
            None => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fits(expression: &str, want: &str, live: &str) -> Option<bool> {
        transform_allows(expression, &Value::from(want), &Value::from(live))
    }

    #[test]
    fn common_expressions_are_evaluated() {
        let cases = [
            ("$lowercase(ColumnType)", "TEXT", "text"),
            ("$uppercase(A.B)", "simple", "SIMPLE"),
            (r#"$split(LayerName, ":")[-1] $OR LayerName"#, "arn:x:layer", "layer"),
            (r#"$join([Name, "."]) $OR Name"#, "example.com", "example.com."),
            (
                r#"$join(["arn:aws:kms:[a-z0-9-]+:[0-9]{12}:key\\/", KmsKeyId])"#,
                "k-1",
                "arn:aws:kms:eu-west-1:123456789012:key/k-1",
            ),
            (r"$replace(CrlData, /\s+$/, '')", "data \n", "data"),
            (r#"$lowercase($substringAfter(LagId, "/"))"#, "x/ABC", "abc"),
            ("'custom:' & '' & Name", "n", "custom:n"),
            ("$join([$string(EngineVersion), \".*\"])", "8.0", "8.0.35"),
        ];
        for (expression, want, live) in cases {
            assert_eq!(fits(expression, want, live), Some(true), "{expression}");
            assert_eq!(fits(expression, "other", live), Some(false), "{expression}");
        }
    }

    #[test]
    fn unsupported_expressions_give_no_result() {
        for expression in [
            "\"^[a-z]+$\"",
            "InstanceId? A : B",
            "StartingPositionTimestamp * 1000",
            "CidrBlock~>function($c){$c}",
            "",
            "$foo(X)",
        ] {
            assert_eq!(fits(expression, "a", "a"), None, "{expression}");
        }
    }
}
