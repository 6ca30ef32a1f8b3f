//! The declarations for one type: its inputs, and the resources that the inputs refer to.

use std::sync::OnceLock;

use stead_cloud::{Sampler, creatable, update};
use stead_model::{Input, Map, PropertyPath, Segment, TypeToken, Value};
use stead_schema::cfn::{Class, Schema};
use stead_schema::{Catalog, Shape, TypeSchema};

use crate::best_patch::perfect_patch;

/// Alternatives of a schema that are tried for inputs.
const ALTERNATIVES: usize = 8;
/// Properties that protect a resource from deletion, and their value without protection.
pub(crate) const PROTECTION: [&str; 2] = ["DeletionProtection", "DeletionProtectionEnabled"];

/// A declared resource.
#[derive(Clone)]
pub(crate) struct Declared {
    /// Constant in the program, and id of the resource.
    pub(crate) id: String,
    pub(crate) ty: TypeToken,
    pub(crate) inputs: Map,
    pub(crate) links: Vec<Link>,
}

/// A string of the inputs that names another resource.
#[derive(Clone)]
pub(crate) struct Link {
    pub(crate) path: PropertyPath,
    /// Id of the other resource.
    pub(crate) to: String,
    pub(crate) property: &'static str,
    /// Text before the value.
    pub(crate) prefix: &'static str,
}

/// Everything that is declared for one type. The resource of the type is the last.
pub(crate) struct Subject {
    pub(crate) all: Vec<Declared>,
}

/// How many optional properties the inputs have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Size {
    Required,
    Some,
    All,
}

impl Size {
    fn optional(self) -> usize {
        match self {
            Size::Required => 0,
            Size::Some => 5,
            Size::All => usize::MAX,
        }
    }
}

pub(crate) fn catalog() -> &'static Catalog {
    static CATALOG: OnceLock<Catalog> = OnceLock::new();
    CATALOG.get_or_init(|| Catalog::default().with_published())
}

pub(crate) fn schema_of(ty: &TypeSchema) -> &Schema {
    match ty.properties.first().map(|property| &property.shape) {
        Some(Shape::Published(published)) => &published.schema,
        _ => panic!("{} is no published type", ty.token),
    }
}

impl Declared {
    pub(crate) fn ty(&self) -> &'static TypeSchema {
        catalog().get(&self.ty).unwrap()
    }

    pub(crate) fn schema(&self) -> &'static Schema {
        schema_of(self.ty())
    }

    /// Returns true if a property contains a reference.
    pub(crate) fn is_linked(&self, property: &str) -> bool {
        self.links.iter().any(|link| link.path.root() == Some(property))
    }
}

impl Subject {
    pub(crate) fn new(ty: &TypeToken, size: Size) -> Result<Subject, String> {
        let mut all = Vec::new();
        declare(ty, "it", size, &mut all)?;
        Ok(Subject { all })
    }

    pub(crate) fn it(&self) -> &Declared {
        self.all.last().unwrap()
    }
}

/// Adds a resource after its references.
fn declare(ty: &TypeToken, id: &str, size: Size, all: &mut Vec<Declared>) -> Result<(), String> {
    let published = catalog().get(ty).ok_or_else(|| format!("no type {ty}"))?;
    let mut inputs = inputs(published, size)?;
    let mut links = Vec::new();
    for row in references().iter().filter(|row| row.holder == schema_of(published).type_name) {
        let path: Vec<&str> = row.path.split('/').collect();
        let Some(path) = only(&mut inputs, &path) else { continue };
        if links.iter().any(|link: &Link| link.path == path) {
            continue;
        }
        let held = stead_schema::token_of(row.held).unwrap();
        let to = match all.iter().find(|declared| declared.ty == held && declared.id != id) {
            Some(known) => known.id.clone(),
            None => {
                let to = held.as_str().replace('.', "_");
                declare(&held, &to, Size::Required, all)?;
                all.last().unwrap().id.clone()
            }
        };
        links.push(Link { path, to, property: row.property, prefix: row.prefix });
    }
    all.push(Declared { id: id.to_owned(), ty: ty.clone(), inputs, links });
    Ok(())
}

