//! Reads JavaScript values as inputs of the graph: plain data and unknowns.
//!
//! **Invariant:** the session is not borrowed while a reader runs, because getters of the program may run.

use rquickjs::object::Filter;
use rquickjs::{Array, Object, Type, Value};
use stead_model::{ExprId, Input, Inputs, NodeId, Number, PropertyPath, Segment, Value as Plain};

use crate::engine::values::{Intrinsics, length_of};

/// Error of a value that cannot be an input.
#[derive(Debug, PartialEq)]
pub(crate) struct NotData {
    pub(crate) path: PropertyPath,
    pub(crate) message: String,
    pub(crate) help: Option<&'static str>,
    /// The value is data and exceeds the size limit.
    pub(crate) too_large: bool,
}

/// Returns the properties of a resource that is used as a value; `None` if it has none.
pub(crate) type Expand<'a> = &'a dyn Fn(i32) -> Option<Input>;

/// Reads values and collects errors, with a budget for their size.
pub(crate) struct InputReader<'js, 'a> {
    intrinsics: &'a Intrinsics<'js>,
    expand: Option<Expand<'a>>,
    path: Vec<Segment>,
    around: Vec<Object<'js>>,
    /// Remaining size, in approximate bytes of JSON.
    budget: usize,
    /// The current property exceeds its size limit, and the error is already recorded.
    exhausted: bool,
    /// Size read so far, in approximate bytes of JSON.
    pub(crate) spent: usize,
    /// Resources that were used as values.
    pub(crate) resources: Vec<NodeId>,
    pub(crate) problems: Vec<NotData>,
}

const MAX_DEPTH: usize = stead_model::MAX_NESTING;
/// Maximum number of errors. A sparse list has one error for each hole.
const MAX_PROBLEMS: usize = 20;

impl<'js, 'a> InputReader<'js, 'a> {
    pub(crate) fn new(
        intrinsics: &'a Intrinsics<'js>,
        budget: usize,
        expand: Option<Expand<'a>>,
    ) -> InputReader<'js, 'a> {
        InputReader {
            intrinsics,
            expand,
            path: Vec::new(),
            around: Vec::new(),
            budget,
            exhausted: false,
            spent: 0,
            resources: Vec::new(),
            problems: Vec::new(),
        }
    }

