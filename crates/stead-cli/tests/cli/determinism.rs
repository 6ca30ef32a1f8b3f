//! The same sources give the same graph on every machine.

use crate::project::Project;

const MAIN: &str = r#"import { config, env, file, hash, Resource } from "stead";
import * as local from "stead/local";
import { names } from "./lib";

class Site extends Resource {
  constructor(id: string) {
    super(id);
    const pet = new local.RandomPet({ words: 2 });
    new local.File({ path: `${id}.txt`, content: `${env} ${pet.result} ${config.get("greeting") ?? ""}` }, { id });
  }
}
for (const name of names) new Site(name);
export const when = [new Date(86400000).toString(), new Date(2020, 5, 1).getHours(), (1234.5).toLocaleString()];
export const order = ["ä", "z", "a", "B"].sort((a, b) => a.localeCompare(b));
export const digest = [hash("x"), file("lib/index.ts"), Object.keys({ b: 1, a: 2, 1: 3 })];
"#;

#[test]
fn graph_does_not_depend_on_folder_time_zone_locale_or_user() {
    let project = || {
        let project = Project::with(MAIN);
        project.write("lib/index.ts", "export const names = ['b', 'a'];\n");
        project
    };
    let graph = |project: &Project, variables: &[(&str, &str)]| {
        let mut command = project.command(&["graph", "--json"]);
        let output = command.envs(variables.iter().copied()).output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap()
    };
    let first = graph(&project(), &[]);
    assert!(first.contains("dev:main/Site#b:local.RandomPet"), "{first}");
    let elsewhere = [
        ("TZ", "Asia/Kathmandu"),
        ("LANG", "sv_SE.UTF-8"),
        ("LC_ALL", "tr_TR.UTF-8"),
        ("USER", "eve"),
        ("HOME", "/nowhere"),
    ];
    assert_eq!(graph(&project(), &elsewhere), first);
}
