//! `stead provider types | schema | patch`: lists types, shows their schemas, previews an update. Needs no project.

use std::path::Path;

use serde::Serialize;
use stead::local_catalog;
use stead_model::{Code, Diagnostic, Map, TypeToken, Value, nearest};
use stead_schema::cfn::{self, DigestKey, LastApplied, Schema, Update, UpdateInputs, bundle, patch_document};
use stead_schema::{Catalog, token_of};
use stead_world::World;

use crate::args::{PatchArguments, ProviderCommand};
use crate::failure::{Failure, Kind};
use crate::ui::Ui;
use crate::wiring;

#[derive(Serialize)]
struct TypeLine<'a> {
    #[serde(rename = "type")]
    token: &'a TypeToken,
    #[serde(skip_serializing_if = "Option::is_none")]
    published: Option<&'static str>,
}

#[derive(Serialize)]
struct UpdateLine<'a> {
    update: &'a Update,
    /// Patch in the format of the service.
    patch: Value,
}

pub(crate) fn provider(command: ProviderCommand, ui: &Ui) -> Result<u8, Failure> {
    let world = wiring::world();
    match command {
        ProviderCommand::Types { pattern } => types(&catalog(&world), pattern.as_deref().unwrap_or("*"), ui),
        ProviderCommand::Schema { name } => schema(&catalog(&world), &name, ui),
        ProviderCommand::Patch(arguments) => patch(&world, &arguments, ui),
    }
}

fn catalog(world: &World) -> Catalog {
    local_catalog(world, &wiring::current_folder()).with_published()
}

fn tokens(catalog: &Catalog) -> impl Iterator<Item = &TypeToken> {
    ["local", "aws"].into_iter().flat_map(|provider| catalog.tokens_of(provider))
}

fn types(catalog: &Catalog, pattern: &str, ui: &Ui) -> Result<u8, Failure> {
    let found: Vec<&TypeToken> = tokens(catalog)
        .filter(|token| {
            let published = stead_schema::type_name_of(token).unwrap_or_default();
            contains(token.as_str(), pattern) || contains(published, pattern)
        })
        .collect();
    for token in &found {
        ui.result(&format!("{token}\n"));
        ui.json("type", &TypeLine { token, published: stead_schema::type_name_of(token) });
    }
    if found.is_empty() {
        return Err(no_such_type(catalog, pattern));
    }
    let origin = bundle::shipped().origin();
    let from = format!("AWS types as published on {} ({} {}).", origin.date, origin.package, origin.version);
    ui.note(&format!("{} types. {from}", found.len()));
    Ok(0)
}

/// Returns true if a text contains a pattern, in which `*` matches any text. Case is ignored.
fn contains(text: &str, pattern: &str) -> bool {
    let (text, pattern) = (text.to_lowercase(), pattern.to_lowercase());
    let mut rest = text.as_str();
    pattern.split('*').all(|part| match rest.find(part) {
        Some(at) => {
            rest = &rest[at + part.len()..];
            true
        }
        None => false,
    })
}

/// Finds a type by its published name or by its name in programs.
fn find_type(catalog: &Catalog, name: &str) -> Result<TypeToken, Failure> {
    let token = token_of(name).unwrap_or_else(|| TypeToken(name.to_owned()));
    match catalog.get(&token) {
        Some(schema) => Ok(schema.token.clone()),
        None => Err(no_such_type(catalog, name)),
    }
}

fn no_such_type(catalog: &Catalog, name: &str) -> Failure {
    let problem = Diagnostic::error(Code::NOT_FOUND, format!("there is no type {name:?}"));
    let published = bundle::shipped().names();
    let known = tokens(catalog).map(TypeToken::as_str).chain(published);
    let problem = match nearest(name, known) {
        Some(meant) => problem.help(format!("did you mean {meant}?")),
        None => problem,
    };
    Failure::new(
        Kind::Failed,
        problem.help("`stead provider types` lists all types, `stead provider types s3` those of S3"),
    )
}

fn schema(catalog: &Catalog, name: &str, ui: &Ui) -> Result<u8, Failure> {
    let token = find_type(catalog, name)?;
    if let Some(schema) = catalog.get(&token) {
        ui.result(&stead_render::schema(schema));
    }
    if let Some(document) =
        stead_schema::type_name_of(&token).and_then(|name| bundle::shipped().document(name))
    {
        ui.json("schema", &document);
    }
    Ok(0)
}

fn patch(world: &World, arguments: &PatchArguments, ui: &Ui) -> Result<u8, Failure> {
    let schema = schema_of(world, arguments)?;
    let (live, want) = (object(world, &arguments.live)?, object(world, &arguments.want)?);
    let last = arguments.last.as_ref().map(|path| object(world, path)).transpose()?;
    // These digests are only compared with each other, so any key will do.
    let key = DigestKey::new([0; 32]);
    let last = LastApplied::of(&schema, &key, last.as_ref().unwrap_or(&want));
    let update = cfn::patch(
        &schema,
        &UpdateInputs { last: &last, settled: None, live: &live, want: &want, key: &key },
    );
    ui.result(&stead_render::update(&update));
    let patch = match &update {
        Update::Patch { operations, .. } => patch_document(operations),
        _ => Value::from(Vec::new()),
    };
    if matches!(update, Update::Patch { .. }) {
        ui.result(&format!("\n{}\n", patch.to_json()));
    }
    ui.json("update", &UpdateLine { update: &update, patch });
    Ok(0)
}

fn schema_of(world: &World, arguments: &PatchArguments) -> Result<Schema, Failure> {
    if let Some(path) = &arguments.ty.schema {
        let document = json(world, path)?;
        return cfn::parse(&document).map_err(|error| unusable(path, &error.to_string()));
    }
    let name = arguments.ty.name.as_deref().unwrap_or_default();
    let token = find_type(&Catalog::default().with_published(), name)?;
    let published = stead_schema::type_name_of(&token).and_then(|name| bundle::shipped().schema(name));
    published.ok_or_else(|| no_such_type(&Catalog::default().with_published(), name))
}

fn object(world: &World, path: &Path) -> Result<Map, Failure> {
    match json(world, path)? {
        Value::Map(map) => Ok(map),
        other => Err(unusable(path, &format!("expected a JSON object, found {}", other.kind()))),
    }
}

fn json(world: &World, path: &Path) -> Result<Value, Failure> {
    let bytes = world.files.read(path).map_err(|error| unusable(path, &error.to_string()))?;
    serde_json::from_slice(&bytes).map_err(|error| unusable(path, &error.to_string()))
}

fn unusable(path: &Path, why: &str) -> Failure {
    let message = format!("cannot use {}: {why}", path.display());
    Failure::new(Kind::Usage, Diagnostic::error(Code::USAGE, message))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pattern_matches_anywhere_in_any_case() {
        assert!(contains("aws.s3.Bucket", "s3.b") && contains("AWS::S3::Bucket", "aws*buck"));
        assert!(contains("aws.s3.Bucket", "*") && !contains("aws.s3.Bucket", "bucket*s3"));
    }
}
