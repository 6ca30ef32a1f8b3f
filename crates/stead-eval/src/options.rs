//! The second argument of a resource.

use rquickjs::{Value, object::Filter};
use stead_model::{NodeId, check_id, nearest};

use crate::walk::{World, length_of};

/// Options as the program gave them.
#[derive(Debug, Default)]
pub(crate) struct Given {
    pub(crate) id: Option<String>,
    pub(crate) gid: Option<String>,
    pub(crate) depends_on: Vec<NodeId>,
    pub(crate) prevent_delete: Option<bool>,
    pub(crate) delete_before_replace: Option<bool>,
    pub(crate) problems: Vec<BadOption>,
}

/// What is wrong with one option.
#[derive(Debug, PartialEq)]
pub(crate) struct BadOption {
    pub(crate) option: String,
    pub(crate) message: String,
    pub(crate) help: Option<String>,
}

/// Longer lists than this have holes, which are reported.
const MAX_DEPENDENCIES: usize = 1 << 20;

const KNOWN: &[&str] = &["id", "gid", "dependsOn", "preventDelete", "deleteBeforeReplace"];

pub(crate) fn read<'js>(world: &World<'js>, options: &Value<'js>) -> rquickjs::Result<Given> {
    let mut given = Given::default();
    if options.is_undefined() {
        return Ok(given);
    }
    let Some(object) = options.as_object().filter(|object| world.is_plain(options, object)) else {
        given.problem("options", "the options of a resource are a plain object".to_owned(), None);
        return Ok(given);
    };
    for property in object.own_props::<String, Value<'js>>(Filter::new().string().enum_only()) {
        let (key, value) = property?;
        if !value.is_undefined() {
            given.option(world, &key, &value)?;
        }
    }
    if given.id.is_some() && given.gid.is_some() {
        let help = "a `gid` is the whole name; leave `id` out".to_owned();
        given.problem("gid", "a resource has an `id` or a `gid`, not both".to_owned(), Some(help));
    }
    Ok(given)
}

/// The first argument of a group.
pub(crate) fn read_group_id(given: &mut Given, id: &Value<'_>) {
    if id.is_undefined() {
        return;
    }
    if given.id.is_some() {
        given.problem("id", "the id of a group is given twice".to_owned(), None);
    }
    given.id = given.text("id", id);
}

impl Given {
    fn option<'js>(&mut self, world: &World<'js>, key: &str, value: &Value<'js>) -> rquickjs::Result<()> {
        match key {
            "id" => self.id = self.text(key, value),
            "gid" => self.gid = self.text(key, value),
            "preventDelete" => self.prevent_delete = self.flag(key, value),
            "deleteBeforeReplace" => self.delete_before_replace = self.flag(key, value),
            "dependsOn" => self.dependencies(world, value)?,
            unknown => {
                let help = match nearest(unknown, KNOWN.iter().copied()) {
                    Some(meant) => format!("did you mean `{meant}`?"),
                    None => format!("there are: {}", KNOWN.join(", ")),
                };
                self.problem(unknown, format!("there is no resource option `{unknown}`"), Some(help));
            }
        }
        Ok(())
    }

    fn text(&mut self, key: &str, value: &Value<'_>) -> Option<String> {
        let Some(text) = value.as_string().and_then(|text| text.to_string().ok()) else {
            self.problem(key, format!("`{key}` must be a string that the program knows"), None);
            return None;
        };
        if let Err(error) = check_id(&text) {
            self.problem(key, format!("`{key}`: {error}"), None);
            return None;
        }
        Some(text)
    }

    fn flag(&mut self, key: &str, value: &Value<'_>) -> Option<bool> {
        if value.as_bool().is_none() {
            self.problem(key, format!("`{key}` must be true or false"), None);
        }
        value.as_bool()
    }

    fn dependencies<'js>(&mut self, world: &World<'js>, value: &Value<'js>) -> rquickjs::Result<()> {
        let mut all = Vec::new();
        match value.as_array() {
            Some(array) => {
                for index in 0..length_of(array)?.min(MAX_DEPENDENCIES) {
                    all.push(array.get::<Value<'js>>(index)?);
                }
            }
            None => all.push(value.clone()),
        }
        for item in all {
            let node: Value<'js> = world.node_of.call((item,))?;
            match node.as_int() {
                Some(node) => self.depends_on.push(NodeId(node as u32)),
                None => {
                    let help = "a property that comes from a resource orders the two by itself".to_owned();
                    let message = "`dependsOn` takes a resource, or a list of resources".to_owned();
                    self.problem("dependsOn", message, Some(help));
                }
            }
        }
        self.depends_on.sort();
        self.depends_on.dedup();
        Ok(())
    }

    fn problem(&mut self, option: &str, message: String, help: Option<String>) {
        self.problems.push(BadOption { option: option.to_owned(), message, help });
    }
}
