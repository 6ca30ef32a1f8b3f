//! Table of operations on unknowns: runs each row with an unknown and with known values, and compares the results.
#![allow(unreachable_pub, clippy::unwrap_used, clippy::panic, clippy::print_stdout)]

mod builtins;
mod syntax;

use std::collections::{BTreeMap, BTreeSet, HashMap};

use stead_eval::Evaluation;
use stead_model::{EvalError, Input, KnownOutputs, Moment, Name, NodeId, Value, resolve, resolve_at};

use crate::common::{diagnostics, program};

/// Code that performs one operation on `x`, with its result in `v` and its receiver in `r`.
#[derive(Clone, Debug)]
pub struct Row {
    pub name: String,
    pub code: String,
}

/// Outcome of a row.
#[derive(Clone, Debug, PartialEq)]
pub enum Verdict {
    /// The deferred expression gives the result of JavaScript.
    Deferred,
    /// Refused with a code at the row's own line.
    Refused,
    /// JavaScript throws for every value, and the program too.
    Throws,
    /// The result is not data, such as a symbol or a class, and cannot be in a graph.
    NotData,
    /// The result does not depend on `x`, in JavaScript too.
    Ignored,
    Wrong(String),
}

/// Values of `x` after apply: one of each kind of data, and the falsy ones.
const VALUES: &[&str] =
    &["\"b\"", "1", "[\"b\", \"a\"]", "{\"a\":2}", "true", "\"\"", "0", "false", "null", "{\"then\":1}"];

/// Functions that convert the results of a row to data.
const UNWRAP: &str = r#"
const pending: any[] = [];
function kindOf(v: any): string {
  if (v === undefined) return "nothing";
  if (typeof v === "number" && !Number.isFinite(v)) return "other";
  if (typeof v === "bigint" || typeof v === "symbol" || typeof v === "function") return "other";
  if (typeof v !== "object" || v === null) return "data";
  if (Array.isArray(v)) return "data";
  if (v instanceof Promise) return "promise";
  if (v instanceof Map || v instanceof Set) return "list";
  if (ArrayBuffer.isView(v) && !(v instanceof DataView)) return "list";
  if (v instanceof Date || v instanceof RegExp || v instanceof Error) return "text";
  if (v instanceof String || v instanceof Number || v instanceof Boolean) return "text";
  if (typeof v.next === "function" && typeof v[Symbol.iterator] === "function") return "list";
  const p = Object.getPrototypeOf(v);
  return p === Object.prototype || p === null ? "data" : "other";
}
function unwrap(kind: string, v: any): any {
  if (kind === "list") return [...v];
  if (kind === "text") return `${v}`;
  if (kind === "nothing") return null;
  if (kind === "promise") return "promise";
  return kind === "other" ? "other" : v;
}
"#;

/// Function that converts a result to text; `!` marks values that are not data.
const CANON: &str = r#"
function canon(v: any, depth = 0): string {
  if (v === null) return "null";
  if (typeof v === "number") return Number.isFinite(v) ? JSON.stringify(v) : "!";
  if (typeof v === "boolean") return `${v}`;
  if (typeof v === "string") return v.isWellFormed() ? JSON.stringify(v) : "!";
  if (typeof v !== "object" || depth > 6) return "!";
  if (Array.isArray(v)) return `[${Array.from(v, (item: any) => canon(item, depth + 1)).join(",")}]`;
  const proto = Object.getPrototypeOf(v);
  if (proto !== Object.prototype && proto !== null) return "!";
  const keys = Object.keys(v).filter((key) => v[key] !== undefined).sort();
  return `{${keys.map((key) => `${JSON.stringify(key)}:${canon(v[key], depth + 1)}`).join(",")}}`;
}
"#;

struct Known(Value);

impl KnownOutputs for Known {
    fn property(&self, _: NodeId, _: &str) -> Result<Option<Value>, EvalError> {
        Ok(Some(self.0.clone()))
    }

    fn name(&self, _: NodeId) -> Option<&Name> {
        None
    }
}

