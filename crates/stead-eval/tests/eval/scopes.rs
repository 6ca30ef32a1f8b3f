//! The enclosing resource of a `new`, in every kind of function and after every kind of suspension.

use crate::common::{names, program};

/// Runs a program with a group `Site` that has the given members, and returns the names of its resources.
fn site(members: &str, program_text: &str) -> String {
    let text = format!(
        "import {{ Resource }} from 'stead';\nimport {{ Data, File }} from 'stead/local';\n\
         function helper(id: string) {{ return new Data({{}}, {{ id }}); }}\n\
         async function slowHelper(id: string) {{ await null; await null; return helper(id); }}\n\
         class Site extends Resource {{\n{members}\n}}\n{program_text}\n"
    );
    names(&program(&text).graph()).join("\n")
}

#[test]
fn helper_called_from_a_method_creates_resources_in_the_instance() {
    let members = "add() { return helper('method'); }\nget url() { return helper('getter').echo; }\n\
        set title(id: string) { helper(id); }\n#hidden() { return helper('private'); }\nopen() { return this.#hidden(); }\n\
        static make() { return helper('static'); }";
    let text = "const a = new Site('a'); const b = new Site('b');\na.add(); b.add(); a.url; b.title = 'setter'; a.open(); Site.make(); helper('outside');";
    insta::assert_snapshot!(site(members, text), @"
    dev:main:Site#a
    dev:main:Site#b
    dev:main/Site#a:local.Data#method
    dev:main/Site#b:local.Data#method
    dev:main/Site#a:local.Data#getter
    dev:main/Site#b:local.Data#setter
    dev:main/Site#a:local.Data#private
    dev:main:local.Data#static
    dev:main:local.Data#outside
    ");
}

#[test]
fn nested_method_calls_restore_the_enclosing_instance() {
    let members = "other?: Site;\nboth() { helper('before'); this.other?.both(); helper('after'); }\n\
        fails() { throw new Error('x'); }\nmake() { return new Site('inner'); }";
    let text = "const a = new Site('a'); const b = new Site('b');\na.other = b; a.both();\n\
        try { a.fails(); } catch {}\nhelper('caught'); const inner = b.make(); inner.both(); helper('end');";
    insta::assert_snapshot!(site(members, text), @"
    dev:main:Site#a
    dev:main:Site#b
    dev:main/Site#a:local.Data#before
    dev:main/Site#b:local.Data#before
    dev:main/Site#b:local.Data#after
    dev:main/Site#a:local.Data#after
    dev:main:local.Data#caught
    dev:main/Site#b:Site#inner
    dev:main/Site#b/Site#inner:local.Data#before
    dev:main/Site#b/Site#inner:local.Data#after
    dev:main:local.Data#end
    ");
}

#[test]
fn callback_scope_is_this_or_else_the_caller() {
    let members = "each(run: (id: string) => void) { ['x', 'y'].map(run); }\nown(other: Site) { other.each((id) => new Data({}, { id: `own-${id}` })); }\n\
        lent(other: Site) { other.each((id) => helper(`lent-${id}`)); }";
    let text = "const a = new Site('a'); const b = new Site('b');\n\
        // the arrow's `this` is a\na.own(b);\n// called by b, which a called\na.lent(b);\n// called by a\na.each((id) => helper(`outer-${id}`));\n\
        ['p', 'q'].map((id) => helper(id));";
    insta::assert_snapshot!(site(members, text), @"
    dev:main:Site#a
    dev:main:Site#b
    dev:main/Site#a:local.Data#own-x
    dev:main/Site#a:local.Data#own-y
    dev:main/Site#b:local.Data#lent-x
    dev:main/Site#b:local.Data#lent-y
    dev:main/Site#a:local.Data#outer-x
    dev:main/Site#a:local.Data#outer-y
    dev:main:local.Data#p
    dev:main:local.Data#q
    ");
}

#[test]
fn static_initialisers_run_in_the_scope_of_their_class_definition() {
    let members = "static shared = helper('field');\nstatic { helper('block'); }\nlocal() { class Inner { static x = helper('inner-static'); }; return Inner.x; }";
    insta::assert_snapshot!(site(members, "new Site('a').local();"), @"
    dev:main:local.Data#field
    dev:main:local.Data#block
    dev:main:Site#a
    dev:main/Site#a:local.Data#inner-static
    ");
}

#[test]
fn constructors_scope_resources_created_before_and_after_super() {
    let members = "field = helper('field');\nconstructor(id: string) { helper('before'); super(id); helper('after'); this.method(); }\nmethod() { helper('method'); }";
    let text = "class Sub extends Site {\n  own = helper('sub-field');\n  constructor() { const early = helper('sub-before'); super(`s-${'x'}`); new Data({ value: early.echo }, { id: 'sub-after' }); }\n\
        method() { super.method(); helper('sub-method'); }\n}\nnew Sub();";
    insta::assert_snapshot!(site(members, text), @"
    dev:main:Sub#s-x
    dev:main/Sub#s-x:local.Data#sub-before
    dev:main/Sub#s-x:local.Data#before
    dev:main/Sub#s-x:local.Data#field
    dev:main/Sub#s-x:local.Data#after
    dev:main/Sub#s-x:local.Data#method
    dev:main/Sub#s-x:local.Data#sub-method
    dev:main/Sub#s-x:local.Data#sub-field
    dev:main/Sub#s-x:local.Data#sub-after
    ");
}

#[test]
fn method_of_another_resource_before_super_keeps_the_constructor_scope() {
    let members = "add(id: string) { return helper(id); }";
    let text = "const a = new Site('a');\nclass Late extends Resource { constructor() { a.add('in-a'); super('late'); helper('in-late'); } }\nnew Late();";
    insta::assert_snapshot!(site(members, text), @"
    dev:main:Site#a
    dev:main:Late#late
    dev:main/Site#a:local.Data#in-a
    dev:main/Late#late:local.Data#in-late
    ");
}

#[test]
fn async_functions_keep_their_resource_after_an_await() {
    let members = "async direct() { await null; new Data({}, { id: 'direct' }); }\nasync viaHelper() { await null; helper('helper'); await null; return slowHelper('slow'); }\n\
        async failing() { try { await Promise.reject(1); } catch { new Data({}, { id: 'caught' }); } }";
    let text = "const a = new Site('a'); const b = new Site('b');\n\
        await Promise.all([a.direct(), b.viaHelper(), a.viaHelper(), slowHelper('outside'), b.failing()]);\nhelper('end');";
    insta::assert_snapshot!(site(members, text), @"
    dev:main:Site#a
    dev:main:Site#b
    dev:main/Site#a:local.Data#direct
    dev:main/Site#b:local.Data#helper
    dev:main/Site#a:local.Data#helper
    dev:main/Site#b:local.Data#caught
    dev:main:local.Data#outside
    dev:main/Site#b:local.Data#slow
    dev:main/Site#a:local.Data#slow
    dev:main:local.Data#end
    ");
}

#[test]
fn promises_and_jobs_keep_the_enclosing_resource() {
    let members = "later() { return Promise.resolve('then').then(helper); }\nsoon() { queueMicrotask(() => helper('micro')); }\n\
        caught() { return Promise.reject('catch').catch(helper).finally(() => helper('finally')); }\n\
        many() { return Promise.all(['m1', 'm2'].map(async (id) => { await null; return helper(id); })); }";
    let text = "const a = new Site('a');\nawait a.later(); a.soon(); await a.caught(); await a.many(); await null;\nhelper('end');\nPromise.resolve('free').then(helper);";
    insta::assert_snapshot!(site(members, text), @"
    dev:main:Site#a
    dev:main/Site#a:local.Data#then
    dev:main/Site#a:local.Data#micro
    dev:main/Site#a:local.Data#catch
    dev:main/Site#a:local.Data#finally
    dev:main/Site#a:local.Data#m1
    dev:main/Site#a:local.Data#m2
    dev:main:local.Data#end
    dev:main:local.Data#free
    ");
}

#[test]
fn async_work_started_in_a_constructor_keeps_its_resource() {
    let members = "ready: Promise<unknown>;\nconstructor(id: string) { super(id); this.ready = this.start(); }\nasync start() { await null; return slowHelper('late'); }";
    insta::assert_snapshot!(site(members, "const a = new Site('a'); const b = new Site('b');\nawait b.ready; await a.ready; helper('end');"), @"
    dev:main:Site#a
    dev:main:Site#b
    dev:main/Site#a:local.Data#late
    dev:main/Site#b:local.Data#late
    dev:main:local.Data#end
    ");
}

#[test]
fn async_functions_keep_their_resource_after_a_failed_await() {
    let members = "async caught() { try { await Promise.reject(1); } catch { helper('catch'); } finally { helper('finally'); } helper('after'); }\n\
        async nested() { try { try { await Promise.reject(1); } finally { helper('inner'); } } catch (e) { helper(`outer-${e}`); await null; helper('later'); } }\n\
        async labelled() { here: try { await Promise.reject(1); } catch { helper('label'); break here; } helper('broken'); }";
    let text = "const a = new Site('a'); const b = new Site('b');\nawait Promise.all([a.caught(), b.nested(), a.labelled()]);\nhelper('end');";
    insta::assert_snapshot!(site(members, text), @"
    dev:main:Site#a
    dev:main:Site#b
    dev:main/Site#a:local.Data#catch
    dev:main/Site#a:local.Data#finally
    dev:main/Site#a:local.Data#after
    dev:main/Site#b:local.Data#inner
    dev:main/Site#b:local.Data#outer-1
    dev:main/Site#a:local.Data#label
    dev:main/Site#a:local.Data#broken
    dev:main/Site#b:local.Data#later
    dev:main:local.Data#end
    ");
}

#[test]
fn loops_that_await_keep_their_resource() {
    let members = "async all() { for await (const id of [Promise.resolve('x'), 'y']) helper(id); helper('after'); }\n\
        async labelled() { outer: for await (const id of ['p', 'q', 'r']) { for (const _ of [1, 2]) { if (id === 'q') continue outer; if (id === 'r') break outer; helper(`${id}${_}`); } } helper('left'); }\n\
        async failed() { try { for await (const id of [Promise.reject('no')]) helper(id); } catch (e) { helper(`${e}`); } }";
    let text = "const a = new Site('a'); const b = new Site('b');\nawait Promise.all([a.all(), b.labelled(), a.failed()]);\nhelper('end');";
    insta::assert_snapshot!(site(members, text), @"
    dev:main:Site#a
    dev:main:Site#b
    dev:main/Site#a:local.Data#x
    dev:main/Site#b:local.Data#p1
    dev:main/Site#b:local.Data#p2
    dev:main/Site#a:local.Data#no
    dev:main/Site#a:local.Data#y
    dev:main/Site#a:local.Data#after
    dev:main/Site#b:local.Data#left
    dev:main:local.Data#end
    ");
}

#[test]
fn arrow_functions_in_fields_behave_like_methods() {
    let members = "make = (id: string, _more = 1) => helper(id);\n#hidden = () => helper('hidden');\nopen() { return this.#hidden(); }\n\
        slow = async (id: string) => { await null; return helper(id); };\n['a b'] = () => helper('key');\nstatic make = (id: string) => helper(id);";
    let text = "const a = new Site('a'); const b = new Site('b');\nconst { make } = a;\nmake('free'); b.make('own'); ['p', 'q'].map((id) => b.make(id)); a.open(); await b.slow('slow'); a['a b'](); Site.make('static');\n\
        class Plain extends Object { f = () => helper('plain'); }\nnew Plain().f();\nif (make.name !== 'make' || make.length !== 1 || a['a b'].name !== 'a b') throw new Error(make.name);";
    insta::assert_snapshot!(site(members, text), @"
    dev:main:Site#a
    dev:main:Site#b
    dev:main/Site#a:local.Data#free
    dev:main/Site#b:local.Data#own
    dev:main/Site#b:local.Data#p
    dev:main/Site#b:local.Data#q
    dev:main/Site#a:local.Data#hidden
    dev:main/Site#b:local.Data#slow
    dev:main/Site#a:local.Data#key
    dev:main:local.Data#static
    dev:main:local.Data#plain
    ");
}

#[test]
fn generators_create_resources_in_their_instance() {
    let members = "*all() { for (const id of ['g1', 'g2']) yield new Data({}, { id }); }";
    insta::assert_snapshot!(site(members, "const a = new Site('a');\nexport const n = [...a.all()].length;"), @"
    dev:main:Site#a
    dev:main/Site#a:local.Data#g1
    dev:main/Site#a:local.Data#g2
    ");
}

#[test]
fn error_thrown_in_a_method_shows_only_frames_of_the_program() {
    let text = "import { Resource } from 'stead';\nclass A extends Resource {\n  check() {\n    throw new Error('no');\n  }\n}\nconst a = new A('a');\na.check();\n";
    insta::assert_snapshot!(program(text).failure(), @"
    ST0103 the program threw: no
      @ main.ts:4:11 +15 thrown here
      note: called by the module at main.ts:8:1
    ");
}

const SITE: &str = "import { Resource } from 'stead';\nimport { Data, File } from 'stead/local';\n\
    export class Site extends Resource {\n  constructor(id?: string) {\n    super(id);\n    new Data();\n    new Data();\n    new File({ path: 'x' }, { id: 'x' });\n  }\n}\n";

fn two_modules(first: &str, second: &str) -> crate::common::Run {
    program("import './a';\nimport './b';\n")
        .file("site.ts", SITE)
        .file("a.ts", &format!("import {{ Site }} from './site';\n{first}\n"))
        .file("b.ts", &format!("import {{ Site }} from './site';\n{second}\n"))
}

#[test]
fn given_id_in_two_modules_is_never_counted_up() {
    insta::assert_snapshot!(two_modules("new Site('one');", "new Site('one');").failure(), @"
    ST0105 two resources have the name `dev:site/Site#one:local.Data`
      @ b.ts:2:1 +15 second `Site#one`
      @ a.ts:2:1 +15 first `Site#one`
      @ site.ts:6:5 +10 declared inside both
      note: the name has the module of the inner `new`, so that every `Site#one` of the program has the same one
      help: give one of the two another id than `one`
      help: if both were applied before, the second has counters in its recorded names (`dev:site/Site#one:local.Data#2`): after the change, the plan proposes to rename them
    ");
    let names = names(&two_modules("new Site('one');", "new Site('two');").graph());
    assert_eq!(names.len(), 8);
    assert!(names.iter().all(|name| !name.contains("#2") || name.contains("local.Data#2")), "{names:?}");
}

#[test]
fn unnamed_instances_in_two_modules_are_counted() {
    let site = SITE.replace("    new File({ path: 'x' }, { id: 'x' });\n", "");
    let run = two_modules("new Site();", "new Site();").file("site.ts", &site);
    insta::assert_snapshot!(names(&run.graph()).join("\n"), @"
    dev:a:Site
    dev:site/Site:local.Data
    dev:site/Site:local.Data#2
    dev:b:Site
    dev:site/Site:local.Data#3
    dev:site/Site:local.Data#4
    ");
}

#[test]
fn given_id_around_an_unnamed_group_is_never_counted_up() {
    let shop = "import { Resource } from 'stead';\nimport { Site } from './site';\nexport class Shop extends Resource { constructor(id: string) { super(id); new Site(); } }\n";
    let module = "import { Shop } from './shop';\nnew Shop('x');\n";
    let run = program("import './a';\nimport './b';\n").file("site.ts", SITE).file("shop.ts", shop);
    insta::assert_snapshot!(run.file("a.ts", module).file("b.ts", module).failure(), @"
    ST0105 two resources have the name `dev:shop/Shop#x:Site`
      @ b.ts:2:1 +13 second `Shop#x`
      @ a.ts:2:1 +13 first `Shop#x`
      @ shop.ts:3:75 +10 declared inside both
      note: the name has the module of the inner `new`, so that every `Shop#x` of the program has the same one
      help: give one of the two another id than `x`
      help: if both were applied before, the second has counters in its recorded names (`dev:shop/Shop#x:Site#2`): after the change, the plan proposes to rename them
    ");
}
