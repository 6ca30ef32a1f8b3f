//! Shapes as types of values: kinds, members, elements, and whether a value of one shape can be used as another.
//!
//! A shape that leaves a question open never answers "no": only a mistake that every value would show is one.

use stead_model::{ExprId, Input, Inputs, Key, PropertyPath, ValueKind, nearest};

use crate::cfn::Kinds;
use crate::{PublishedForm, Shape, TypeSchema};

/// Member of the values of a shape.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Member {
    /// Values may have the member; if they do, it has this shape.
    Is(Shape),
    /// No value of the shape has the member. Holds the names of all members, if there are any.
    Never(Vec<String>),
}

impl Shape {
    /// Returns the kinds of JSON values that the shape allows. The empty set allows all.
    pub fn kinds(&self) -> Kinds {
        match self {
            Shape::Any => Kinds::default(),
            Shape::String | Shape::Choice(_) => Kinds::STRING,
            Shape::Number => Kinds::NUMBER,
            Shape::Integer => Kinds::INTEGER,
            Shape::Boolean => Kinds::BOOLEAN,
            Shape::List(_) => Kinds::ARRAY,
            Shape::Map(_) => Kinds::OBJECT,
            Shape::Published(PublishedForm { schema, form }) => schema.kinds(*form),
        }
    }

    /// Returns the kind of all values of the shape, or `None` if they may have several.
    pub fn kind(&self) -> Option<ValueKind> {
        let kinds = self.kinds();
        let each = [
            (Kinds::STRING, ValueKind::String),
            (Kinds::NUMBER, ValueKind::Number),
            (Kinds::INTEGER, ValueKind::Number),
            (Kinds::NUMBER.and(Kinds::INTEGER), ValueKind::Number),
            (Kinds::BOOLEAN, ValueKind::Boolean),
            (Kinds::ARRAY, ValueKind::List),
            (Kinds::OBJECT, ValueKind::Map),
        ];
        each.into_iter().find(|(only, _)| *only == kinds).map(|(_, kind)| kind)
    }

    /// Returns the shape of the elements of a list.
    pub fn element(&self) -> Shape {
        match self {
            Shape::List(element) => (**element).clone(),
            Shape::Published(PublishedForm { schema, form }) => match schema.element(*form) {
                Some(form) => Shape::Published(PublishedForm { schema: schema.clone(), form }),
                None => Shape::Any,
            },
            _ => Shape::Any,
        }
    }

    /// Returns the member of the values of the shape.
    pub fn member(&self, key: &Key) -> Member {
        match (self.kind(), key) {
            (None, _) => Member::Is(Shape::Any),
            (Some(ValueKind::String), Key::Index(_)) => Member::Is(Shape::String),
            (Some(ValueKind::List), Key::Index(_)) => Member::Is(self.element()),
            (Some(ValueKind::String | ValueKind::List), Key::Name(name)) if name == "length" => {
                Member::Is(Shape::Integer)
            }
            (Some(ValueKind::Map), Key::Index(index)) => self.entry(&index.to_string()),
            (Some(ValueKind::Map), Key::Name(name)) => self.entry(name),
            (Some(ValueKind::String | ValueKind::List), Key::Name(_)) => {
                Member::Never(vec!["length".to_owned()])
            }
            (Some(ValueKind::Number | ValueKind::Boolean), _) => Member::Never(Vec::new()),
        }
    }

    fn entry(&self, name: &str) -> Member {
        match self {
            Shape::Map(inner) => Member::Is((**inner).clone()),
            Shape::Published(PublishedForm { schema, form }) => match schema.member(*form, name) {
                Some(form) => Member::Is(Shape::Published(PublishedForm { schema: schema.clone(), form })),
                None if schema.is_closed(*form) => Member::Never(schema.names(*form)),
                None => Member::Is(Shape::Any),
            },
            _ => Member::Is(Shape::Any),
        }
    }

    /// Returns false if no value of the shape `given` can be used where this shape is wanted.
    pub fn accepts(&self, given: &Shape) -> bool {
        let (wanted, found) = (self.kinds(), given.kinds());
        if wanted.is_any() || found.is_any() {
            return true;
        }
        let number = |kinds: Kinds| kinds.has(Kinds::NUMBER) || kinds.has(Kinds::INTEGER);
        let others = [Kinds::STRING, Kinds::BOOLEAN, Kinds::OBJECT, Kinds::ARRAY, Kinds::NULL];
        let common = others.into_iter().any(|kind| wanted.has(kind) && found.has(kind));
        if !(common || number(wanted) && number(found)) {
            return false;
        }
        match (self.kind(), given.kind()) {
            (Some(ValueKind::List), Some(ValueKind::List)) => self.element().accepts(&given.element()),
            (Some(ValueKind::Map), Some(ValueKind::Map)) => match (self, given) {
                (Shape::Map(wanted), Shape::Map(given)) => wanted.accepts(given),
                _ => true,
            },
            _ => true,
        }
    }

    /// Returns the kinds of the shape for a message: "a string", "a list of numbers".
    pub fn words(&self) -> String {
        match self {
            Shape::List(element) => match element.kind() {
                Some(ValueKind::String) => "a list of strings".to_owned(),
                Some(ValueKind::Number) => "a list of numbers".to_owned(),
                _ => "a list".to_owned(),
            },
            Shape::Any => "a value".to_owned(),
            shape => match shape.kinds() {
                kinds if kinds.is_any() => "a value".to_owned(),
                kinds => kinds.words(),
            },
        }
    }
}

