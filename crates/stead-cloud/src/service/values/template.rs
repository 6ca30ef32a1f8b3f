//! Templates of values: text with placeholders, such as `arn:aws:sqs:{region}:{account}:{QueueName}`.

use stead_model::{Map, PropertyPath, Segment, Value};
use stead_world::Timestamp;

use crate::service::identity::at;
use crate::service::ids::Ids;
use crate::service::place::Place;

/// Everything that placeholders draw from besides the model.
pub(super) struct Context<'a> {
    pub(super) place: &'a Place,
    pub(super) ids: &'a mut Ids,
    pub(super) now: Timestamp,
}

impl Context<'_> {
    /// Returns a private address.
    pub(super) fn address(&mut self) -> String {
        let bits = self.ids.draw();
        format!("10.{}.{}.{}", bits % 256, bits / 256 % 256, 4 + bits / 65_536 % 250)
    }

    /// Returns the value of a template, or `None` if it names a property that the model has not.
    pub(super) fn value(&mut self, template: &str, model: &Map) -> Option<Value> {
        if let Some(json) = template.strip_prefix("json ") {
            let text = self.text(json, model)?;
            return serde_json::from_str(&text).ok();
        }
        if template == "{epoch}" {
            return Some(Value::from((self.now.0 / 1000) as i64));
        }
        // A template that is one property copies its value.
        let only = template.strip_prefix('{').and_then(|rest| rest.strip_suffix('}'));
        if let Some(name) =
            only.filter(|name| name.starts_with(char::is_uppercase) && !name.contains(['{', ':']))
        {
            return name.split('|').find_map(|name| at(model, &path(name)).cloned());
        }
        self.text(template, model).map(Value::from)
    }

    fn text(&mut self, template: &str, model: &Map) -> Option<String> {
        let mut out = String::new();
        let mut rest = template;
        while let Some(start) = rest.find('{') {
            let end = rest[start..].find('}')? + start;
            out.push_str(&rest[..start]);
            out.push_str(&self.placeholder(&rest[start + 1..end], model)?);
            rest = &rest[end + 1..];
        }
        out.push_str(rest);
        Some(out)
    }

    fn placeholder(&mut self, name: &str, model: &Map) -> Option<String> {
        if let Some(name) = name.strip_prefix('~') {
            return self.placeholder(name, model).map(|text| text.replace('.', "-"));
        }
        let (word, length) = match name.split_once(':') {
            Some((word, length)) => (word, length.parse().ok()?),
            None => (name, 0),
        };
        Some(match word {
            "region" => self.place.region.clone(),
            "account" => self.place.account.clone(),
            "partition" => self.place.partition().to_owned(),
            "domain" => self.place.domain().to_owned(),
            "uuid" => self.ids.uuid(),
            "hex" => self.ids.hex(length),
            "digits" => self.ids.digits(length),
            "lower" => self.ids.lower(length),
            "upper" => self.ids.upper(length),
            "now" => self.now.to_string(),
            "address" => self.address(),
            names => names.split('|').find_map(|name| match at(model, &path(name))? {
                Value::String(text) => Some(text.to_string()),
                other => Some(other.to_json()),
            })?,
        })
    }
}

/// Reads a path such as `Endpoint/Address`.
pub(super) fn path(text: &str) -> PropertyPath {
    PropertyPath(text.split('/').map(|key| Segment::Key(key.to_owned())).collect())
}
