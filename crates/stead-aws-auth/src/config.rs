//! The shared files `~/.aws/config` and `~/.aws/credentials`.

mod ini;

use std::collections::BTreeMap;
use std::io::ErrorKind;
use std::path::PathBuf;

use stead_world::World;

use ini::Section;

/// Settings of a profile, by lower-case name.
#[derive(Clone, Default)]
pub(crate) struct Profile(BTreeMap<String, String>);

impl Profile {
    pub(crate) fn get(&self, key: &str) -> Option<&str> {
        self.0.get(key).map(String::as_str).filter(|value| !value.is_empty())
    }
}

/// Profiles and SSO sessions of both files.
#[derive(Clone, Default)]
pub(crate) struct Config {
    profiles: BTreeMap<String, Profile>,
    sessions: BTreeMap<String, Profile>,
    /// Paths of both files, for messages.
    pub(crate) paths: String,
}

impl Config {
    /// Reads both files. A file that does not exist is empty.
    pub(crate) async fn load(world: &World) -> Result<Config, String> {
        let config_path = place(world, "AWS_CONFIG_FILE", "config");
        let credentials_path = place(world, "AWS_SHARED_CREDENTIALS_FILE", "credentials");
        let shown = |path: &Option<PathBuf>| path.as_ref().map(|path| path.display().to_string());
        let paths: Vec<String> = [&config_path, &credentials_path].into_iter().filter_map(shown).collect();
        let mut config = Config { paths: paths.join(" or "), ..Config::default() };
        for section in read(world, config_path).await? {
            match section.name.split_once(char::is_whitespace) {
                None if section.name == "default" => config.add_profile("default", section.settings),
                Some(("profile", name)) => config.add_profile(unquoted(name), section.settings),
                Some(("sso-session", name)) => {
                    config.sessions.entry(unquoted(name).to_owned()).or_default().0.extend(section.settings);
                }
                _ => {}
            }
        }
        // The credentials file is stronger than the config file.
        for section in read(world, credentials_path).await? {
            config.add_profile(unquoted(&section.name), section.settings);
        }
        Ok(config)
    }

    fn add_profile(&mut self, name: &str, settings: BTreeMap<String, String>) {
        self.profiles.entry(name.to_owned()).or_default().0.extend(settings);
    }

    pub(crate) fn profile(&self, name: &str) -> Option<&Profile> {
        self.profiles.get(name)
    }

    pub(crate) fn session(&self, name: &str) -> Option<&Profile> {
        self.sessions.get(name)
    }
}

fn unquoted(name: &str) -> &str {
    let name = name.trim();
    let inner = |quote| name.strip_prefix(quote).and_then(|name| name.strip_suffix(quote));
    inner('"').or_else(|| inner('\'')).unwrap_or(name)
}

/// Returns the path that a variable names, or a file in `~/.aws`.
fn place(world: &World, variable: &str, name: &str) -> Option<PathBuf> {
    let home = world.host.home.as_ref();
    match world.host.variables.get(variable).filter(|path| !path.is_empty()) {
        Some(path) => match (path.strip_prefix("~/"), home) {
            (Some(rest), Some(home)) => Some(home.join(rest)),
            _ => Some(PathBuf::from(path)),
        },
        None => Some(home?.join(".aws").join(name)),
    }
}

async fn read(world: &World, path: Option<PathBuf>) -> Result<Vec<Section>, String> {
    let Some(path) = path else { return Ok(Vec::new()) };
    let shown = path.display().to_string();
    match world.with_files(move |files| files.read(&path)).await {
        Ok(bytes) => Ok(ini::sections(&String::from_utf8_lossy(&bytes))),
        Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => {
            Ok(Vec::new())
        }
        Err(error) => Err(format!("cannot read {shown}: {error}")),
    }
}
