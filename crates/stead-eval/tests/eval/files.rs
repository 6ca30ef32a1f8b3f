//! Project files as text and as assets.

use crate::common::{Run, program, show};

fn with_files(main: &str) -> Run {
    program(main)
        .file("web/index.html", "<h1>hi</h1>")
        .file("web/css/a.css", "a{}")
        .file("web/css/b.css", "b{}")
        .file("note.txt", "héllo")
        .file("link/x", "behind a link")
}

#[test]
fn text_files_and_folders_are_read_relative_to_the_project() {
    let text = r#"import { archive, file, readText } from "stead";
import { Data } from "stead/local";
import { deep } from "./lib/deep";
new Data({ value: { site: archive("web"), note: file("./note.txt") } }, { id: "site" });
export const all = [readText("note.txt"), deep, file("web/../note.txt").hash === file("note.txt").hash, archive("web/").path, Object.isFrozen(file("note.txt"))];
"#;
    let deep =
        "import * as stead from 'stead';\nexport const deep = stead.readText('web/index.html').length;\n";
    insta::assert_snapshot!(show(&with_files(text).file("lib/deep.ts", deep).graph()), @r#"
    dev:main:local.Data#site @main.ts:4:1 value={"note":{"4dabf18193072939515e22adb298388d":"c44067f5952c0a294b673a41bacd8c17","hash":"3c48591d8d098a4538f5e013dfcf406e948eac4d3277b10bf614e295d6068179","path":"note.txt"},"site":{"4dabf18193072939515e22adb298388d":"0def7320c3a5731c473e5ecbe6d01bc7","hash":"500cfe1e2d4a0278f6059f08d22e3ac518670cb03c078acd0bb567f6a3c08763","path":"web"}}
    > all = ["héllo",11,true,"web",true]
    "#);
}

#[test]
fn folder_digest_depends_on_names_and_contents_only() {
    let hash = |run: Run| show(&run.graph());
    let main = "import { archive } from 'stead';\nexport const hash = archive('web').hash;\n";
    let first = hash(with_files(main));
    assert_eq!(first, hash(with_files(main).file("other.txt", "x")));
    assert_ne!(first, hash(with_files(main).file("web/css/b.css", "b{ }")));
    assert_ne!(first, hash(with_files(main).file("web/new", "")));
}

#[test]
fn unreadable_file_is_an_error_with_its_position() {
    let main = |call: &str| {
        with_files(&format!("import {{ archive, file, readText }} from 'stead';\n[archive, file, readText];\nexport const x = {call};\n")).failure()
    };
    insta::assert_snapshot!(main("readText('gone.txt')"), @"
    ST0103 there is no file `gone.txt`
      @ main.ts:3:18 +8 here
      help: paths are relative to the project folder (the one with stead.toml); files outside it cannot be read
    ");
    insta::assert_snapshot!(main("archive('gone')"), @"
    ST0103 there is no folder `gone`
      @ main.ts:3:18 +7 here
      help: paths are relative to the project folder (the one with stead.toml); files outside it cannot be read
    ");
    insta::assert_snapshot!(main("file('../secret')"), @"
    ST0103 `../secret` is outside the project
      @ main.ts:3:18 +4 here
      help: paths are relative to the project folder (the one with stead.toml); files outside it cannot be read
    ");
    for call in [
        "readText('/etc/passwd')",
        "file('a/../../b')",
        "archive('..')",
        "archive('.')",
        "file('link/x')",
        "file('web')",
        "archive('note.txt')",
        "file('C:/x')",
    ] {
        let text = main(call);
        assert!(text.starts_with("ST0103 ") && text.contains("@ main.ts:3:18"), "{call}\n{text}");
    }
}

#[test]
fn missing_file_fails_even_if_caught_and_unknown_path_is_refused() {
    let text = "import { readText } from 'stead';\nlet x = '';\ntry {\n  x = readText('gone');\n} catch {}\nexport { x };\n";
    assert_eq!(program(text).code(), "ST0103");
    let text = "import { file } from 'stead';\nimport { RandomString } from 'stead/local';\nfile(new RandomString().result);\n";
    insta::assert_snapshot!(program(text).failure(), @"
    ST0110 `file` needs `result` of local.RandomString, which is known only after apply
      @ main.ts:3:1 +4 not known while planning
      @ main.ts:3:6 +3 local.RandomString is declared here
      note: the provider sets `result` when it creates the resource; the program must declare every resource before that
      help: template literals, operators, property access, methods and `JSON.stringify` work on such values
    ");
}

#[test]
fn file_above_the_size_limit_is_an_error() {
    let run = with_files("import { file } from 'stead';\nfile('big');\n").file("big", &"x".repeat(40 << 20));
    assert_eq!(run.limits(|limits| limits.evaluation_heap = 32 << 20).code(), "ST0108");
}

#[test]
fn inline_code_is_the_text_of_a_file_up_to_a_limit() {
    let main = "import { inlineCode } from 'stead';\nconst code = inlineCode('index.js');\nexport const length = code.ZipFile.length;\n";
    let at = |length: usize| program(main).file("index.js", "x".repeat(length).as_str());
    // The quotes of the JSON count.
    assert_eq!(show(&at(249_998).graph()), "> length = 249998\n");
    let refused = at(249_999).failure();
    assert!(
        refused.contains("`index.js` is too large for inline code: 250001 characters as JSON"),
        "{refused}"
    );
    assert!(refused.contains("`S3Bucket` and `S3Key`") && refused.contains("main.ts:2"), "{refused}");
    let gone = "import { inlineCode } from 'stead';\ninlineCode('gone.js');\n";
    assert!(program(gone).failure().contains("there is no file `gone.js`"));
}
