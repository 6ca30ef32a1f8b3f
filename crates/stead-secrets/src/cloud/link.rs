//! The text that names a manager: `scheme://path?setting=value`.

use crate::{ManagerError, ManagerErrorClass};

/// Parts of a manager's text.
pub(super) struct Link {
    /// The whole text, as the project wrote it.
    pub(super) text: String,
    pub(super) scheme: String,
    /// Path without slashes around it.
    pub(super) path: String,
    settings: Vec<(String, String)>,
}

impl Link {
    pub(super) fn parse(text: &str, scheme: &str, rest: &str) -> Result<Link, ManagerError> {
        let (path, query) = rest.split_once('?').unwrap_or((rest, ""));
        let settings = query.split('&').filter(|setting| !setting.is_empty());
        let settings = settings.map(|setting| setting.split_once('=').unwrap_or((setting, "")));
        let link = Link {
            text: text.to_owned(),
            scheme: scheme.to_owned(),
            path: path.trim_matches('/').to_owned(),
            settings: settings.map(|(key, value)| (key.to_owned(), value.to_owned())).collect(),
        };
        let plain = |c: char| c.is_ascii_graphic() && !"\"<>\\^`{}|#%".contains(c);
        let has_dots = link.path.split('/').any(|part| matches!(part, "." | ".."));
        if link.path.is_empty() || !text.chars().all(plain) || has_dots {
            return Err(link.malformed("the name of a key is missing or has characters that no key has"));
        }
        Ok(link)
    }

    /// Returns a setting. Refuses settings that the manager does not know.
    pub(super) fn settings<const N: usize>(
        &self,
        known: [&str; N],
    ) -> Result<[Option<String>; N], ManagerError> {
        if let Some((key, _)) = self.settings.iter().find(|(key, _)| !known.contains(&key.as_str())) {
            let known =
                if N == 0 { "it has none".to_owned() } else { format!("it knows {}", known.join(", ")) };
            return Err(self.malformed(&format!("it has no setting `{key}`: {known}")));
        }
        let value =
            |name: &str| self.settings.iter().find(|(key, _)| key == name).map(|(_, value)| value.clone());
        Ok(known.map(|name| value(name).filter(|value| !value.is_empty())))
    }

    pub(super) fn malformed(&self, reason: &str) -> ManagerError {
        let message = format!("the key manager `{}` cannot be used: {reason}", self.text);
        ManagerError::new(ManagerErrorClass::NotConfigured, message)
    }
}