/// Kind and text of the result, for each row and each value.
type Plain = Vec<Vec<(String, String)>>;

/// Returns a verdict for every row.
pub fn judge(rows: &[Row]) -> Vec<(Row, Verdict)> {
    let (first, second) = rows.split_at(rows.len() / 2);
    std::thread::scope(|scope| {
        let first = scope.spawn(|| first.chunks(300).flat_map(judge_some).collect::<Vec<_>>());
        let second: Vec<_> = second.chunks(300).flat_map(judge_some).collect();
        first.join().unwrap().into_iter().chain(second).collect()
    })
}

fn judge_some(rows: &[Row]) -> Vec<(Row, Verdict)> {
    let plain = match plain(rows) {
        Ok(plain) => plain,
        // Built-ins that no program may use are refused for known values too.
        Err(forbidden) => {
            let (never, rest): (Vec<_>, Vec<_>) =
                rows.iter().cloned().enumerate().partition(|(index, _)| forbidden.contains(index));
            let rest: Vec<Row> = rest.into_iter().map(|(_, row)| row).collect();
            let never = never.into_iter().map(|(_, row)| (row, Verdict::Refused));
            return never.chain(judge_some(&rest)).collect();
        }
    };
    let kinds: Vec<[String; 2]> = plain.iter().map(|results| kinds(results)).collect();
    let mut verdicts: BTreeMap<usize, Verdict> = BTreeMap::new();
    let all: Vec<usize> = (0..rows.len()).collect();
    let mut left = Vec::new();
    for some in all.chunks(40) {
        let refused = refusals(rows, &kinds, some);
        left.extend(some.iter().copied().filter(|row| !refused.contains_key(row)));
        verdicts.extend(refused);
    }
    verdicts.extend(deferred(rows, &kinds, &plain, &left));
    rows.iter().cloned().zip(verdicts.into_values()).collect()
}

/// Runs the rows with known values. Returns the rows that use a forbidden built-in as an error.
fn plain(rows: &[Row]) -> Result<Plain, BTreeSet<usize>> {
    let mut text =
        format!("{UNWRAP}{CANON}const values: any[] = [{}];\nconst out: any[] = [];\n", VALUES.join(", "));
    text += "async function row(f: (x: any) => any) {\n  const all: any[] = []; out.push(all);\n  for (const x of values) {\n    \
        let kind = \"threw\", result = \"!\";\n    try {\n      const { v, r } = f(structuredClone(x));\n      \
        kind = `${kindOf(v)} ${kindOf(r)}`;\n      \
        const got = kindOf(v) === \"promise\" ? await v : unwrap(kindOf(v), v);\n      \
        result = canon([got, unwrap(kindOf(r), r)]);\n    } catch { result = \"threw\"; }\n    all.push([kind, result]);\n  }\n}\n";
    let first = text.lines().count() + 1;
    for row in rows {
        text +=
            &format!("await row((x: any) => {{ let v: any, r: any; {} return {{ v, r }}; }});\n", row.code);
    }
    text += "export { out };\n";
    match program(&text).limits(|limits| limits.evaluation_interrupts = 1_000_000).evaluate() {
        Ok(evaluation) => {
            let out = evaluation.graph.outputs["out"].as_known().unwrap().to_json();
            Ok(serde_json::from_str(&out).unwrap())
        }
        Err(failure) => {
            let places = failure.diagnostics.iter().filter_map(|problem| problem.labels.first());
            let lines = places.filter_map(|label| (label.place.line as usize).checked_sub(first));
            let forbidden: BTreeSet<usize> = lines.filter(|line| *line < rows.len()).collect();
            assert!(!forbidden.is_empty(), "{}", diagnostics(&failure.diagnostics));
            Err(forbidden)
        }
    }
}

