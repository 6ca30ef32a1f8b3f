//! The pages in `docs/reference` list what the code has.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

use std::path::Path;

use stead_world::World;

/// Returns true if a page has a name in backticks, alone or as a function.
fn lists(page: &str, name: &str) -> bool {
    page.contains(&format!("`{name}`")) || page.contains(&format!("`{name}("))
}

#[test]
fn page_on_modules_lists_every_export_of_stead() {
    let page = include_str!("../../../docs/reference/modules.md");
    let exports = stead::DECLARATIONS.lines().filter_map(|line| line.strip_prefix("export "));
    let names: Vec<&str> = exports
        .filter_map(|line| {
            let rest = line.trim_start_matches("abstract ").split_once(' ')?.1;
            rest.split(|c: char| !c.is_alphanumeric()).next()
        })
        .collect();
    assert!(names.len() > 15, "{names:?}");
    let missing: Vec<&&str> = names.iter().filter(|name| !lists(page, name)).collect();
    assert!(missing.is_empty(), "docs/reference/modules.md does not list {missing:?}");
}

#[test]
fn page_on_modules_lists_everything_of_the_test_module() {
    let page = include_str!("../../../docs/reference/modules.md");
    let declared = stead::testing::TEST_DECLARATIONS;
    let exports = declared.lines().filter_map(|line| {
        let rest = line.strip_prefix("export ")?;
        let rest = ["class ", "function ", "const "].iter().find_map(|word| rest.strip_prefix(word))?;
        rest.split(|c: char| !c.is_alphanumeric()).next()
    });
    let matchers = declared.lines().filter_map(|line| line.trim().split_once('(').map(|(name, _)| name));
    let is_matcher =
        |name: &&str| name.strip_prefix("to").is_some_and(|rest| rest.starts_with(char::is_uppercase));
    let names: Vec<&str> = exports.chain(matchers.filter(is_matcher)).collect();
    assert!(names.len() > 45, "{names:?}");
    let missing: Vec<&&str> = names.iter().filter(|name| !lists(page, name)).collect();
    assert!(missing.is_empty(), "docs/reference/modules.md does not list {missing:?}");
}

#[test]
fn page_on_modules_lists_every_local_type_with_its_properties() {
    let page = include_str!("../../../docs/reference/modules.md");
    let catalog = stead::local_catalog(&World::real(), Path::new("."));
    let mut missing = Vec::new();
    for schema in catalog.of_provider("local") {
        let name = schema.token.as_str().trim_start_matches("local.").to_owned();
        let properties = schema.properties.iter().map(|property| property.name.clone());
        missing.extend(std::iter::once(name).chain(properties).filter(|name| !lists(page, name)));
    }
    assert!(missing.is_empty(), "docs/reference/modules.md does not list {missing:?}");
}

#[test]
fn page_on_stead_toml_shows_a_file_with_every_key() {
    let page = include_str!("../../../docs/reference/stead-toml.md");
    let from = page.find("```toml\n").unwrap() + "```toml\n".len();
    let example = &page[from..from + page[from..].find("```").unwrap()];
    stead::check(example).unwrap();
    let unknown = stead::check("project = \"p\"\nunknown = 1\n").unwrap_err().problems();
    let expected = &unknown[0].message;
    let keys: Vec<&str> = expected.split('`').skip(3).step_by(2).collect();
    assert!(keys.len() > 5, "{expected}");
    let missing: Vec<&&str> = keys.iter().filter(|key| !page.contains(&format!("`{key}"))).collect();
    assert!(missing.is_empty(), "docs/reference/stead-toml.md does not have {missing:?}");
}
