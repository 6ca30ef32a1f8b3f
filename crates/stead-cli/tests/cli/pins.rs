//! Tests of pins, for each rule.

mod absence;
mod cases;
mod commands;
mod environments;
mod guard;
mod journey;
mod merges;
mod moves;
#[cfg(unix)]
mod on_aws;

use crate::project::{Project, Ran};

pub(crate) const FILE: &str = "main.ts.pin.json";

/// Programs with pinned resources of one target.
///
/// Each program declares three resources: one pinned by its type, one through `nodeOf`, one by an option.
pub(crate) struct Fixture {
    pub(crate) target: &'static str,
    /// Import of the target's types.
    import: &'static str,
    /// Expressions that declare them; `NAME` is the path of the real resource, `OPTIONS` the second argument.
    by_type: &'static str,
    by_node: &'static str,
    by_option: &'static str,
    /// Types of the three resources, in that order.
    pub(crate) types: [&'static str; 3],
}

pub(crate) const LOCAL: Fixture = Fixture {
    target: "local",
    import: "import * as local from \"stead/local\";",
    by_type: "new local.KeyPair({ path: NAME + \"-key\" }, OPTIONS)",
    by_node: "new local.Directory({ path: NAME + \"-data\" }, OPTIONS)",
    by_option: "new local.File({ path: NAME + \"-note\", content: \"kept\" }, { ...OPTIONS, pinned: true })",
    types: ["local.KeyPair", "local.Directory", "local.File"],
};

impl Fixture {
    /// Declares the three resources as `key`, `data` and `note`.
    pub(crate) fn three(&self, name: &str, options: impl Fn(&str) -> String) -> String {
        let make = |id: &str, expression: &str| {
            let expression = expression.replace("NAME", name).replace("OPTIONS", &options(id));
            format!("const {id} = {expression};\n")
        };
        format!(
            "{}{}{}nodeOf(data).pinned = true;\n",
            make("key", self.by_type),
            make("data", self.by_node),
            make("note", self.by_option),
        )
    }

    /// Program that declares the three resources in the main module, each with an id.
    pub(crate) fn at_the_top(&self) -> String {
        let ids = |id: &str| format!("{{ id: \"cool-{id}\" }}");
        format!("{}\n{}", self.head(), self.three("\"cool\"", ids))
    }

    /// Program that declares the three resources in a class. `inside` is appended to its constructor.
    pub(crate) fn in_a_class(&self, class: &str, inside: &str) -> String {
        let ids = |id: &str| format!("{{ id: \"{id}\" }}");
        let three = self.three(&format!("\"{}\"", class.to_lowercase()), ids);
        format!(
            "{}\nclass {class} extends Resource {{\nconstructor() {{\nsuper();\n{three}{inside}}}\n}}\nnew {class}();\n",
            self.head()
        )
    }

    pub(crate) fn head(&self) -> String {
        format!("import {{ Resource, nodeOf }} from \"stead\";\n{}", self.import)
    }

    pub(crate) fn run(&self, project: &Project, arguments: &[&str]) -> Ran {
        project.stead(&[arguments, &["-t", self.target]].concat())
    }

    /// Returns each path of the pinfile with its original path.
    pub(crate) fn paths(&self, project: &Project) -> Vec<(String, Option<String>)> {
        let file: serde_json::Value = serde_json::from_str(&project.read(FILE)).unwrap();
        let section = file["pinned"][self.target].as_object().unwrap();
        let from = |entry: &serde_json::Value| entry["originalPath"].as_str().map(str::to_owned);
        section.iter().map(|(path, entry)| (path.clone(), from(entry))).collect()
    }
}

/// Returns the paths of the lines with this prefix.
pub(crate) fn pin_lines<'a>(output: &'a str, start: &str) -> Vec<&'a str> {
    output.lines().filter_map(|line| line.strip_prefix(start)).map(str::trim).collect()
}

/// Replaces each `[-pin]` path in the pinfile by the `[+pin]` path of the same type.
pub(crate) fn edit_keys(project: &Project, refused: &str) {
    let mut text = project.read(FILE);
    for old in pin_lines(refused, "[-pin]") {
        let (kind, _) = old.rsplit_once('.').unwrap();
        let same_type = |new: &&&str| new.rsplit_once('.').unwrap().0 == kind;
        let added = pin_lines(refused, "[+pin]");
        let new = added.iter().find(same_type).unwrap();
        let key = format!("\"{old}\": {{\n");
        assert!(text.contains(&key), "{text}");
        text = text.replace(&key, &format!("\"{new}\": {{\n        \"originalPath\": \"{old}\",\n"));
    }
    project.write(FILE, &text);
}
