//! Readers of published schemas, and what is computed with them: any bytes go in, and none may panic or hang.

use stead_model::{Map, Value};
use stead_schema::cfn::{
    DigestKey, LastApplied, Settled, Update, UpdateInputs, facts, parse, patch as compare, patch_document,
    transform_allows,
};

/// Reads a schema. Its reduced form, as bundled, gives the same.
pub fn schema(bytes: &[u8]) {
    let Ok(document) = serde_json::from_slice::<Value>(bytes) else { return };
    let reduced = facts(&document);
    assert_eq!(facts(&reduced), reduced);
    assert_eq!(parse(&reduced), parse(&document));
}

/// Compares the four sides of a resource: a list of schema, inputs last applied, live, and desired inputs.
pub fn patch(bytes: &[u8]) {
    let Ok(Value::List(parts)) = serde_json::from_slice::<Value>(bytes) else { return };
    let [document, Value::Map(last), Value::Map(live), Value::Map(want)] = &parts[..] else { return };
    let Ok(schema) = parse(document) else { return };
    let key = DigestKey::new([1; 32]);
    let applied = LastApplied::of(&schema, &key, last);
    let settled = Settled::of(&schema, &key, last, live);
    let update = |settled: Option<&Settled>, want: &Map| {
        compare(&schema, &UpdateInputs { last: &applied, settled, live, want, key: &key })
    };
    for update in [update(None, want), update(Some(&settled), want)] {
        if let Update::Patch { operations, .. } = update {
            assert!(!operations.is_empty(), "an update without operations");
            let _ = patch_document(&operations);
        }
    }
    let again = update(Some(&settled), last);
    assert!(matches!(again, Update::Nothing), "the same inputs and an unchanged resource give {again:?}");
}

/// Evaluates a transformation: the expression, the desired value and the live one, each on a line of its own.
pub fn transform(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    let mut lines = text.splitn(3, '\n');
    let mut next = || lines.next().unwrap_or_default();
    let (expression, want, live) = (next(), Value::from(next()), Value::from(next()));
    let first = transform_allows(expression, &want, &live);
    assert_eq!(first, transform_allows(expression, &want, &live));
}
