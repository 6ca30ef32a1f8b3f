//! JavaScript's rules for values: members, truth, `+`, text and JSON.
//!
//! Every function gives the result of the language or an error, never a value in its place.

use crate::{BLINDED, Computed, Key, MAX_DEFERRED_BYTES, Number, Value};

/// The reason why an operation has no result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Trouble {
    /// The receiver is `null` or `undefined`.
    NoReceiver(&'static str),
    /// The member is a function of the language, which is not data.
    IsMethod,
    /// The index is in the middle of a character.
    HalfCharacter,
    /// The result would exceed the size limit of a deferred value.
    TooLarge,
}

/// A kind of value that has methods.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ValueKind {
    Boolean,
    Number,
    String,
    List,
    Map,
}

const OF_ALL: &str = "constructor hasOwnProperty isPrototypeOf propertyIsEnumerable toLocaleString toString valueOf \
    __defineGetter__ __defineSetter__ __lookupGetter__ __lookupSetter__ __proto__";
const OF_NUMBER: &str = "toExponential toFixed toPrecision";
const OF_STRING: &str = "anchor at big blink bold charAt charCodeAt codePointAt concat endsWith fixed fontcolor fontsize includes \
    indexOf isWellFormed italics lastIndexOf link localeCompare match matchAll normalize padEnd padStart repeat replace \
    replaceAll search slice small split startsWith strike sub substr substring sup toLocaleLowerCase toLocaleUpperCase \
    toLowerCase toUpperCase toWellFormed trim trimEnd trimLeft trimRight trimStart";
const OF_LIST: &str = "at concat copyWithin entries every fill filter find findIndex findLast findLastIndex flat flatMap forEach \
    includes indexOf join keys lastIndexOf map pop push reduce reduceRight reverse shift slice some sort splice toReversed \
    toSorted toSpliced unshift values with";

impl ValueKind {
    /// Returns true if every value of this kind has the method.
    pub fn has_method(self, name: &str) -> bool {
        let own = match self {
            ValueKind::Boolean | ValueKind::Map => "",
            ValueKind::Number => OF_NUMBER,
            ValueKind::String => OF_STRING,
            ValueKind::List => OF_LIST,
        };
        lists(own, name) || lists(OF_ALL, name)
    }

    /// Returns the names of all methods of this kind.
    pub fn methods(self) -> impl Iterator<Item = &'static str> {
        let own = match self {
            ValueKind::Boolean | ValueKind::Map => "",
            ValueKind::Number => OF_NUMBER,
            ValueKind::String => OF_STRING,
            ValueKind::List => OF_LIST,
        };
        own.split_whitespace().chain(["toString", "toLocaleString", "hasOwnProperty"])
    }
}

fn lists(names: &str, name: &str) -> bool {
    names.split_whitespace().any(|listed| listed == name)
}

/// Returns `of[key]`. A member that is not there is `undefined`.
pub(crate) fn member(of: &Computed, key: &Key) -> Result<Computed, Trouble> {
    let found = match of {
        Computed::Undefined(_) => return Err(Trouble::NoReceiver("undefined")),
        Computed::Data(Value::Null) => return Err(Trouble::NoReceiver("null")),
        Computed::Data(Value::Map(map)) => {
            map.get(name_of(key).as_ref()).map(|value| Computed::Data(value.clone()))
        }
        Computed::Map(map) => map.get(name_of(key).as_ref()).cloned(),
        Computed::Data(Value::List(items)) => match key {
            Key::Index(index) => items.get(*index).map(|item| Computed::Data(item.clone())),
            Key::Name(name) => (name == "length").then(|| Computed::number(items.len() as f64)),
        },
        Computed::List(items) => match key {
            Key::Index(index) => items.get(*index).cloned(),
            Key::Name(name) => (name == "length").then(|| Computed::number(items.len() as f64)),
        },
        Computed::Data(Value::String(text)) => match key {
            Key::Index(index) => match text.encode_utf16().nth(*index) {
                Some(unit) => {
                    let character = char::from_u32(unit.into()).ok_or(Trouble::HalfCharacter)?;
                    Some(Value::from(character.to_string()).into())
                }
                None => None,
            },
            Key::Name(name) => {
                (name == "length").then(|| Computed::number(text.encode_utf16().count() as f64))
            }
        },
        // The resolver reveals secrets before it computes with them.
        Computed::Data(Value::Bool(_) | Value::Number(_) | Value::Secret(_)) | Computed::Number(_) => None,
    };
    match found {
        Some(found) => Ok(found),
        None if kind(of).is_some_and(|kind| kind.has_method(&name_of(key))) => Err(Trouble::IsMethod),
        None => Ok(Computed::Undefined(None)),
    }
}

