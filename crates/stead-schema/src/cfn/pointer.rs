//! Pointers in published schemas: `/properties/Rules/*/Status`, and the irregular spellings that occur.

use stead_model::{PathPattern, PatternPart};

use super::{FormId, Schema};

/// Pattern of a pointer, and whether it resolves to a property.
pub(crate) struct Resolved {
    pub(crate) pattern: PathPattern,
    pub(crate) leads_somewhere: bool,
}

/// Follows a pointer through the schema, which resolves irregular steps: a list without `*`, a dot as a separator, a
/// literal `properties` or `items`.
pub(crate) fn resolve(schema: &Schema, pointer: &str) -> Resolved {
    let mut walk = Walk { schema, at: Some(Schema::ROOT), parts: Vec::new() };
    let mut steps = pointer.split('/').filter(|step| !step.is_empty()).map(unescape);
    let first = steps.next();
    if let Some(step) = first.filter(|step| step != "properties") {
        walk.step(&step);
    }
    for step in steps {
        walk.step(&step);
    }
    let leads_somewhere = walk.at.is_some() && !walk.parts.is_empty();
    Resolved { pattern: PathPattern::of(walk.parts), leads_somewhere }
}

fn unescape(step: &str) -> String {
    step.replace("~1", "/").replace("~0", "~")
}

struct Walk<'a> {
    schema: &'a Schema,
    /// Current form, or `None` after a step that the schema does not describe.
    at: Option<FormId>,
    parts: Vec<PatternPart>,
}

impl Walk<'_> {
    fn step(&mut self, step: &str) {
        let Some(at) = self.at else { return self.lost(step) };
        if step == "*" {
            let under = self.schema.element(at).or_else(|| self.schema.member(at, "*"));
            self.at = under;
            return self.parts.push(PatternPart::Any);
        }
        if let Some(member) = self.named(at, step) {
            return self.into(step, member);
        }
        if let Some(element) = self.schema.element(at) {
            self.parts.push(PatternPart::Any);
            self.at = Some(element);
            if step != "items" {
                self.step(step);
            }
            return;
        }
        if matches!(step, "properties" | "items") {
            return;
        }
        if let Some((before, after)) = step.split_once('.')
            && self.named(at, before).is_some()
        {
            self.step(before);
            return self.step(after);
        }
        match self.schema.member(at, step) {
            Some(member) => self.into(step, member),
            None => self.lost(step),
        }
    }

    fn named(&self, at: FormId, key: &str) -> Option<FormId> {
        self.schema.find(at, &mut Vec::new(), &|form| form.properties.get(key).copied())
    }

    fn into(&mut self, step: &str, member: FormId) {
        self.parts.push(PatternPart::Key(step.to_owned()));
        self.at = Some(member);
    }

    /// Takes a step that the schema does not describe as it is written.
    fn lost(&mut self, step: &str) {
        self.at = None;
        self.parts.push(if step == "*" { PatternPart::Any } else { PatternPart::Key(step.to_owned()) });
    }
}