/// Returns the most specific kinds of `v` and `r` over all values.
fn kinds(results: &[(String, String)]) -> [String; 2] {
    let mut found: Vec<&String> =
        results.iter().map(|(kind, _)| kind).filter(|kind| *kind != "threw").collect();
    found.sort_by_key(|kind| kind.starts_with("other") || kind.starts_with("nothing"));
    let kind = found.first();
    let (v, r) = kind.and_then(|kind| kind.split_once(' ')).unwrap_or(("data", "data"));
    let nowhere_data = results.iter().all(|(_, text)| text == "threw" || text.contains('!'));
    let nowhere_data = nowhere_data && results.iter().any(|(_, text)| text.contains('!'));
    match (nowhere_data, v) {
        (true, "promise") => ["waits".to_owned(), "other".to_owned()],
        (true, _) => ["other".to_owned(), "other".to_owned()],
        (false, v) => [v.to_owned(), r.to_owned()],
    }
}

fn with_unknown(rows: &[Row], kinds: &[[String; 2]], some: &[usize]) -> (String, usize) {
    let head = format!(
        "import {{ Data }} from \"stead/local\";{UNWRAP}const x: any = new Data().echo;\nconst out: any = {{}};\n"
    );
    let first = head.lines().count() + 1;
    let mut text = head;
    for index in some {
        let [v, r] = &kinds[*index];
        let keep = match v.as_str() {
            "waits" => format!("pending.push([\"r{index}\", v.then(() => \"other\"), \"other\"]);"),
            "promise" => format!("pending.push([\"r{index}\", v, unwrap(\"{r}\", r)]);"),
            _ => format!("out.r{index} = [unwrap(\"{v}\", v), unwrap(\"{r}\", r)];"),
        };
        let code = &rows[*index].code;
        text += &format!(
            "try {{ (() => {{ let v: any, r: any; {code} {keep} }})(); }} catch {{ out.r{index} = \"threw\"; }}\n"
        );
    }
    text += "for (const [k, v, r] of pending) { try { out[k] = [await v, r]; } catch { out[k] = \"threw\"; } }\nexport { out };\n";
    (text, first)
}

/// Returns verdicts for the rows that are refused.
fn refusals(rows: &[Row], kinds: &[[String; 2]], some: &[usize]) -> BTreeMap<usize, Verdict> {
    let (text, first) = with_unknown(rows, kinds, some);
    let mut found = BTreeMap::new();
    let Err(failure) = program(&text).evaluate() else { return found };
    // Results that are not data are judged in `deferred`.
    let refused = failure.diagnostics.iter().filter(|problem| problem.code.to_string() != "ST0111");
    for problem in refused {
        let shown = diagnostics(std::slice::from_ref(problem));
        let line = problem.labels.first().map_or(0, |label| label.place.line as usize);
        let row = line.checked_sub(first).and_then(|line| some.get(line));
        match row {
            Some(row) => {
                let code = problem.code.to_string();
                let again = found.contains_key(row);
                let right = matches!(code.as_str(), "ST0104" | "ST0110") && !again;
                found.insert(*row, if right { Verdict::Refused } else { Verdict::Wrong(shown) });
            }
            // `unwrap` inspects the value later than the row creates it.
            None if some.len() == 1 && line > 1 && shown.contains("not known while planning") => {
                found.insert(some[0], Verdict::Refused);
            }
            None if some.len() == 1 => {
                found.insert(some[0], Verdict::Wrong(format!("at no place of its own: {shown}")));
            }
            None => {
                // Fewer rows show which one it was.
                let (left, right) = some.split_at(some.len() / 2);
                return refusals(rows, kinds, left).into_iter().chain(refusals(rows, kinds, right)).collect();
            }
        }
    }
    found
}

