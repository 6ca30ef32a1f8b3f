//! References between imported resources: a string of one that is an ARN, an id or a name of another.

use std::collections::BTreeMap;

use stead_model::{Map, TypeToken, Value};
use stead_schema::TypeSchema;

use super::Existing;
use super::names::class_of;

/// A string that leads to another resource.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reference {
    /// Property that has the string: the last name on the way to it.
    pub key: String,
    pub text: String,
    /// Constant of the other resource.
    pub variable: String,
    /// Property of the other resource that has the value.
    pub property: String,
    /// The value, which is all of the text or a part of it.
    pub value: String,
}

/// Values that lead to a resource: its index and the property that has the value.
#[derive(Default)]
pub(super) struct References {
    /// ARNs and generated ids, which are no other text by chance.
    unique: BTreeMap<String, (usize, String)>,
    /// Names that a person chose, by the names of the properties that such a reference has.
    named: BTreeMap<(String, String), (usize, String)>,
}

impl References {
    pub(super) fn of<'a>(
        all: &[(Existing, Map)],
        schema: &dyn Fn(&TypeToken) -> Option<&'a TypeSchema>,
    ) -> References {
        let mut references = References::default();
        let mut by_own_name = Vec::new();
        for (at, (existing, outputs)) in all.iter().enumerate() {
            let (ty, identifier) = (&existing.import.ty, existing.import.id.as_str());
            for (name, value) in outputs {
                let Some(text) = value.as_str().filter(|text| !text.is_empty()) else { continue };
                let settable =
                    schema(ty).and_then(|schema| schema.property(name)).is_some_and(|p| p.settable());
                let target = (at, name.to_string());
                // A property that can be set may itself refer to another resource.
                if !settable && (text.starts_with("arn:") || text == identifier) {
                    references.unique.entry(text.to_owned()).or_insert(target);
                } else if text == identifier {
                    let class = (class_of(ty).to_owned(), text.to_owned());
                    references.named.entry(class).or_insert(target.clone());
                    by_own_name.push(((name.to_string(), text.to_owned()), target));
                }
            }
        }
        // `Bucket` of a policy is a bucket, although it identifies the policy as well.
        for (key, target) in by_own_name {
            references.named.entry(key).or_insert(target);
        }
        references
    }

    /// Returns the resource that a string leads to, the property, and the part of the string that is its value.
    fn find(&self, key: &str, text: &str) -> Option<(usize, &str, &str)> {
        if let Some((value, (at, property))) = self.unique.get_key_value(text) {
            return Some((*at, property, value));
        }
        if let Some(((_, value), (at, property))) =
            self.named.get_key_value(&(key.to_owned(), text.to_owned()))
        {
            return Some((*at, property, value));
        }
        // An ARN with something behind it, such as `arn:aws:s3:::uploads/*`.
        let mut cuts = text.match_indices(['/', ':']).map(|(at, _)| at).collect::<Vec<_>>();
        cuts.reverse();
        cuts.into_iter().filter(|_| text.starts_with("arn:")).find_map(|cut| {
            let (value, (at, property)) = self.unique.get_key_value(text.get(..cut)?)?;
            Some((*at, property.as_str(), value.as_str()))
        })
    }
}

/// Orders resources so that each comes after the resources that it refers to. A reference that would close a circle is left out.
pub(super) fn ordered(all: Vec<(Existing, Map)>, references: &References) -> Vec<Existing> {
    let links: Vec<Vec<(usize, Reference)>> = all
        .iter()
        .enumerate()
        .map(|(own, (existing, _))| {
            let mut found = Vec::new();
            let mut visit = |key: &str, text: &str| {
                let Some((at, property, value)) = references.find(key, text).filter(|(at, ..)| *at != own)
                else {
                    return;
                };
                let target: &Existing = &all[at].0;
                if target.incomplete.is_none() {
                    let (key, text, value) = (key.to_owned(), text.to_owned(), value.to_owned());
                    let (variable, property) = (target.variable.clone(), property.to_owned());
                    found.push((at, Reference { key, text, variable, property, value }));
                }
            };
            existing.inputs.iter().for_each(|(name, value)| strings(name, value, &mut visit));
            found
        })
        .collect();
    let (mut order, mut state) = (Vec::new(), vec![Visit::New; all.len()]);
    (0..all.len()).for_each(|at| visit(at, &links, &mut state, &mut order));
    let mut place = vec![0; all.len()];
    order.iter().enumerate().for_each(|(position, at)| place[*at] = position);
    let mut done: Vec<(usize, Existing)> = all
        .into_iter()
        .enumerate()
        .map(|(at, (existing, _))| {
            let earlier = links[at].iter().filter(|(to, _)| place[*to] < place[at]);
            let references = earlier.map(|(_, reference)| reference.clone()).collect();
            (place[at], Existing { references, ..existing })
        })
        .collect();
    done.sort_by_key(|(position, _)| *position);
    done.into_iter().map(|(_, existing)| existing).collect()
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Visit {
    New,
    Begun,
}

/// Adds a resource to the order after its references. The chains of references are as deep as those of the services.
fn visit(at: usize, links: &[Vec<(usize, Reference)>], state: &mut [Visit], order: &mut Vec<usize>) {
    // Each entry is a resource, and the number of its links that were followed.
    let mut stack = vec![(at, 0)];
    while let Some((at, next)) = stack.pop() {
        if next == 0 {
            if state[at] == Visit::Begun {
                continue;
            }
            state[at] = Visit::Begun;
        }
        match links[at].get(next) {
            Some((to, _)) => {
                stack.push((at, next + 1));
                if state[*to] == Visit::New {
                    stack.push((*to, 0));
                }
            }
            None => order.push(at),
        }
    }
}

/// Visits every string of a value, with the name of the property that has it.
fn strings(key: &str, value: &Value, visit: &mut impl FnMut(&str, &str)) {
    match value {
        Value::String(text) => visit(key, text),
        Value::List(items) => items.iter().for_each(|item| strings(key, item, visit)),
        Value::Map(map) => map.iter().for_each(|(name, item)| strings(name, item, visit)),
        _ => {}
    }
}
