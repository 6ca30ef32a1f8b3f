//! Test files: what the module `stead/test` has, and how tests run and fail.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use stead_eval::{
    Compared, Entry, Refused, Sources, StackRef, TEST_DECLARATIONS, TestFile, TestFileResult, TestHost,
    TestOutcome, run_tests,
};
use stead_model::{Limits, Map, TypeToken, Value};
use stead_schema::Catalog;

/// A project with one file.
struct OneFile(String);

impl Sources for OneFile {
    fn read(&self, path: &str) -> Result<Option<String>, String> {
        Ok((path == "a.test.ts").then(|| self.0.clone()))
    }

    fn read_bytes(&self, _: &str) -> Result<Option<Vec<u8>>, String> {
        Ok(None)
    }

    fn list(&self, _: &str) -> Result<Option<Vec<Entry>>, String> {
        Ok(None)
    }

    fn look_up(
        &self,
        _: &TypeToken,
        _: &str,
        _: Option<&stead_eval::LookUpProvider>,
    ) -> Result<Option<Map>, String> {
        Ok(None)
    }

    fn outputs(&self, _: &StackRef) -> Result<Option<Map>, String> {
        Ok(None)
    }
}

/// A host that is never asked.
struct NoHost;

impl TestHost for NoHost {
    fn answer(&self, _: &str, _: &Value) -> Result<Value, Refused> {
        Err(Refused::Expectable(Vec::new()))
    }

    fn snapshot(&self, _: &str, _: &str, _: &Value) -> Compared {
        Compared::Same
    }
}

fn run(text: String) -> TestFileResult {
    let file = TestFile { path: "a.test.ts", project: "p", pattern: None };
    run_tests(&file, &Catalog::default(), &OneFile(text), &NoHost, &Limits::default())
}

/// Returns each test with its outcome and the messages of its failures.
fn told(text: &str) -> String {
    let result = run(format!(
        "import {{ afterAll, afterEach, beforeAll, beforeEach, describe, expect, test }} from \"stead/test\";\n{text}"
    ));
    let mut lines: Vec<String> = result.problems.iter().map(|problem| problem.message.clone()).collect();
    for test in result.tests {
        let outcome = match test.outcome {
            TestOutcome::Passed => "passed".to_owned(),
            TestOutcome::Skipped => "skipped".to_owned(),
            TestOutcome::Todo => "todo".to_owned(),
            TestOutcome::Failed(failures) => {
                let messages = failures.iter().flat_map(|failure| &failure.problems);
                format!(
                    "failed: {}",
                    messages.map(|problem| problem.message.as_str()).collect::<Vec<_>>().join("; ")
                )
            }
        };
        lines.push(format!("{}: {outcome}", test.path.join(" > ")));
        lines.extend(test.console.into_iter().map(|line| format!("  {}", line.text)));
    }
    lines.join("\n")
}

#[test]
fn test_module_has_everything_that_its_declarations_name() {
    let exported: Vec<&str> = TEST_DECLARATIONS
        .lines()
        .filter_map(|line| {
            let rest = line.strip_prefix("export ")?;
            let rest = ["class ", "function ", "const "].iter().find_map(|word| rest.strip_prefix(word))?;
            rest.split(|c: char| !c.is_alphanumeric()).next()
        })
        .collect();
    let start = TEST_DECLARATIONS.find("export interface Matchers").unwrap();
    let matchers = &TEST_DECLARATIONS[start..start + TEST_DECLARATIONS[start..].find("\n}").unwrap()];
    let matchers: Vec<&str> = matchers
        .lines()
        .filter_map(|line| {
            line.trim().split_once('(').map(|(name, _)| name).filter(|name| name.starts_with("to"))
        })
        .collect();
    assert!(exported.len() >= 20 && matchers.len() >= 25, "{exported:?} {matchers:?}");
    let names = exported.join(", ");
    let result = run(format!(
        "import {{ {names} }} from \"stead/test\";\ntest(\"all\", () => {{\n  for (const one of [{names}]) expect(one).toBeDefined();\n  for (const name of {matchers:?}) expect(typeof (expect(1) as any)[name]).toBe(\"function\");\n  expect(Object.keys(expect(1))).toHaveLength({});\n}});\n",
        matchers.len()
    ));
    assert_eq!(result.problems, []);
    assert_eq!(result.tests[0].outcome, TestOutcome::Passed);
}