/// Returns verdicts for the rows that are not refused, from the results of their expressions for each value.
fn deferred(rows: &[Row], kinds: &[[String; 2]], plain: &Plain, left: &[usize]) -> BTreeMap<usize, Verdict> {
    let (text, _) = with_unknown(rows, kinds, left);
    let evaluation = match program(&text).limits(|limits| limits.evaluation_interrupts = 1_000_000).evaluate()
    {
        Ok(evaluation) => evaluation,
        Err(failure) if left.len() == 1 => {
            let nowhere_data = plain[left[0]].iter().all(|(_, text)| text == "threw" || text.contains('!'));
            let verdict = match nowhere_data {
                true => Verdict::NotData,
                false => Verdict::Wrong(diagnostics(&failure.diagnostics)),
            };
            return BTreeMap::from([(left[0], verdict)]);
        }
        Err(_) => {
            let (some, rest) = left.split_at(left.len() / 2);
            let some = deferred(rows, kinds, plain, some);
            return some.into_iter().chain(deferred(rows, kinds, plain, rest)).collect();
        }
    };
    let graph = &evaluation.graph;
    let outputs: HashMap<String, Input> = match &graph.outputs["out"] {
        Input::Map(map) => map.iter().map(|(key, input)| (key.to_string(), input.clone())).collect(),
        Input::Known(Value::Map(map)) => {
            map.iter().map(|(key, value)| (key.to_string(), Input::Known(value.clone()))).collect()
        }
        other => panic!("{other:?}"),
    };
    let marked = marked(&text, left);
    let mut verdicts = BTreeMap::new();
    for row in left {
        let found = outputs.get(&format!("r{row}"));
        let wanted = &plain[*row];
        let mut wrong = BTreeSet::new();
        for (value, (kind, wanted)) in VALUES.iter().zip(wanted) {
            let later = Known(serde_json::from_str(value).unwrap());
            let got = found.map(|found| resolve(found, &graph.exprs, &later, &*evaluation.functions));
            let got = match got {
                Some(Ok(Some(Input::Known(value)))) => value.to_json(),
                Some(Ok(_)) => "still unknown".to_owned(),
                Some(Err(EvalError::Undefined { .. } | EvalError::NoSuchMember { .. })) => NAMED.to_owned(),
                Some(Err(_)) | None => "\"threw\"".to_owned(),
            };
            let is_deferred = found.is_some_and(|found| found.as_known().is_none());
            // An error that names the missing member is right, whatever JavaScript makes of `undefined`.
            let same = got == NAMED
                || match (wanted.as_str(), wanted.contains('!')) {
                    // A result that is no data is in no graph, and nothing evaluates it.
                    ("threw", _) => got == "\"threw\"" || kinds[*row][0] == "other",
                    // A value that is not there, or that data cannot hold, must be an error after apply.
                    _ if is_deferred && *kind != kinds[*row].join(" ") && lost(kind) => got == "\"threw\"",
                    // Results that are not data cannot be in a graph; other tests cover their refusal.
                    (_, true) => true,
                    _ => *kind != kinds[*row].join(" ") || got == *wanted,
                };
            if !same {
                wrong.insert(format!("for {value} it gives {got}, and JavaScript gives {kind} {wanted}"));
            }
        }
        let is_deferred = matches!(found, Some(found) if found.as_known().is_none());
        verdicts.insert(
            *row,
            match wrong.into_iter().next() {
                Some(wrong) => Verdict::Wrong(wrong),
                None if is_deferred && !marked.contains(row) => {
                    Verdict::Wrong("a result of a secret is not secret".to_owned())
                }
                None if is_deferred => Verdict::Deferred,
                None if wanted.iter().all(|(_, text)| text == "threw") => Verdict::Throws,
                None if wanted
                    .iter()
                    .all(|(_, text)| text == "threw" || text.contains('!') || text.contains("\"other\"")) =>
                {
                    Verdict::NotData
                }
                None => Verdict::Ignored,
            },
        );
    }
    verdicts
}

/// Result of a row that fails because a member is missing.
const NAMED: &str = "an error that names the missing member";

/// Returns true if the result has no data for this value of `x`.
fn lost(kind: &str) -> bool {
    kind.starts_with("nothing") || kind.starts_with("other")
}

/// Text that occurs only in the secret.
const CANARY: &str = "canary-5e7f";

