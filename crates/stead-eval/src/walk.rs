//! From JavaScript values to inputs, without text in between.
//!
//! Only plain data and unknowns pass. Getters of the program may run, so the session must not be borrowed.

use std::collections::BTreeMap;

use rquickjs::object::{Filter, Property};
use rquickjs::{Array, Ctx, Function, IntoAtom, IntoJs, Object, Symbol, Type, Value};
use stead_model::{ExprId, Input, NodeId, Number, PropertyPath, Segment, Value as Plain};

/// What is known of the engine's world: how to tell unknowns, resources and plain objects apart.
#[derive(Clone)]
pub(crate) struct World<'js> {
    pub(crate) id_symbol: Symbol<'js>,
    pub(crate) node_of: Function<'js>,
    pub(crate) object_prototype: Object<'js>,
}

impl<'js> World<'js> {
    /// An object that a literal makes: no function, array or instance of a class.
    pub(crate) fn is_plain(&self, value: &Value<'js>, object: &Object<'js>) -> bool {
        let plain = || object.get_prototype().is_none_or(|prototype| prototype == self.object_prototype);
        !value.is_function() && !value.is_array() && plain()
    }
}

/// Why a value is not data.
#[derive(Debug, PartialEq)]
pub(crate) struct NotData {
    pub(crate) path: PropertyPath,
    pub(crate) message: String,
    pub(crate) help: Option<&'static str>,
    /// It is data, and too much of it.
    pub(crate) too_large: bool,
}

/// What becomes of a whole resource where data is wanted.
pub(crate) type Expand<'a> = &'a dyn Fn(i32) -> Option<Input>;

pub(crate) struct Walker<'js, 'a> {
    world: &'a World<'js>,
    expand: Option<Expand<'a>>,
    path: Vec<Segment>,
    around: Vec<Object<'js>>,
    /// Bytes of JSON that may still come, roughly.
    budget: usize,
    /// The current property is too large; that was said once.
    exhausted: bool,
    /// Bytes of JSON that came, roughly.
    pub(crate) spent: usize,
    /// The resources that stand for their properties.
    pub(crate) resources: Vec<NodeId>,
    pub(crate) problems: Vec<NotData>,
}

const MAX_DEPTH: usize = stead_model::MAX_NESTING;
/// A list with holes has as many problems as holes.
const MAX_PROBLEMS: usize = 20;

impl<'js, 'a> Walker<'js, 'a> {
    pub(crate) fn new(world: &'a World<'js>, budget: usize, expand: Option<Expand<'a>>) -> Walker<'js, 'a> {
        Walker {
            world,
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

    /// The properties of a resource. Each may take `property_bytes`, all together what the walker was given.
    pub(crate) fn inputs(
        &mut self,
        object: &Object<'js>,
        property_bytes: usize,
    ) -> rquickjs::Result<BTreeMap<String, Input>> {
        let mut inputs = BTreeMap::new();
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
            inputs.extend(input.map(|input| (key, input)));
        }
        Ok(inputs)
    }

    fn members(&mut self, object: &Object<'js>) -> rquickjs::Result<BTreeMap<String, Input>> {
        let mut members = BTreeMap::new();
        for property in object.own_props::<String, Value<'js>>(Filter::new().string().enum_only()) {
            let (key, value) = property?;
            if value.is_undefined() {
                continue;
            }
            self.path.push(Segment::Key(key));
            let input = if self.spend(1) { self.input(&value)? } else { None };
            if let (Some(Segment::Key(key)), Some(input)) = (self.path.pop(), input) {
                self.spend(key.len() + 4);
                members.insert(key, input);
            }
        }
        Ok(members)
    }

    /// The input for a value; `None` if it is none, with the reason in `problems`.
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
                    return self.refuse(format!("{name} is not a number that can be stored"), None);
                }
            }
        } else if let Some(text) = value.as_string() {
            match text.to_string() {
                Ok(text) => Plain::String(text),
                Err(_) => return self.refuse("text with half a character in it".to_owned(), None),
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
            let id: Value<'js> = object.get(self.world.id_symbol.as_atom())?;
            return match id.as_int() {
                Some(id) => Ok(self.spend(16).then_some(Input::Deferred(ExprId(id as u32)))),
                None => {
                    self.refuse("a function is not data".to_owned(), Some("call it, and pass its result"))
                }
            };
        }
        if self.around.contains(object) {
            return self.refuse("it contains itself".to_owned(), None);
        }
        if self.around.len() >= MAX_DEPTH {
            return self.refuse(format!("it is nested deeper than {MAX_DEPTH} levels"), None);
        }
        if let Some(array) = value.as_array() {
            self.around.push(object.clone());
            let items = self.items(array);
            self.around.pop();
            return items;
        }
        if !self.world.is_plain(value, object) {
            return self.instance(value, object);
        }
        self.around.push(object.clone());
        let members = self.members(object);
        self.around.pop();
        Ok(Some(Input::map(members?)))
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
        Ok(Some(Input::list(items)))
    }

    fn instance(&mut self, value: &Value<'js>, object: &Object<'js>) -> rquickjs::Result<Option<Input>> {
        let node: Value<'js> = self.world.node_of.call((value.clone(),))?;
        if let Some(node) = node.as_int() {
            if let Some(input) = self.expand.and_then(|expand| expand(node)) {
                self.resources.push(NodeId(node.unsigned_abs()));
                return Ok(Some(input));
            }
            let help = "pass one of its properties; to wait for it, use the option `dependsOn`";
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
            let message = "it is larger than a property may be".to_owned();
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

/// The engine binding's own `len` fails for what does not fit 31 bits.
pub(crate) fn length_of(array: &Array<'_>) -> rquickjs::Result<usize> {
    array.as_object().get::<_, f64>("length").map(|length| length as usize)
}

fn class_name(object: &Object<'_>) -> Option<String> {
    let constructor: Object<'_> = object.get_prototype()?.get("constructor").ok()?;
    constructor.get::<_, String>("name").ok().filter(|name| !name.is_empty())
}

/// Gives an object a property, whatever the program put into the prototypes: a setter there must not see it.
pub(crate) fn define<'js>(
    object: &Object<'js>,
    key: impl IntoAtom<'js>,
    value: impl IntoJs<'js>,
) -> rquickjs::Result<()> {
    object.prop(key, Property::from(value).writable().enumerable().configurable())
}

/// A plain value as the program sees it.
pub(crate) fn to_js<'js>(ctx: &Ctx<'js>, value: &Plain) -> rquickjs::Result<Value<'js>> {
    Ok(match value {
        Plain::Null => Value::new_null(ctx.clone()),
        Plain::Bool(flag) => Value::new_bool(ctx.clone(), *flag),
        Plain::Number(number) => Value::new_number(ctx.clone(), number.as_f64()),
        Plain::String(text) => rquickjs::String::from_str(ctx.clone(), text)?.into_value(),
        Plain::List(items) => {
            let array = Array::new(ctx.clone())?;
            for (index, item) in items.iter().enumerate() {
                define(&array, index as u32, to_js(ctx, item)?)?;
            }
            array.into_value()
        }
        Plain::Map(map) => {
            let object = Object::new(ctx.clone())?;
            for (key, item) in map {
                // Not `set`: a key may be `__proto__`.
                let item = Property::from(to_js(ctx, item)?).writable().enumerable().configurable();
                object.prop(key.as_str(), item)?;
            }
            object.into_value()
        }
    })
}