    /// Reads the inputs of a resource, each up to `property_bytes` and all within the reader's budget.
    pub(crate) fn inputs(&mut self, object: &Object<'js>, property_bytes: usize) -> rquickjs::Result<Inputs> {
        let mut inputs = Vec::new();
        for property in object.own_props::<String, Value<'js>>(Filter::new().string().enum_only()) {
            let (key, value) = property?;
            if value.is_undefined() {
                continue;
            }
            let before = self.budget.min(property_bytes);
            let rest = self.budget - before;
            self.budget = before;
            self.exhausted = false;
            self.path.push(Segment::Key(key.clone()));
            let input = self.input(&value)?;
            self.path.pop();
            self.budget += rest;
            inputs.extend(input.map(|input| (self.intrinsics.pool.borrow_mut().key(&key), input)));
        }
        Ok(inputs.into_iter().collect())
    }

    fn members(&mut self, object: &Object<'js>) -> rquickjs::Result<Inputs> {
        let mut members = Vec::new();
        for property in object.own_props::<String, Value<'js>>(Filter::new().string().enum_only()) {
            let (key, value) = property?;
            if value.is_undefined() {
                continue;
            }
            self.path.push(Segment::Key(key));
            let input = if self.spend(1) { self.input(&value)? } else { None };
            if let (Some(Segment::Key(key)), Some(input)) = (self.path.pop(), input) {
                self.spend(key.len() + 4);
                members.push((self.intrinsics.pool.borrow_mut().key(&key), input));
            }
        }
        Ok(members.into_iter().collect())
    }

    /// Reads one value. Returns `None` for a value that is not data, with the error in `problems`.
    pub(crate) fn input(&mut self, value: &Value<'js>) -> rquickjs::Result<Option<Input>> {
        let plain = if value.is_null() {
            Plain::Null
        } else if let Some(flag) = value.as_bool() {
            Plain::Bool(flag)
        } else if let Some(number) = value.as_number() {
            match Number::from_f64(number) {
                Some(number) => Plain::Number(number),
                None => {
                    let name = if number.is_nan() { "NaN" } else { "Infinity" };
                    return self.refuse(format!("{name} cannot be stored"), None);
                }
            }
        } else if let Some(text) = value.as_string() {
            match text.to_string() {
                Ok(text) => Plain::String(self.intrinsics.pool.borrow_mut().text(&text)),
                Err(_) => return self.refuse("the text contains an unpaired surrogate".to_owned(), None),
            }
        } else if let Some(object) = value.as_object() {
            return self.object(value, object);
        } else {
            let kind = match value.type_of() {
                Type::Undefined => "undefined",
                Type::BigInt => "a bigint",
                Type::Symbol => "a symbol",
                _ => "this value",
            };
            return self.refuse(format!("{kind} is not data"), None);
        };
        let size = match &plain {
            Plain::String(text) => text.len() + 2,
            _ => 8,
        };
        Ok(self.spend(size).then_some(Input::Known(plain)))
    }

    fn object(&mut self, value: &Value<'js>, object: &Object<'js>) -> rquickjs::Result<Option<Input>> {
        if value.is_function() {
            let id: Value<'js> = object.get(self.intrinsics.id_symbol.as_atom())?;
            return match id.as_int() {
                Some(id) => Ok(self.spend(16).then_some(Input::Deferred(ExprId(id as u32)))),
                None => {
                    self.refuse("a function is not data".to_owned(), Some("call it, and pass its result"))
                }
            };
        }
        if self.around.contains(object) {
            return self.refuse("the value contains itself".to_owned(), None);
        }
        if self.around.len() >= MAX_DEPTH {
            return self.refuse(format!("the value is nested deeper than {MAX_DEPTH} levels"), None);
        }
        if let Some(array) = value.as_array() {
            self.around.push(object.clone());
            let items = self.items(array);
            self.around.pop();
            return items;
        }
        if !self.intrinsics.is_plain(value, object) {
            return self.instance(value, object);
        }
        self.around.push(object.clone());
        let members = self.members(object);
        self.around.pop();
        Ok(Some(self.shared(Input::map(members?))))
    }

    fn items(&mut self, array: &Array<'js>) -> rquickjs::Result<Option<Input>> {
        let length = length_of(array)?;
        let mut items = Vec::with_capacity(length.min(1024));
        for index in 0..length {
            if !self.spend(1) || self.problems.len() >= MAX_PROBLEMS {
                return Ok(None);
            }
            let item: Value<'js> = array.get(index)?;
            self.path.push(Segment::Index(index));
            let input = self.input(&item)?;
            self.path.pop();
            items.extend(input);
        }
        Ok(Some(self.shared(Input::list(items))))
    }

    /// Returns the value that was read before if an equal one was: programs pass one object to many resources.
    fn shared(&self, input: Input) -> Input {
        match input {
            Input::Known(value) => Input::Known(self.intrinsics.pool.borrow_mut().container(value)),
            deferred => deferred,
        }
    }

    fn instance(&mut self, value: &Value<'js>, object: &Object<'js>) -> rquickjs::Result<Option<Input>> {
        let node: Value<'js> = self.intrinsics.node_of.call((value.clone(),))?;
        if let Some(node) = node.as_int() {
            if let Some(input) = self.expand.and_then(|expand| expand(node)) {
                self.resources.push(NodeId(node.unsigned_abs()));
                return Ok(Some(input));
            }
            let help = "pass one of its properties; to depend on it, use the option `dependsOn`";
            return self.refuse("a whole resource is not data".to_owned(), Some(help));
        }
        let class = class_name(object).unwrap_or_else(|| "a class".to_owned());
        let help = match class.as_str() {
            "Map" => "use `Object.fromEntries(map)`",
            "Set" => "use `[...set]`",
            "Date" => "use `date.toISOString()`",
            "Promise" => "`await` it first",
            _ => "pass a plain object with the values that are needed",
        };
        self.refuse(format!("an instance of {class} is not data"), Some(help))
    }

    fn spend(&mut self, bytes: usize) -> bool {
        if bytes <= self.budget && !self.exhausted {
            self.budget -= bytes;
            self.spent += bytes;
            return true;
        }
        if !self.exhausted {
            self.exhausted = true;
            let path = PropertyPath(self.path.clone());
            let message = "the value exceeds the size limit of a property".to_owned();
            self.problems.push(NotData { path, message, help: None, too_large: true });
        }
        false
    }

    fn refuse(&mut self, message: String, help: Option<&'static str>) -> rquickjs::Result<Option<Input>> {
        if self.problems.len() < MAX_PROBLEMS {
            let path = PropertyPath(self.path.clone());
            self.problems.push(NotData { path, message, help, too_large: false });
        }
        Ok(None)
    }
}

fn class_name(object: &Object<'_>) -> Option<String> {
    let constructor: Object<'_> = object.get_prototype()?.get("constructor").ok()?;
    constructor.get::<_, String>("name").ok().filter(|name| !name.is_empty())
}