/// Runs the rows with a secret instead of the unknown, and returns the rows whose results are still secret: as expressions, after
/// they are resolved, and the same for an ephemeral value.
fn marked(text: &str, left: &[usize]) -> BTreeSet<usize> {
    let run = |x: String| {
        let import = format!("import {{ ephemeral, secret }} from \"stead\"; const x: any = {x};");
        let text = text.replacen("const x: any = new Data().echo;", &import, 1);
        let text = text.replace("export { out };", "new Data({ value: out });");
        let evaluation = program(&text).limits(|limits| limits.evaluation_interrupts = 1_000_000).evaluate();
        assert!(!format!("{evaluation:?}").contains(CANARY), "a secret is in the clear");
        evaluation.unwrap()
    };
    let secret = run(format!("secret(\"{CANARY}\")"));
    let ephemeral = run(format!("ephemeral(() => \"{CANARY}\")"));
    let bears = |row: &&usize| {
        let key = format!("r{row}");
        let is_secret = input_of(&secret, &key).is_some_and(|input| {
            secret.graph.exprs.secret_in(input).is_some() && stays_secret(&secret, input)
        });
        let is_ephemeral = input_of(&ephemeral, &key).is_some_and(|input| {
            ephemeral.graph.exprs.ephemeral_in(input).is_some() && stays_secret(&ephemeral, input)
        });
        is_secret && is_ephemeral
    };
    left.iter().filter(bears).copied().collect()
}

fn input_of<'a>(evaluation: &'a Evaluation, key: &str) -> Option<&'a Input> {
    let node = evaluation.graph.nodes.iter().find(|node| node.inputs.contains_key("value"))?;
    match node.inputs.get("value")? {
        Input::Map(map) => map.get(key),
        _ => None,
    }
}

/// Returns true if every part of the input that is computed from the secret is secret when the provider is called.
///
/// A row that throws for the value has nothing to show, except in its message.
fn stays_secret(evaluation: &Evaluation, input: &Input) -> bool {
    let exprs = &evaluation.graph.exprs;
    match input {
        Input::Known(_) => true,
        Input::List(items) => items.iter().all(|item| stays_secret(evaluation, item)),
        Input::Map(map) => map.values().all(|item| stays_secret(evaluation, item)),
        Input::Deferred(_) if exprs.secret_in(input).or_else(|| exprs.ephemeral_in(input)).is_none() => true,
        Input::Deferred(_) => {
            let inputs = [("v", input.clone())].into_iter().collect();
            let later = Known(Value::Null);
            match resolve_at(Moment::Call, &inputs, exprs, &later, &*evaluation.functions) {
                Ok(values) => values.values().all(|value| match value {
                    Input::Known(value) => is_hidden(value),
                    _ => false,
                }),
                Err(error) => !format!("{error:?}").contains(CANARY),
            }
        }
    }
}

/// Returns true if every plain value in a value is inside a secret.
fn is_hidden(value: &Value) -> bool {
    match value {
        Value::Secret(_) => true,
        Value::List(items) => items.iter().all(is_hidden),
        Value::Map(map) => map.values().all(is_hidden),
        _ => false,
    }
}

/// Fails with all wrong rows; otherwise prints the number of rows of each verdict.
pub fn assert_none_is_wrong(judged: &[(Row, Verdict)]) {
    let wrong: Vec<String> = judged
        .iter()
        .filter_map(|(row, verdict)| match verdict {
            Verdict::Wrong(why) => Some(format!("{}\n    {}\n    {why}", row.name, row.code)),
            _ => None,
        })
        .collect();
    assert!(wrong.is_empty(), "{} of {} rows:\n{}", wrong.len(), judged.len(), wrong.join("\n"));
    let count = |wanted: Verdict| judged.iter().filter(|(_, verdict)| *verdict == wanted).count();
    println!(
        "{} rows: {} deferred, {} refused, {} throw in JavaScript too, {} give no data, {} ignore it",
        judged.len(),
        count(Verdict::Deferred),
        count(Verdict::Refused),
        count(Verdict::Throws),
        count(Verdict::NotData),
        count(Verdict::Ignored)
    );
}
