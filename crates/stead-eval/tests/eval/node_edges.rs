//! Edges of the modules of Node.js: values that a shorter implementation would get wrong without an error.
//!
//! `cargo xtask conformance packages` compares many more calls with Node.js.

use crate::common::{Run, program, show};

fn out(run: Run) -> String {
    let text = show(&run.graph());
    text.trim_start_matches("> out = ").trim_end().to_owned()
}

fn value(expression: &str) -> String {
    out(program(&format!("export const out = {expression};\n")))
}

/// Returns the code of the error that an expression throws.
fn thrown(expression: &str) -> String {
    value(&format!(
        "(() => {{ try {{ return {expression}; }} catch (e: any) {{ return e.code ?? e.name; }} }})()"
    ))
}

#[test]
fn store_of_asynchronous_code_is_kept_within_a_job_and_refused_after_it() {
    let head =
        "import { AsyncLocalStorage } from 'node:async_hooks';\nconst s = new AsyncLocalStorage<number>();\n";
    let kept = "export const out = [s.run(7, () => s.getStore()), s.getStore() ?? 'none', s.run(1, () => s.run(2, () => s.exit(() => s.getStore() ?? 'left'))), await s.run(8, async () => s.getStore())];\n";
    assert_eq!(out(program(&format!("{head}{kept}"))), "[7,\"none\",\"left\",8]");
    for lost in [
        "export const out = await s.run(7, async () => { await null; return s.getStore() ?? 'lost'; });\n",
        "export const out = await s.run(7, () => Promise.resolve().then(() => s.getStore() ?? 'lost'));\n",
        "s.enterWith(7);\nawait null;\nexport const out = s.getStore();\n",
        "const t = new AsyncLocalStorage<number>();\nexport const out = await s.run(7, async () => { await null; return t.run(1, () => s.getStore() ?? 'lost'); });\n",
    ] {
        let text = program(&format!("{head}{lost}")).failure();
        assert!(
            text.starts_with("ST0103") && text.contains("@ main.ts:") && text.contains("argument"),
            "{text}"
        );
    }
}

#[test]
fn next_tick_waits_for_all_promises_and_goes_before_answers_of_files() {
    let main = "import { readFile } from 'node:fs';\nimport { readFile as read } from 'node:fs/promises';\nconst log: string[] = [];\n\
        readFile('main.ts', () => log.push('file'));\n\
        process.nextTick((text: string) => log.push(text), 'tick');\n\
        await Promise.resolve().then(() => log.push('p1')).then(() => log.push('p2'));\n\
        log.push('next');\n\
        await new Promise<void>((done) => process.nextTick(() => { process.nextTick(() => log.push('inner')); Promise.resolve().then(() => log.push('p3')).then(done); }));\n\
        await read('main.ts');\n\
        export const out = log.join();\n";
    let run = program(main);
    assert_eq!(out(run), "\"p1,p2,next,tick,inner,p3,file\"");
    // The top level of a CommonJS file is no job of its own.
    let main = "const { File } = require('stead/local');\nconst log = [];\n\
        Promise.resolve().then(() => { log.push('p'); new File({ path: log.join() }); });\nprocess.nextTick(() => log.push('t'));\n";
    let text = show(&program(main).graph());
    assert!(text.contains("\"t,p\""), "{text}");
}

#[test]
fn text_decoder_keeps_a_character_between_calls_of_a_stream() {
    let stream = "(() => { const d = new TextDecoder(); const b = (...x: number[]) => new Uint8Array(x); \
        return [d.decode(b(0xe2, 0x82), { stream: true }), d.decode(b(0xac, 0x41), { stream: true }), d.decode(b(0xc3)), d.decode(b(0xef, 0xbb, 0xbf, 0x42))]; })()";
    assert_eq!(value(stream), "[\"\",\"€A\",\"\u{fffd}\",\"B\"]");
    assert_eq!(
        thrown("new TextDecoder('utf-8', { fatal: 1 as any }).decode(new Uint8Array([255]))"),
        "\"ERR_ENCODING_INVALID_ENCODED_DATA\""
    );
}

#[test]
fn numbers_that_do_not_fit_a_buffer_are_errors() {
    for call in [
        "Buffer.alloc(1).writeUInt8(300)",
        "Buffer.alloc(2).writeInt16LE(32768)",
        "Buffer.alloc(8).writeBigUInt64BE(-1n)",
        "Buffer.alloc(6).writeUIntBE(2 ** 48, 0, 6)",
        "Buffer.alloc(2).writeUInt8(1, 2)",
        "Buffer.alloc(2).fill(1, 3, 9)",
        "Buffer.alloc(2).copy(Buffer.alloc(2), 0, 3)",
    ] {
        assert_eq!(thrown(call), "\"ERR_OUT_OF_RANGE\"", "{call}");
    }
    assert_eq!(thrown("Buffer.alloc(4).write('a', '1' as any)"), "\"ERR_UNKNOWN_ENCODING\"");
    assert_eq!(value("[Buffer.alloc(1).writeUInt8(255), Buffer.from('abc').lastIndexOf('')]"), "[1,3]");
}