#[test]
fn hooks_run_around_the_tests_of_their_group() {
    let text = r#"
beforeAll(() => console.log("open"));
beforeEach(async () => { await null; console.log("before"); });
afterAll(() => console.log("close"));
describe("group", () => {
  beforeAll(() => console.log("  open"));
  beforeEach(() => console.log("  before"));
  afterEach(() => console.log("  after"));
  afterAll(() => console.log("  close"));
  test("one", () => console.log("  one"));
  test("two", () => { console.log("  two"); expect(1).toBe(2); });
});
test("three", async () => { await Promise.resolve(); console.log("three"); });
"#;
    insta::assert_snapshot!(told(text), @"
    group > one: passed
      open
        open
      before
        before
        one
        after
    group > two: failed: expected 1 to be 2
      before
        before
        two
        after
    three: passed
      before
      three
      close
    ");
}

#[test]
fn every_kind_of_failure_belongs_to_its_test() {
    let text = r#"
test("thrown", () => { throw new TypeError("no"); });
test("rejected", async () => { await Promise.reject(new Error("later")); });
test("unhandled", () => { Promise.reject(new Error("alone")); });
test("random", () => { try { Math.random(); } catch {} });
test("caught", () => { try { expect(1).toBe(2); } catch {} });
test("not a function", () => expect(1).toThrow());
test("asynchronous", () => expect(async () => {}).toThrow());
test("rejects", () => expect(Promise.reject(new Error("x"))).rejects.toThrow("y"));
test("resolves", () => expect(Promise.resolve(3)).resolves.toBe(3));
test("nested", () => test("inner", () => {}));
test.only.each([{ n: 1 }])("only $n runs", () => {});
"#;
    insta::assert_snapshot!(told(&text.replace(".only", "")));
    let only = told(text);
    assert!(only.ends_with("only 1 runs: passed") && only.matches("skipped").count() == 10, "{only}");
}

#[test]
fn matchers_compare_data_as_people_expect() {
    let text = r#"
test("equal", () => {
  expect({ a: 1, b: undefined, c: [new Date(0)] }).toEqual({ a: 1, c: [new Date(0)] });
  expect({ a: 1, b: undefined }).not.toStrictEqual({ a: 1 });
  expect({ a: { b: 1, c: 2 }, d: 3 }).toMatchObject({ a: { b: 1 } });
  expect({ a: 1, list: ["xyz"] }).toEqual({ a: expect.any(Number), list: expect.arrayContaining([expect.stringMatching(/^x/)]) });
  expect({ a: { b: [0, { c: 1 }] } }).toHaveProperty("a.b[1].c", 1);
  expect(new Map([[1, 2]])).toEqual(new Map([[1, 2]]));
  expect(new Set([1])).not.toEqual(new Set([2]));
  expect(NaN).toBe(NaN);
  expect(0.1 + 0.2).toBeCloseTo(0.3);
  expect([1, 2]).toContain(2);
  expect([{ a: 1 }]).toContainEqual({ a: 1 });
  expect("text").toMatch(/ex/);
  expect(() => { throw new RangeError("far") }).toThrow(RangeError);
  expect([]).toHaveLength(0);
});
test("a list is no object", () => expect([]).toEqual({}));
test("order counts", () => expect([1, 2]).toEqual([2, 1]));
test("too much", () => expect({ a: 1, b: 2 }).toEqual({ a: 1 }));
"#;
    insta::assert_snapshot!(told(text), @"
    equal: passed
    a list is no object: failed: expected [] to equal {}
    order counts: failed: expected [ 1, 2, ] to equal [ 2, 1, ]
    too much: failed: expected { a: 1, b: 2, } to equal { a: 1, }
    ");
}
