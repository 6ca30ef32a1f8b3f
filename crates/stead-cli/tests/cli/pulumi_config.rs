//! Config of a Pulumi stack, taken over with its secrets.

use crate::team::{PASSPHRASE, Team};

/// The state of a passphrase, computed with Python's cryptography. Its token is an encrypted value, too: the word `pulumi`.
const SALT: &str = "v1:fozI5u6B030=:v1:F+6ZduKKd8G0/V7L:PGMFeIzwobWRKmEAzUdaQHqC5mMRIQ==";
const SECURE: &str = "v1:F+6ZduKKd8G0/V7L:PGMFeIzwobWRKmEAzUdaQHqC5mMRIQ==";

fn stack_file(head: &str) -> String {
    format!(
        "{head}config:\n  aws:region: eu-central-1\n  shop-infra:port: \"5432\"\n  shop-infra:zones: [a, b]\n  \
         shop-infra:db:\n    name: orders\n    password:\n      secure: {SECURE}\n  shop-infra:token:\n    secure: {SECURE}\n  \
         shop-infra:list:\n    - open\n    - secure: {SECURE}\n"
    )
}

fn project(head: &str) -> Team {
    let team = Team::with("export const a = 1;\n");
    team.project.write("Pulumi.yaml", "name: shop-infra\nruntime: nodejs\n");
    team.project.write("Pulumi.dev.yaml", &stack_file(head));
    team
}

fn import(team: &Team, variables: &[(&str, &str)]) -> crate::project::Ran {
    let file = team.project.path("Pulumi.dev.yaml").display().to_string();
    team.run(&["config", "import", "--from", "pulumi", &file], &[variables, PASSPHRASE].concat())
}

const GIVEN: &[(&str, &str)] = &[("PULUMI_CONFIG_PASSPHRASE", "password")];

#[test]
fn values_and_secrets_of_a_pulumi_stack_are_imported() {
    let team = project(&format!("encryptionsalt: {SALT}\n"));
    let said = import(&team, GIVEN).ok();
    assert!(said.contains("Set aws.region in stead.dev.toml.\n"), "{said}");
    assert!(said.contains("Set db.password in stead.dev.toml, encrypted.\n"), "{said}");
    let file = team.project.read("stead.dev.toml");
    assert!(file.contains("aws.region = \"eu-central-1\"") && file.contains("port = 5432"), "{file}");
    assert!(file.contains("zones = [\"a\", \"b\"]") && file.contains("db.name = \"orders\""), "{file}");
    assert!(file.contains("token = { secret = \"s1:") && !file.contains("pulumi"), "{file}");
    for (key, value) in [("token", "pulumi"), ("db.password", "pulumi"), ("list", "[\"open\",\"pulumi\"]")] {
        let shown = team.stead(&["config", "get", key, "--show-secrets", "--yes"]).ok();
        assert_eq!(shown.trim_end(), value, "{key}");
    }
    let again = import(&team, GIVEN).ends(1);
    assert!(again.stderr.contains("already sets") && again.stderr.contains("`token`"), "{}", again.stderr);
    assert_eq!(team.project.read("stead.dev.toml"), file);
}

#[test]
fn passphrase_of_the_pulumi_stack_comes_from_a_file_too() {
    let team = project(&format!("encryptionsalt: {SALT}\n"));
    team.project.write("pass.txt", "password\n");
    let path = team.project.path("pass.txt").display().to_string();
    import(&team, &[("PULUMI_CONFIG_PASSPHRASE_FILE", &path)]).ok();
}

#[test]
fn secrets_that_cannot_be_read_are_told_apart_and_nothing_is_written() {
    let passphrase = format!("encryptionsalt: {SALT}\n");
    let damaged = passphrase.clone();
    for (head, variables, said) in [
        (
            passphrase.as_str(),
            &[("PULUMI_CONFIG_PASSPHRASE", "other")][..],
            "passphrase of the Pulumi stack is wrong",
        ),
        (passphrase.as_str(), &[], "set PULUMI_CONFIG_PASSPHRASE"),
        (
            "secretsprovider: awskms://alias/x?region=eu\nencryptedkey: AAAA\n",
            GIVEN,
            "encrypted by awskms://alias/x",
        ),
        ("", GIVEN, "encrypted by the Pulumi service"),
        ("encryptionsalt: v9:nonsense\n", GIVEN, "not the state of a Pulumi passphrase"),
        (damaged.as_str(), GIVEN, "damaged"),
    ] {
        let team = project(head);
        if said == "damaged" {
            let text = team.project.read("Pulumi.dev.yaml").replace("secure: v1:F+6", "secure: v1:A+6");
            team.project.write("Pulumi.dev.yaml", &text);
        }
        let refused = import(&team, variables).ends(1);
        assert!(
            refused.stderr.contains(said) && refused.stderr.contains("ST0703"),
            "{said}: {}",
            refused.stderr
        );
        assert!(!team.project.has("stead.dev.toml"), "{said}");
    }
}

#[test]
fn file_that_is_no_pulumi_config_is_refused() {
    for text in ["- a list\n", "config: 3\n", "config: {a: [}\n"] {
        let team = project("");
        team.project.write("Pulumi.dev.yaml", text);
        let refused = import(&team, GIVEN).ends(2);
        assert!(refused.stderr.contains("is not the config of a Pulumi stack"), "{}", refused.stderr);
    }
}