/// Deferred value that cannot be used where it is given.
#[derive(Clone, Debug, PartialEq)]
pub struct WrongReference {
    pub path: PropertyPath,
    pub reference: ExprId,
    pub wanted: Shape,
    pub given: Shape,
}

/// Returns the deferred values in the inputs whose shape does not fit.
pub fn wrong_references(
    schema: &TypeSchema,
    inputs: &Inputs,
    shape_of: &dyn Fn(ExprId) -> Shape,
) -> Vec<WrongReference> {
    let mut found = Vec::new();
    for (name, input) in inputs {
        if let Some(property) = schema.property(name) {
            compare(&property.shape, input, &PropertyPath::of(name), shape_of, &mut found);
        }
    }
    found
}

fn compare(
    wanted: &Shape,
    input: &Input,
    path: &PropertyPath,
    shape_of: &dyn Fn(ExprId) -> Shape,
    found: &mut Vec<WrongReference>,
) {
    match input {
        Input::Known(_) => {}
        Input::Deferred(reference) => {
            let given = shape_of(*reference);
            if !wanted.accepts(&given) {
                let (path, wanted, reference) = (path.clone(), wanted.clone(), *reference);
                found.push(WrongReference { path, reference, wanted, given });
            }
        }
        Input::List(items) => {
            let element = wanted.element();
            for (index, item) in items.iter().enumerate() {
                compare(&element, item, &path.index(index), shape_of, found);
            }
        }
        Input::Map(map) => {
            for (key, item) in map {
                if let Member::Is(member) = wanted.entry(key) {
                    compare(&member, item, &path.key(key), shape_of, found);
                }
            }
        }
    }
}

/// Returns a proposal for a misspelled member: the nearest name, or all names.
pub fn proposal(name: &str, names: &[String]) -> Option<String> {
    match nearest(name, names.iter().map(String::as_str)) {
        Some(meant) => Some(format!("did you mean `{meant}`?")),
        None if names.is_empty() => None,
        None => Some(format!("it has: {}", names.join(", "))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn name(text: &str) -> Key {
        Key::Name(text.to_owned())
    }

    #[test]
    fn members_follow_the_kind_of_the_shape() {
        let strings = Shape::List(Box::new(Shape::String));
        assert_eq!(Shape::String.member(&Key::Index(0)), Member::Is(Shape::String));
        assert_eq!(Shape::String.member(&name("length")), Member::Is(Shape::Integer));
        assert!(matches!(Shape::String.member(&name("lenght")), Member::Never(_)));
        assert!(matches!(Shape::Integer.member(&Key::Index(0)), Member::Never(_)));
        assert_eq!(strings.member(&Key::Index(3)), Member::Is(Shape::String));
        assert_eq!(Shape::Any.member(&name("x")), Member::Is(Shape::Any));
        assert_eq!(Shape::Map(Box::new(strings.clone())).member(&name("x")), Member::Is(strings));
    }

    #[test]
    fn shape_accepts_a_shape_with_a_common_kind() {
        assert!(Shape::Integer.accepts(&Shape::Number) && Shape::Number.accepts(&Shape::Integer));
        assert!(Shape::Choice(vec!["a".into()]).accepts(&Shape::String));
        assert!(!Shape::Integer.accepts(&Shape::String) && !Shape::String.accepts(&Shape::Boolean));
        assert!(Shape::Any.accepts(&Shape::String) && Shape::String.accepts(&Shape::Any));
        let list = |element| Shape::List(Box::new(element));
        assert!(!list(Shape::String).accepts(&list(Shape::Integer)));
        assert!(list(Shape::Any).accepts(&list(Shape::Integer)) && !list(Shape::Any).accepts(&Shape::String));
    }

    #[test]
    fn published_types_know_their_members() {
        let catalog = crate::Catalog::default().with_published();
        let queue = catalog.get(&stead_model::TypeToken("aws.sqs.Queue".into())).unwrap();
        let shape = |property: &str| &queue.property(property).unwrap().shape;
        assert!(!shape("DelaySeconds").accepts(shape("Arn")) && shape("QueueName").accepts(shape("Arn")));
        assert_eq!(shape("Arn").kind(), Some(ValueKind::String));
        let bucket = catalog.get(&stead_model::TypeToken("aws.s3.Bucket".into())).unwrap();
        let versioning = &bucket.property("VersioningConfiguration").unwrap().shape;
        let Member::Never(names) = versioning.member(&name("Statu")) else { panic!() };
        assert_eq!(proposal("Statu", &names).unwrap(), "did you mean `Status`?");
    }

    #[test]
    fn references_of_another_kind_are_found_at_every_depth() {
        let list = Shape::List(Box::new(Shape::Map(Box::new(Shape::Integer))));
        let property = crate::Property::new("p", list, crate::Access::Optional, "");
        let schema = TypeSchema::new("t.T", "", vec![property]);
        let entry = |id: u32| Input::Map([("k", Input::Deferred(ExprId(id)))].into());
        let inputs = [("p", Input::List(vec![entry(0), entry(1)]))].into();
        let shapes = [Shape::Number, Shape::String];
        let found = wrong_references(&schema, &inputs, &|id| shapes[id.0 as usize].clone());
        let found: Vec<String> =
            found.into_iter().map(|wrong| format!("{} {}", wrong.path, wrong.given.words())).collect();
        assert_eq!(found, ["p[1].k a string"]);
    }
}
