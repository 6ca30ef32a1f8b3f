//! Config from files, variables and flags: which value holds, where it comes from, and what is refused.

use crate::project::{Project, Ran};

const SETTINGS: &str = "project = \"shop\"

[config]
replicas = 2
db.size = 5

[config.schema]
greeting = { type = \"string\", default = \"hello\", description = \"first word of the file\" }
replicas = { type = \"integer\", required = true, min = 1, max = 9 }
db.size = \"number\"
tags = { type = \"map\", items = \"string\" }
password = { type = \"string\", secret = true }
zone = { type = \"string\", enum = [\"a\", \"b\"], default = \"a\" }

[env.prod.config]
db.size = 50
";

const MAIN: &str = r#"
import { config, env } from "stead";
import * as local from "stead/local";
const all = [config.get("greeting"), config.number("replicas"), config.get("db.size"), config.get("tags"), config.get("db")];
new local.File({ path: `${env}.txt`, content: JSON.stringify(all) }, { id: "all" });
"#;

fn project() -> Project {
    let project = Project::only(MAIN);
    project.write("stead.toml", SETTINGS);
    project
}

fn with_variables(project: &Project, variables: &[(&str, &str)], arguments: &[&str]) -> Ran {
    let mut command = project.command(arguments);
    command.envs(variables.iter().copied());
    project.ran(command.output().unwrap())
}

/// Applies with the given variables and arguments, and returns the file that holds all config.
fn applied(project: &Project, variables: &[(&str, &str)], arguments: &[&str]) -> String {
    let arguments = [&["up", "--yes"][..], arguments].concat();
    with_variables(project, variables, &arguments).ok();
    project.read(if arguments.contains(&"prod") { "prod.txt" } else { "dev.txt" })
}

#[test]
fn each_way_of_giving_config_reaches_the_program_and_overrides_the_weaker_ones() {
    let project = project();
    assert_eq!(applied(&project, &[], &[]), r#"["hello",2,5,null,{"size":5}]"#);
    assert_eq!(applied(&project, &[], &["-e", "prod"]), r#"["hello",2,50,null,{"size":50}]"#);
    project.write("stead.prod.toml", "[config]\ndb.size = 60\ntags.team = \"x\"\n");
    assert_eq!(applied(&project, &[], &["-e", "prod"]), r#"["hello",2,60,{"team":"x"},{"size":60}]"#);
    let variables = [("STEAD_CONFIG_DB_SIZE", "70"), ("STEAD_CONFIG_GREETING", "7")];
    assert_eq!(applied(&project, &variables, &["-e", "prod"]), r#"["7",2,70,{"team":"x"},{"size":70}]"#);
    project.write("more.json", "{ \"db\": { \"size\": 80 },\n  \"tags\": { \"a\": \"b\" } }");
    project.write("last.toml", "replicas = 3\n");
    let files = ["--config-file", "more.json", "--config-file", "last.toml", "-e", "prod"];
    assert_eq!(applied(&project, &variables, &files), r#"["7",3,80,{"a":"b","team":"x"},{"size":80}]"#);
    let flags =
        [&files[..], &["--config", "db.size=90", "--config", "db.size=91", "--config", "greeting=a=b"]]
            .concat();
    assert_eq!(applied(&project, &variables, &flags), r#"["a=b",3,91,{"a":"b","team":"x"},{"size":91}]"#);
}

#[test]
fn every_command_that_evaluates_the_program_takes_config() {
    let project = project();
    project.write("real.txt", "x");
    for command in [
        &["plan"][..],
        &["graph"],
        &["compile"],
        &["up", "--yes"],
        &["plan", "--destroy"],
        &["policy", "explain", "all"],
    ] {
        project.stead(&[command, &["--config", "replicas=4"]].concat()).ok();
        let refused = project.stead(&[command, &["--config", "replicas=many"]].concat()).ends(2);
        assert!(refused.stderr.contains("ST0620"), "{command:?}: {}", refused.stderr);
    }
    let import = ["import", "local.File", "real", "real.txt", "--yes"];
    let refused = project.stead(&[&import[..], &["--config", "replicas=many"]].concat()).ends(2);
    assert!(refused.stderr.contains("ST0620"), "{}", refused.stderr);
    project.stead(&[&import[..], &["--config", "replicas=4"]].concat()).ok();
    let refused = project.stead(&["destroy", "--yes", "--config", "replicas=many"]).ends(2);
    assert!(refused.stderr.contains("ST0620"), "{}", refused.stderr);
    project.stead(&["destroy", "--yes", "--config", "replicas=4"]).ok();
}

#[test]
fn all_problems_are_reported_together_with_their_places() {
    let project = project();
    project.write("bad.toml", "zone = \"c\"\n[tags]\nteam = 4\n");
    let variables =
        [("STEAD_CONFIG_REPLICAS", "12"), ("STEAD_CONFIG_GRETING", "x"), ("STEAD_CONFIG_PASSWORD", "canary")];
    let arguments = ["plan", "--config-file", "bad.toml", "--config", "dbsize=1", "--config", "db.size=big"];
    let refused = with_variables(&project, &variables, &arguments).ends(2);
    assert!(!refused.stderr.contains("canary") && refused.stdout.is_empty());
    insta::assert_snapshot!(refused.stderr);
    project.write("stead.toml", &SETTINGS.replace("replicas = 2\n", ""));
    let missing = project.stead(&["plan"]).ends(2);
    insta::assert_snapshot!(missing.stderr);
}

#[test]
fn explanation_shows_the_value_that_holds_and_the_overridden_ones() {
    let project = project();
    project.write("stead.prod.toml", "[config]\ntags.team = \"x\"\n");
    let variables = [("STEAD_CONFIG_DB_SIZE", "70"), ("STEAD_CONFIG_PASSWORD", "canary")];
    let explain = ["config", "explain", "-e", "prod", "--config", "replicas=4"];
    let all = with_variables(&project, &variables, &explain).ok();
    insta::assert_snapshot!(all);
    let json = with_variables(&project, &variables, &["config", "explain", "--json", "password"]).ok();
    insta::assert_snapshot!(json);
    let one = with_variables(&project, &variables, &["config", "explain", "db"]).ok();
    assert!(one.starts_with("db.size = 70") && !one.contains("replicas"), "{one}");
    assert_eq!(project.stead(&["config", "get", "db.size"]).ok(), "5\n");
    assert_eq!(project.stead(&["config", "get", "greeting"]).ok(), "hello\n");
    let password = with_variables(&project, &variables, &["config", "get", "password"]).ok();
    assert_eq!(password, "[secret]\n");
    let typo = project.stead(&["config", "get", "replica"]).ends(1);
    assert!(typo.stderr.contains("did you mean `replicas`?"), "{}", typo.stderr);
}

#[test]
fn saved_plan_keeps_its_config_and_refuses_another() {
    let project = project();
    let plan = project.path("the.plan");
    let plan = plan.to_str().unwrap();
    let variables = [("STEAD_CONFIG_DB_SIZE", "70"), ("STEAD_CONFIG_PASSWORD", "canary")];
    with_variables(&project, &variables, &["plan", "--out", plan, "--config", "replicas=4"]).ok();
    let saved = project.read("the.plan");
    assert!(saved.contains("STEAD_CONFIG_DB_SIZE") && !saved.contains("canary"));
    let other = project.stead(&["up", plan, "--yes", "--config", "replicas=5"]).ends(1);
    let said = "config `replicas`: it was made with another value than `--config` gives";
    assert!(other.stderr.contains("ST0608") && other.stderr.contains(said), "{}", other.stderr);
    assert!(!project.has("dev.txt"));
    project.stead(&["up", plan, "--yes", "--config", "replicas=4"]).ok();
    assert_eq!(project.read("dev.txt"), r#"["hello",4,70,null,{"size":70}]"#);
}

#[test]
fn saved_plan_applies_where_required_config_was_only_given_to_the_plan() {
    let project = project();
    project.write("stead.toml", &SETTINGS.replace("replicas = 2\n", ""));
    let plan = project.path("the.plan");
    let plan = plan.to_str().unwrap();
    let missing = project.stead(&["plan", "--out", plan]).ends(2);
    assert!(missing.stderr.contains("ST0620"), "{}", missing.stderr);
    project.stead(&["plan", "--out", plan, "--config", "replicas=4"]).ok();
    project.stead(&["up", plan, "--yes"]).ok();
    assert!(project.read("dev.txt").contains(",4,"));
}

#[test]
fn program_declares_types_and_reads_typed_values() {
    let project = Project::only(
        r#"
        import { config, t } from "stead";
        import * as local from "stead/local";
        const { size, zones, db } = config.schema({
          size: t.integer().min(1).default(3),
          zones: t.list(t.string()).default(["a"]),
          db: { maxSize: t.number(), name: t.string().optional() },
        });
        new local.File({ path: "all.txt", content: JSON.stringify([size + 1, zones, db.maxSize * 2, db.name]) }, { id: "all" });
        "#,
    );
    let missing = project.stead(&["plan", "--config", "size=0", "--config", "zones=a"]).ends(1);
    insta::assert_snapshot!(missing.stderr);
    let variables = [("STEAD_CONFIG_DB_MAX_SIZE", "2.5"), ("STEAD_CONFIG_ZONES", "[\"x\",\"y\"]")];
    let up = with_variables(&project, &variables, &["up", "--yes", "--config", "size=4"]);
    up.ok();
    assert_eq!(project.read("all.txt"), r#"[5,["x","y"],5,null]"#);
}

#[test]
fn undeclared_key_is_refused_when_the_program_reads_it() {
    let project = project();
    project.write(
        "main.ts",
        "import { config } from \"stead\";\nexport const a = config.get(\"replica\") ?? 1;\n",
    );
    let refused = project.stead(&["plan"]).ends(1);
    insta::assert_snapshot!(refused.stderr);
}

#[test]
fn secret_key_is_a_secret_wherever_the_program_reads_it() {
    let project = project();
    project.write(
        "main.ts",
        "import { config } from \"stead\";\nconsole.log(config.get(\"password\"), `${config.secret(\"password\")}`);\n",
    );
    let variables = [("STEAD_CONFIG_PASSWORD", "canary")];
    let plan = with_variables(&project, &variables, &["plan"]).ends(0);
    assert!(plan.stderr.contains("<a secret (config `password`)>"), "{}", plan.stderr);
    assert!(!plan.stderr.contains("canary") && !plan.stdout.contains("canary"));
}

#[test]
fn wrong_files_and_ambiguous_variables_are_refused() {
    let project = project();
    project.write("broken.toml", "a = 1\nb = \n");
    let broken = project.stead(&["plan", "--config-file", "broken.toml"]).ends(2);
    assert!(broken.stderr.contains("broken.toml:2"), "{}", broken.stderr);
    project.write("broken.json", "{\n\"a\": }");
    let broken = project.stead(&["plan", "--config-file", "broken.json"]).ends(2);
    assert!(broken.stderr.contains("broken.json:2"), "{}", broken.stderr);
    let absent = project.stead(&["plan", "--config-file", "absent.toml", "--config", "novalue"]).ends(2);
    assert!(
        absent.stderr.contains("absent.toml") && absent.stderr.contains("KEY=VALUE"),
        "{}",
        absent.stderr
    );
    project.write("stead.dev.toml", "replicas = 1\n");
    let outside = project.stead(&["plan"]).ends(2);
    assert!(outside.stderr.contains("stead.dev.toml: unknown key `replicas`"), "{}", outside.stderr);
    std::fs::remove_file(project.path("stead.dev.toml")).unwrap();
    let schema = SETTINGS.replace("type = \"map\"", "type = \"mapp\"").replace("required", "requird");
    project.write("stead.toml", &schema);
    let wrong = project.stead(&["plan"]).ends(2);
    let said = ["did you mean `map`?", "did you mean `required`?", "stead.toml:9", "stead.toml:11"];
    assert!(said.iter().all(|said| wrong.stderr.contains(said)), "{}", wrong.stderr);
    project.write("stead.toml", "project = \"shop\"\n[config]\ndb.size = 1\ndbSize = 2\n");
    let two = with_variables(&project, &[("STEAD_CONFIG_DB_SIZE", "3")], &["config", "ls"]).ends(2);
    assert!(two.stderr.contains("can mean several config keys"), "{}", two.stderr);
    let one = with_variables(&project, &[("STEAD_CONFIG_DB__SIZE", "3")], &["config", "ls"]).ok();
    assert_eq!(one, "db.size = 3\ndbSize = 2\n");
}
