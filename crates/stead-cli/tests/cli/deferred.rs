//! Values known only after apply: what is missing, of another type, or too large is named, and never written.

use crate::project::Project;

#[test]
fn missing_member_gets_its_default_after_apply() {
    let project = Project::with(
        r#"
        import * as local from "stead/local";
        const d = new local.Data({ value: { host: "db" } });
        const { port = 443, host } = d.output as any;
        const url = (scheme: string, path = "index") => `${scheme}://${host}:${port}/${path}`;
        new local.File({ path: "url.txt", content: url("https", (d.output as any).path) }, { id: "url" });
        "#,
    );
    project.stead(&["up", "--yes"]).ok();
    assert_eq!(project.read("url.txt"), "https://db:443/index");
    project.stead(&["plan", "--exit-code"]).ok();
}

#[test]
fn missing_member_without_a_default_fails_by_name_and_writes_nothing() {
    let project = Project::with(
        r#"
        import * as local from "stead/local";
        const d = new local.Data({ value: { host: "db" } }, { id: "d" });
        new local.File({ path: "url.txt", content: `http://${(d.output as any).hots}` }, { id: "url" });
        "#,
    );
    let failed = project.stead(&["up", "--yes"]).ends(1).stderr;
    let named = "`content` of dev:main:local.File#url has no value: `output.hots` of dev:main:local.Data#d is undefined";
    assert!(failed.contains(named) && failed.contains("main.ts:4"), "{failed}");
    assert!(!project.has("url.txt"));
    project.write(
        "main.ts",
        "import * as local from \"stead/local\";\nconst d = new local.Data({ value: { host: \"db\" } }, { id: \"d\" });\n\
         export const adress = (d.output as any).hots;\n",
    );
    let failed = project.stead(&["plan"]).ends(1).stderr;
    assert!(failed.contains("the export `adress` has no value: `output.hots`"), "{failed}");
}

#[test]
fn typed_mistakes_are_found_by_the_plan() {
    let project = Project::with(
        r#"
        import * as local from "stead/local";
        import { s3, sqs } from "stead/aws";
        const pet = new local.RandomPet();
        const b = new s3.Bucket({}, { id: "b" });
        new sqs.Queue({ DelaySeconds: b.Arn as any }, { id: "q" });
        "#,
    );
    let failed = project.stead(&["plan"]).ends(1).stderr;
    assert!(
        failed
            .contains("`DelaySeconds` must be a whole number, but it is a string: `Arn` of aws.s3.Bucket#b"),
        "{failed}"
    );
    let project = Project::with(
        "import * as local from \"stead/local\";\nconst pet = new local.RandomPet();\nexport const a = pet.result[0];\n\
         export const b = (pet.result as any).lenght;\n",
    );
    let failed = project.stead(&["plan"]).ends(1).stderr;
    assert!(
        failed.contains("ST0112")
            && failed.contains("did you mean `length`?")
            && failed.contains("main.ts:4"),
        "{failed}"
    );
    project.write(
        "main.ts",
        "import * as local from \"stead/local\";\nconst pet = new local.RandomPet();\nexport const a = pet.result[0];\n",
    );
    project.stead(&["up", "--yes"]).ok();
}

#[test]
fn text_that_doubles_is_stopped_by_the_plan_or_before_it_is_made() {
    let head =
        "import * as local from \"stead/local\";\nconst d = new local.Data({ value: \"x\".repeat(1000) });\n";
    let project = Project::with(&format!(
        "{head}let s: any = d.output;\nfor (let i = 0; i < 60; i++) s = s + s;\nexport const out = s.length;\n"
    ));
    let failed = project.stead(&["plan"]).ends(1).stderr;
    assert!(failed.contains("ST0108") && failed.contains("main.ts:4"), "{failed}");
    // Twenty times a thousand bytes are too many, which only the value shows.
    project.write(
        "main.ts",
        &format!("{head}let s: any = d.output;\nfor (let i = 0; i < 20; i++) s = s + s;\nexport const size = s.length;\n"),
    );
    let failed = project.stead(&["up", "--yes"]).ends(1).stderr;
    assert!(
        failed.contains("the export `size` has no value") && failed.contains("takes more than 16 MiB"),
        "{failed}"
    );
}
