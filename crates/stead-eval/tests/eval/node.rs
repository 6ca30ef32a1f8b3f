//! Answers of Node 20 in UTC and `en-US`, recorded once: dates, numbers, order of text, and what the engine does differently.

use crate::common::program;

const ANSWERS: &str = include_str!("node/answers.txt");
/// Writes values as text, as the recording did.
const SHOW: &str = include_str!("../../../../xtask/src/conformance/programs/show.ts");

/// Returns pairs of an expression and its answer: two lines each, the second one begins with `= `.
fn answers() -> Vec<(&'static str, &'static str)> {
    let mut lines = ANSWERS.lines();
    let mut all = Vec::new();
    while let (Some(expression), Some(answer)) = (lines.next(), lines.next()) {
        all.push((expression, answer.strip_prefix("= ").unwrap_or_default()));
    }
    all
}

#[test]
fn values_are_those_of_node() {
    let all = answers();
    assert!(all.len() > 500, "{}", all.len());
    let records: String = all.iter().map(|(code, _)| format!("record(() => {code});\n")).collect();
    let text = format!("import {{ out, record }} from './show';\n{records}export {{ out }};\n");
    let graph = program(&text).file("show.ts", SHOW).graph();
    let found = graph.outputs["out"].as_known().unwrap().to_json();
    let found: Vec<String> = serde_json::from_str(&found).unwrap();
    let wrong: Vec<String> = all
        .iter()
        .zip(&found)
        .filter(|((_, answer), found)| answer != found)
        .map(|((code, answer), found)| format!("{code}\n  node  {answer}\n  stead {found}"))
        .collect();
    assert!(wrong.is_empty(), "{} of {}:\n{}", wrong.len(), all.len(), wrong.join("\n"));
}

/// Lists of several lengths are sorted by comparisons that contradict themselves; each sum covers the calls and the results.
#[test]
fn contradicting_comparisons_sort_as_in_node() {
    let graph = program(include_str!("fixtures/sort.ts")).graph();
    let sums = graph.outputs["sums"].as_known().unwrap().to_json();
    assert_eq!(sums, "[629941748,1163660836,305553998,1134259614,741589866,-93654752,1083554788]");
}

#[test]
fn buffers_that_only_node_can_make_are_refused_for_good() {
    for code in [
        "new Uint8Array(2 ** 31)",
        "new Float64Array(2 ** 29)",
        "new ArrayBuffer('2147483648' as any)",
        "new Uint8Array({ length: 2 ** 31 })",
        "new (class extends Uint8Array {})(2 ** 31)",
    ] {
        let text = format!("let x = 1;\ntry {{ {code}; }} catch {{ x = 2; }}\nexport {{ x }};\n");
        let failure = program(&text).failure();
        assert!(failure.starts_with("ST0103 a program cannot use a buffer of "), "{code}: {failure}");
        assert!(failure.contains("  @ main.ts:2:"), "{code}: {failure}");
    }
}

#[test]
fn locales_zones_and_texts_beyond_english_are_refused() {
    let refused = [
        ("(1).toLocaleString('de')", "the locale `de`"),
        ("new Intl.NumberFormat('en-GB').format(1)", "the locale `en-GB`"),
        ("new Intl.NumberFormat(['fr', 'en']).format(1)", "the locale `fr`"),
        ("new Date(0).toLocaleDateString('de-DE')", "the locale `de-DE`"),
        ("new Intl.DateTimeFormat('en', { timeZone: 'Europe/Berlin' })", "the time zone `Europe/Berlin`"),
        ("new Intl.DateTimeFormat('en', { era: 'short' })", "the option `era`"),
        ("new Intl.DateTimeFormat('en').format()", "the current time"),
        ("new Intl.NumberFormat('en', { notation: 'scientific' })", "the notation `scientific`"),
        ("new Intl.NumberFormat('en', { style: 'currency', currency: 'XYZ' })", "the currency `XYZ`"),
        ("'日本'.localeCompare('中国')", "the order of a text with U+65E5"),
        ("'a'.localeCompare('b', 'sv')", "the locale `sv`"),
        ("'i'.toLocaleUpperCase('tr')", "the locale `tr`"),
        ("Intl.NumberFormat.supportedLocalesOf('de')", "the locale `de`"),
        ("new Intl.DisplayNames('en', { type: 'region' })", "`Intl.DisplayNames`"),
        ("new Intl.Segmenter('en', { granularity: 'word' })", "the granularity `word`"),
    ];
    for (code, what) in refused {
        let failure = program(&format!("export const x: any = {code};\n")).failure();
        let expected = format!("ST0103 a program cannot use {what}");
        assert!(failure.starts_with(&expected), "{code}: {failure}");
        assert!(failure.contains("  @ main.ts:1:") && failure.contains("  help: "), "{code}: {failure}");
    }
}

#[test]
fn unknown_values_are_refused_by_intl() {
    let forms = [
        "new Intl.NumberFormat('en').format(u)",
        "new Intl.NumberFormat(u)",
        "new Intl.NumberFormat('en', u)",
        "new Intl.NumberFormat('en', { useGrouping: u })",
        "new Intl.DateTimeFormat('en').format(u)",
        "new Intl.DateTimeFormat('en', { hour12: u })",
        "new Intl.Collator('en').compare(u, 'a')",
        "new Intl.Collator('en').compare('a', u)",
        "new Intl.Collator('en', { numeric: u })",
        "new Intl.PluralRules('en').select(u)",
        "new Intl.ListFormat('en').format(u)",
        "new Intl.ListFormat('en').format(['a', u])",
        "new Intl.RelativeTimeFormat('en').format(u, 'day')",
        "new Intl.RelativeTimeFormat('en').format(1, u)",
        "new Intl.Segmenter('en').segment(u)",
        "Intl.getCanonicalLocales(u)",
        "(1).toLocaleString(u)",
        "new Date(0).toLocaleString('en', { month: u })",
    ];
    for code in forms {
        let head = "import { RandomString } from 'stead/local';\nconst u: any = new RandomString().result;\n";
        let failure = program(&format!("{head}export const x = {code};\n")).failure();
        assert!(failure.contains("@ main.ts:3:"), "{code}: {failure}");
    }
}