#[test]
fn older_url_functions_know_hosts_without_slashes() {
    let parse = "import url from 'node:url';\nconst u = url.parse('mailto:ops@example.com');\n\
        export const out = [u.auth, u.hostname, u.pathname, url.parse('http://a:b/c').pathname, url.resolve('mailto:a@b', 'c@d'), url.resolve('a/b', '../../c')];\n";
    assert_eq!(out(program(parse)), "[\"ops\",\"example.com\",null,\"/:b/c\",\"mailto:c@d\",\"../c\"]");
}

#[test]
fn url_keeps_signs_of_empty_parts_and_texts_of_all_values() {
    assert_eq!(
        value("String(new URLSearchParams({ a: undefined, b: null } as any))"),
        "\"a=undefined&b=null\""
    );
    let set = "(() => { const u = new URL('http://h/p'); u.search = '?'; u.hash = '#'; return [u.href, u.search]; })()";
    assert_eq!(value(set), "[\"http://h/p?#\",\"\"]");
}

#[test]
fn files_behind_links_are_found() {
    let main = "import fs from 'node:fs';\n\
        const entry = fs.readdirSync('data', { withFileTypes: true }).find((e) => e.name === 'l.txt')!;\n\
        export const out = [fs.readFileSync('data/l.txt', 'utf8'), fs.existsSync('data/l.txt'), fs.existsSync('lib/a.txt'), entry.isFile(), entry.isSymbolicLink(), \
        fs.lstatSync('data/l.txt').isSymbolicLink(), fs.statSync('data/l.txt').isFile(), fs.realpathSync('lib/a.txt'), fs.existsSync('data/none'), fs.existsSync('data/a.txt/')];\n";
    let run =
        program(main).file("data/a.txt", "hi").file("data/l.txt", "-> data/a.txt").file("lib", "-> data");
    assert_eq!(out(run), "[\"hi\",true,true,false,true,true,true,\"/project/data/a.txt\",false,false]");
    for (call, name) in [
        ("fs.existsSync('/etc/passwd')", "existsSync"),
        ("fs.statSync('main.ts').mode", "`mode`"),
        ("fs.accessSync('main.ts', fs.constants.W_OK)", "writing"),
    ] {
        let text = program(&format!("import fs from 'node:fs';\n{call};\n")).failure();
        assert!(text.starts_with("ST0103") && text.contains(name) && text.contains("@ main.ts:2:"), "{text}");
    }
}

#[test]
fn inspect_shows_promises_targets_and_getters_and_refuses_colours() {
    let inspect = |call: &str| {
        out(program(&format!("import {{ inspect, types }} from 'node:util';\nexport const out = {call};\n")))
    };
    assert_eq!(inspect("inspect(Promise.resolve([1]))"), "\"Promise { [ 1 ] }\"");
    assert_eq!(
        inspect("inspect((() => { const p = Promise.reject(7); p.catch(() => {}); return p; })())"),
        "\"Promise { <rejected> 7 }\""
    );
    assert_eq!(inspect("inspect(new Proxy({ a: 1 }, { ownKeys: () => [] }))"), "\"{ a: 1 }\"");
    assert_eq!(inspect("[types.isProxy(new Proxy({}, {})), types.isProxy({})]"), "[true,false]");
    assert_eq!(inspect("inspect({ get a() { return 1; } }, { getters: true })"), "\"{ a: [Getter: 1] }\"");
    assert_eq!(inspect("inspect(1234567, { numericSeparator: true })"), "\"1_234_567\"");
    for refused in ["{ colors: true }", "{ showProxy: true }"] {
        let main =
            format!("import {{ inspect }} from 'node:util';\ninspect(new Proxy({{}}, {{}}), {refused});\n");
        let text = program(&main).failure();
        assert!(text.starts_with("ST0103") && text.contains("@ main.ts:2:"), "{text}");
    }
    let monitored = "import { EventEmitter, errorMonitor } from 'node:events';\nconst e = new EventEmitter();\nconst out: string[] = [];\n\
        e.on(errorMonitor, () => out.push('monitor'));\ne.on('error', () => out.push('error'));\ne.emit('error', new Error('a'));\nexport { out };\n";
    assert_eq!(out(program(monitored)), "[\"monitor\",\"error\"]");
}