fn name_of(key: &Key) -> std::borrow::Cow<'_, str> {
    match key {
        Key::Index(index) => index.to_string().into(),
        Key::Name(name) => name.as_str().into(),
    }
}

fn kind(value: &Computed) -> Option<ValueKind> {
    Some(match value {
        Computed::Undefined(_) | Computed::Data(Value::Null | Value::Secret(_)) => return None,
        Computed::Data(Value::Bool(_)) => ValueKind::Boolean,
        Computed::Data(Value::Number(_)) | Computed::Number(_) => ValueKind::Number,
        Computed::Data(Value::String(_)) => ValueKind::String,
        Computed::Data(Value::List(_)) | Computed::List(_) => ValueKind::List,
        Computed::Data(Value::Map(_)) | Computed::Map(_) => ValueKind::Map,
    })
}

pub(crate) fn is_truthy(value: &Computed) -> bool {
    match value {
        Computed::Undefined(_) | Computed::Data(Value::Null) => false,
        Computed::Data(Value::Bool(flag)) => *flag,
        Computed::Data(Value::Number(number)) => number.as_f64() != 0.0,
        Computed::Data(Value::String(text)) => !text.is_empty(),
        Computed::Number(number) => *number != 0.0 && !number.is_nan(),
        Computed::Data(Value::List(_) | Value::Map(_) | Value::Secret(_))
        | Computed::List(_)
        | Computed::Map(_) => true,
    }
}

/// Returns `left + right` of numbers, or `None` if `+` joins the operands as text.
pub(crate) fn sum(left: &Computed, right: &Computed) -> Option<Computed> {
    Some(Computed::number(addend(left)? + addend(right)?))
}

fn addend(value: &Computed) -> Option<f64> {
    match value {
        Computed::Data(Value::Number(number)) => Some(number.as_f64()),
        Computed::Data(Value::Bool(flag)) => Some(f64::from(u8::from(*flag))),
        Computed::Data(Value::Null) => Some(0.0),
        Computed::Number(number) => Some(*number),
        Computed::Undefined(_) => Some(f64::NAN),
        _ => None,
    }
}

/// Appends `String(value)`. Fails before the text exceeds the size limit.
pub(crate) fn push_text(out: &mut String, value: &Computed) -> Result<(), Trouble> {
    match value {
        Computed::Undefined(_) => push(out, "undefined"),
        Computed::Number(number) => push(out, special(*number)),
        Computed::List(items) => joined(out, items.iter(), |out, item| {
            if item.is_undefined() || item.as_data() == Some(&Value::Null) {
                return Ok(());
            }
            push_text(out, item)
        }),
        Computed::Map(_) => push(out, "[object Object]"),
        Computed::Data(value) => push_data(out, value),
    }
}

fn push_data(out: &mut String, value: &Value) -> Result<(), Trouble> {
    match value {
        Value::Null => push(out, "null"),
        Value::Bool(flag) => push(out, if *flag { "true" } else { "false" }),
        Value::Number(number) => push(out, &number.to_string()),
        Value::String(text) => push(out, text),
        Value::List(items) => joined(out, items.iter(), |out, item| match item {
            Value::Null => Ok(()),
            item => push_data(out, item),
        }),
        Value::Map(_) => push(out, "[object Object]"),
        Value::Secret(_) => push(out, BLINDED),
    }
}

fn joined<T>(
    out: &mut String,
    items: impl Iterator<Item = T>,
    mut each: impl FnMut(&mut String, T) -> Result<(), Trouble>,
) -> Result<(), Trouble> {
    for (index, item) in items.enumerate() {
        if index > 0 {
            push(out, ",")?;
        }
        each(out, item)?;
    }
    Ok(())
}

pub(crate) fn push(out: &mut String, text: &str) -> Result<(), Trouble> {
    if out.len() + text.len() > MAX_DEFERRED_BYTES {
        return Err(Trouble::TooLarge);
    }
    out.push_str(text);
    Ok(())
}