/// Returns inputs that both stead and the service accept, from the first alternative whose resource can also be updated.
fn inputs(ty: &TypeSchema, size: Size) -> Result<Map, String> {
    let schema = schema_of(ty);
    let (mut fallback, mut why) = (None, "no alternative".to_owned());
    for arm in 0..ALTERNATIVES {
        let mut sampler = Sampler::new(schema);
        (sampler.arm, sampler.optional, sampler.plain_elements) = (arm, size.optional(), 1);
        let desired = unprotected(sampler.desired(), schema);
        let known = desired.iter().map(|(name, value)| (name.clone(), Input::Known(value.clone()))).collect();
        if let Some(problem) = stead_schema::check(ty, &known).into_iter().next() {
            why = format!("stead refuses the inputs: {}", problem.message);
            continue;
        }
        match stead_cloud::create(schema, &desired) {
            Err(rejection) => why = rejection.to_string(),
            Ok(full) if schema.handlers.update.is_none() => {
                drop(full);
                return Ok(desired);
            }
            Ok(full) => match update(schema, &full, &perfect_patch(schema, &full, &full)) {
                Ok(_) => return Ok(desired),
                Err(_) => drop(fallback.get_or_insert(desired)),
            },
        }
    }
    fallback.ok_or(why)
}

/// Turns the protection from deletion off, which guards of the service would mind.
fn unprotected(mut inputs: Map, schema: &Schema) -> Map {
    for name in PROTECTION {
        let off = match inputs.get(name) {
            Some(Value::Bool(_)) => Value::Bool(false),
            Some(Value::String(_)) => {
                let other = |form: &stead_schema::cfn::Form| {
                    let off = |choice: &&Value| !matches!(choice.as_str(), Some("ACTIVE" | "ENABLED"));
                    form.choices.iter().find(off).cloned()
                };
                let form = schema.member(Schema::ROOT, name).unwrap();
                schema.find(form, &mut Vec::new(), &other).unwrap()
            }
            _ => continue,
        };
        inputs.insert(name, off);
    }
    inputs
}

/// Returns the path of the string that a pattern leads to. A list on the way keeps only the element that is linked.
fn only(inputs: &mut Map, pattern: &[&str]) -> Option<PropertyPath> {
    let mut whole = Value::Map(inputs.clone());
    let path = cut(&mut whole, pattern)?;
    match whole {
        Value::Map(map) => *inputs = map,
        _ => return None,
    }
    Some(PropertyPath(path))
}

fn cut(value: &mut Value, pattern: &[&str]) -> Option<Vec<Segment>> {
    let Some((first, rest)) = pattern.split_first() else {
        return value.as_str().map(|_| Vec::new());
    };
    let (segment, inner) = match value {
        Value::List(items) if *first == "*" => {
            let mut one = items.first()?.clone();
            let inner = cut(&mut one, rest)?;
            *value = Value::from(vec![one]);
            (Segment::Index(0), inner)
        }
        Value::Map(map) => {
            let mut inside = map.get(*first)?.clone();
            let inner = cut(&mut inside, rest)?;
            map.insert(*first, inside);
            (Segment::Key((*first).to_owned()), inner)
        }
        _ => return None,
    };
    Some(std::iter::once(segment).chain(inner).collect())
}

/// A row of the cloud's table of references.
struct Row {
    holder: &'static str,
    path: &'static str,
    held: &'static str,
    property: &'static str,
    prefix: &'static str,
}

fn references() -> &'static [Row] {
    static ROWS: OnceLock<Vec<Row>> = OnceLock::new();
    ROWS.get_or_init(|| {
        let table = include_str!("../../../stead-cloud/data/references.txt");
        let lines = table.lines().filter(|line| !line.starts_with('#'));
        let row = |line: &'static str| {
            let cells: Vec<&str> = line.split(" | ").map(str::trim).collect();
            let prefix = cells[4].strip_suffix("{}").unwrap_or_default();
            Row { holder: cells[0], path: cells[1], held: cells[2], property: cells[3], prefix }
        };
        lines.map(row).collect()
    })
}

/// Returns true if a class covers a property or a part of it.
pub(crate) fn reaches(schema: &Schema, class: Class, property: &str) -> bool {
    schema.classes.of(class).cursor().key(property).reaches()
}

/// Returns true if the service would create a resource with these inputs, and stead would accept them.
pub(crate) fn is_accepted(ty: &TypeSchema, inputs: &Map) -> bool {
    let known = inputs.iter().map(|(name, value)| (name.clone(), Input::Known(value.clone()))).collect();
    stead_schema::check(ty, &known).is_empty() && creatable(schema_of(ty), inputs).is_ok()
}
