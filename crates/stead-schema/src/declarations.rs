//! TypeScript declarations for editors, generated from the schemas.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use crate::cfn;
use crate::{Access, Property, Shape, TypeSchema};

/// Returns the declaration file of the module `stead/<provider>`.
pub fn declarations<'a>(types: impl IntoIterator<Item = &'a TypeSchema>) -> String {
    let mut out = String::from("import { Resource as Base, ResourceOptions } from \"stead\";\n");
    let mut services: BTreeMap<&str, String> = BTreeMap::new();
    for schema in types {
        let text = services.entry(service(schema)).or_default();
        if let Some(Shape::Published(published)) = schema.properties.first().map(|property| &property.shape) {
            cfn::interfaces(text, &published.schema, schema.class());
        }
        class(text, schema);
    }
    for (service, text) in services {
        match service {
            "" => out.push_str(&text),
            service => {
                let _ = write!(out, "\nexport namespace {service} {{\n{}\n}}\n", text.trim());
            }
        }
    }
    out
}

/// Returns the service of a type, the middle part of `aws.s3.Bucket`. It becomes a namespace of the module.
fn service(schema: &TypeSchema) -> &str {
    let mut parts = schema.token.as_str().split('.');
    match (parts.next(), parts.next(), parts.next()) {
        (_, Some(service), Some(_)) => service,
        _ => "",
    }
}

fn class(out: &mut String, schema: &TypeSchema) {
    let name = schema.class();
    let _ = write!(out, "\nexport interface {name}Inputs {{\n");
    for property in schema.properties.iter().filter(|property| property.settable()) {
        let optional = if property.access == Access::Required { "" } else { "?" };
        member(out, property, "", optional);
    }
    let _ = write!(out, "}}\n\n/** {} */\nexport class {name} extends Base {{\n", schema.doc);
    let _ = writeln!(out, "  constructor(inputs{}: {name}Inputs, options?: ResourceOptions);", {
        let required = schema.properties.iter().any(|property| property.access == Access::Required);
        if required { "" } else { "?" }
    });
    let _ =
        writeln!(out, "  /** Returns an existing resource that this program does not declare, by its id. */");
    let _ = writeln!(out, "  static get({}): {name};", look_up_parameters(schema));
    for property in &schema.properties {
        let optional = if property.access == Access::Optional { "?" } else { "" };
        member(out, property, "readonly ", optional);
    }
    out.push_str("}\n");
}

/// Returns the parameters of `get`. A published type may have an identifier of several parts, and another provider.
fn look_up_parameters(schema: &TypeSchema) -> String {
    let Some(Shape::Published(published)) = schema.properties.first().map(|property| &property.shape) else {
        return "id: string".to_owned();
    };
    let parts = published.schema.primary_identifier.iter().filter_map(|path| path.root());
    let parts: Vec<String> = parts.map(|part| format!("{part}: string")).collect();
    format!("id: string | {{ {} }}, options?: {{ provider?: Base }}", parts.join("; "))
}

fn member(out: &mut String, property: &Property, readonly: &str, optional: &str) {
    let Property { name, doc, .. } = property;
    if !doc.is_empty() {
        let _ = writeln!(out, "  /** {doc} */");
    }
    let _ = writeln!(out, "  {readonly}{name}{optional}: {};", typescript(&property.shape));
}

fn typescript(shape: &Shape) -> String {
    match shape {
        Shape::Any => "any".to_owned(),
        Shape::String => "string".to_owned(),
        Shape::Choice(choices) => {
            choices.iter().map(|choice| format!("{choice:?}")).collect::<Vec<_>>().join(" | ")
        }
        Shape::Number | Shape::Integer => "number".to_owned(),
        Shape::Boolean => "boolean".to_owned(),
        Shape::List(inner) => format!("Array<{}>", typescript(inner)),
        Shape::Map(inner) => format!("Record<string, {}>", typescript(inner)),
        Shape::Published(published) => cfn::typescript(&published.schema, published.form),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn class_has_typed_inputs_and_readonly_outputs() {
        let schema = TypeSchema::new(
            "t.File",
            "A file.",
            vec![
                Property::new("path", Shape::String, Access::Required, "Where."),
                Property::new("mode", Shape::Choice(vec!["a".into(), "b".into()]), Access::Filled, "How."),
                Property::new("env", Shape::Map(Box::new(Shape::String)), Access::Optional, "With."),
                Property::new("size", Shape::Integer, Access::ReadOnly, "Bytes."),
            ],
        );
        insta::assert_snapshot!(declarations([&schema]), @r#"
        import { Resource as Base, ResourceOptions } from "stead";

        export interface FileInputs {
          /** Where. */
          path: string;
          /** How. */
          mode?: "a" | "b";
          /** With. */
          env?: Record<string, string>;
        }

        /** A file. */
        export class File extends Base {
          constructor(inputs: FileInputs, options?: ResourceOptions);
          /** Returns an existing resource that this program does not declare, by its id. */
          static get(id: string): File;
          /** Where. */
          readonly path: string;
          /** How. */
          readonly mode: "a" | "b";
          /** With. */
          readonly env?: Record<string, string>;
          /** Bytes. */
          readonly size: number;
        }
        "#);
    }
}