fn special(number: f64) -> &'static str {
    if number.is_nan() {
        "NaN"
    } else if number == 0.0 {
        "0"
    } else if number > 0.0 {
        "Infinity"
    } else {
        "-Infinity"
    }
}

/// Returns `JSON.stringify(value, null, indent)`: `None` for `undefined`.
pub(crate) fn json(value: &Computed, indent: u8) -> Result<Option<String>, Trouble> {
    if value.is_undefined() {
        return Ok(None);
    }
    let mut writer = JsonWriter { out: String::new(), indent: usize::from(indent), depth: 0 };
    writer.value(value)?;
    Ok(Some(writer.out))
}

struct JsonWriter {
    out: String,
    indent: usize,
    depth: usize,
}

impl JsonWriter {
    fn value(&mut self, value: &Computed) -> Result<(), Trouble> {
        match value {
            Computed::Data(value) => self.data(value),
            Computed::Undefined(_) => push(&mut self.out, "null"),
            Computed::Number(number) if *number == 0.0 => push(&mut self.out, "0"),
            Computed::Number(_) => push(&mut self.out, "null"),
            Computed::List(items) => self.container(('[', ']'), items.iter(), Self::value),
            Computed::Map(members) => {
                let members = members.iter().filter(|(_, member)| !member.is_undefined());
                self.members(members.map(|(key, member)| (key.as_str(), member)).collect(), Self::value)
            }
        }
    }

    fn data(&mut self, value: &Value) -> Result<(), Trouble> {
        match value {
            Value::Null => push(&mut self.out, "null"),
            Value::Bool(flag) => push(&mut self.out, if *flag { "true" } else { "false" }),
            Value::Number(number) => push(&mut self.out, &number.to_string()),
            Value::String(text) => self.quoted(text),
            Value::List(items) => self.container(('[', ']'), items.iter(), Self::data),
            Value::Map(map) => {
                self.members(map.iter().map(|(key, member)| (key.as_str(), member)).collect(), Self::data)
            }
            Value::Secret(_) => self.quoted(BLINDED),
        }
    }

    fn members<T>(
        &mut self,
        mut members: Vec<(&str, T)>,
        write: impl Fn(&mut Self, T) -> Result<(), Trouble>,
    ) -> Result<(), Trouble> {
        // The language lists keys that are indexes first, in the order of their numbers.
        members.sort_by_key(|(key, _)| index_key(key).map_or((1, 0), |index| (0, index)));
        self.container(('{', '}'), members.into_iter(), |writer, (key, member)| {
            writer.quoted(key)?;
            push(&mut writer.out, if writer.indent == 0 { ":" } else { ": " })?;
            write(writer, member)
        })
    }

    fn container<T>(
        &mut self,
        (open, close): (char, char),
        items: impl ExactSizeIterator<Item = T>,
        write: impl Fn(&mut Self, T) -> Result<(), Trouble>,
    ) -> Result<(), Trouble> {
        self.out.push(open);
        self.depth += 1;
        let empty = items.len() == 0;
        for (index, item) in items.enumerate() {
            if index > 0 {
                push(&mut self.out, ",")?;
            }
            self.line()?;
            write(self, item)?;
        }
        self.depth -= 1;
        if !empty {
            self.line()?;
        }
        self.out.push(close);
        Ok(())
    }

    fn line(&mut self) -> Result<(), Trouble> {
        if self.indent == 0 {
            return Ok(());
        }
        push(&mut self.out, "\n")?;
        push(&mut self.out, &" ".repeat(self.indent * self.depth))
    }

    fn quoted(&mut self, text: &str) -> Result<(), Trouble> {
        // A string is always serializable.
        push(&mut self.out, &serde_json::to_string(text).unwrap_or_default())
    }
}

fn index_key(key: &str) -> Option<u32> {
    let index: u32 = key.parse().ok()?;
    (index < u32::MAX && index.to_string() == key).then_some(index)
}

/// Returns the name of a number that data cannot hold; `None` for negative zero, which data holds as zero.
pub(crate) fn unstorable(number: f64) -> Option<&'static str> {
    (number != 0.0).then(|| special(number))
}

/// Returns zero, the data of negative zero.
pub(crate) fn zero() -> Value {
    Value::Number(Number::Int(0))
}
