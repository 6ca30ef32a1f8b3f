// The module "stead/test" that test files import: registers tests, and declares and plans programs for them.
//
// Rust runs one test at a time through `run`, so that a test that never ends cannot stop the others.

import { host, NativeError, NativeTypeError, freeze, isArray } from "stead:host";
import { refusal } from "stead:unknown";
import { Refused, expect } from "stead:expect";
import { plain, revive } from "stead:test-values";

export { AssertionError, Refused, expect, unknownOf } from "stead:expect";
export { Secret, Unknown } from "stead:test-values";

const tests = [];
const group = (name, outer, mode) => ({ name, outer, mode, beforeEach: [], afterEach: [], beforeAll: [], afterAll: [], ready: false });
let current = group("", undefined, "run");

// Returns the groups around a test, the outermost first.
const around = (at) => (at === undefined ? [] : [...around(at.outer), at]);
const MODES = ["todo", "skip", "only"];
const strongest = (groups, own) => MODES.find((mode) => own === mode || groups.some((each) => each.mode === mode)) ?? "run";

let running = false;
function register(mode, name, body) {
  if (running) throw new NativeError("a test cannot register another test: use `describe`");
  if (typeof name !== "string") throw new NativeTypeError("a test needs a name: `test(\"name\", () => …)`");
  if (typeof body !== "function" && mode !== "todo") throw new NativeTypeError("a test needs a function: `test(\"name\", () => …)`");
  const groups = around(current);
  const path = [...groups.map((each) => each.name).filter((each) => each !== ""), name];
  const index = host.testRegister(path, strongest(groups, mode), new NativeError().stack);
  tests[index] = { body, groups };
}

// Fills `%s`, `%d`, `%i`, `%j`, `%o`, `%#` and `$key` of a test's name.
function title(name, row, index) {
  const values = isArray(row) ? [...row] : [row];
  const text = name.replace(/%[sdijo#%]/g, (mark) => {
    if (mark === "%%") return "%";
    if (mark === "%#") return `${index}`;
    const value = values.shift();
    return mark === "%j" || mark === "%o" ? JSON.stringify(value) : `${value}`;
  });
  return text.replace(/\$(\w+)/g, (mark, key) => (typeof row === "object" && row !== null && key in row ? `${row[key]}` : mark));
}

const each = (add) => (rows) => (name, body) =>
  rows.forEach((row, index) => add(title(name, row, index), () => (isArray(row) ? body(...row) : body(row))));

function registrar(add) {
  const all = (name, body) => add("run", name, body);
  all.each = each(all);
  for (const mode of MODES) {
    all[mode] = (name, body) => add(mode, name, body);
    all[mode].each = each(all[mode]);
  }
  return freeze(all);
}

export const test = registrar(register);
export const it = test;

export const describe = registrar((mode, name, body) => {
  const outer = current;
  current = group(`${name}`, outer, mode);
  try {
    const result = body?.();
    if (typeof result?.then === "function") throw new NativeTypeError("the function given to `describe` cannot be asynchronous");
  } finally {
    current = outer;
  }
});

const hook = (kind) => (body) => void current[kind].push(body);
export const beforeEach = hook("beforeEach");
export const afterEach = hook("afterEach");
export const beforeAll = hook("beforeAll");
export const afterAll = hook("afterAll");

async function run(index, last) {
  const { body, groups } = tests[index];
  running = true;
  try {
    for (const each of groups) {
      if (each.ready) continue;
      each.ready = true;
      for (const hook of each.beforeAll) await hook();
    }
    try {
      for (const each of groups) for (const hook of each.beforeEach) await hook();
      await body();
    } finally {
      for (const each of groups.toReversed()) for (const hook of each.afterEach.toReversed()) await hook();
    }
    for (const each of groups.toReversed()) {
      if (last.includes(groups.indexOf(each))) for (const hook of each.afterAll) await hook();
    }
    return undefined;
  } catch (error) {
    return { error };
  } finally {
    running = false;
  }
}
// `next` lists the tests that still run, so that the hooks of a group run after its last test.
host.testRunner((index, next) => {
  const ends = (each) => !next.some((other) => tests[other].groups.includes(each));
  return run(index, tests[index].groups.flatMap((each, at) => (ends(each) ? [at] : [])));
});
const pattern = host.testPattern === undefined ? undefined : new RegExp(host.testPattern);
host.testSelect((name) => pattern === undefined || pattern.test(name));

// Asks the library. A refusal becomes an error that a test can expect.
function ask(request, argument) {
  const answer = host.testAsk(request, argument ?? null, new NativeError().stack);
  if (answer.misuse !== undefined) throw refusal(answer.misuse);
  if (answer.failure !== undefined) throw new Refused(answer);
  return answer.value;
}

const isSource = (value) => typeof value === "object" && value !== null && typeof value.source === "string";

/** The program as one evaluation declares it. */
class App {
  #graph;
  #known = new Map();
  constructor({ graph, outputs, console, ...about }) {
    this.#graph = graph;
    for (const { level, text } of console) host.log(level, text, "");
    Object.assign(this, about);
    this.outputs = revive(outputs);
    freeze(this);
  }
  static number(app) {
    return app.#graph;
  }
  #resource(data) {
    if (!this.#known.has(data.fullName)) this.#known.set(data.fullName, revive(data));
    return this.#known.get(data.fullName);
  }
  find(name) {
    return this.#resource(ask("find", { graph: this.#graph, name }));
  }
  all(filter) {
    return freeze(ask("all", { graph: this.#graph, filter: filter ?? {} }).map((data) => this.#resource(data)));
  }
  get resources() {
    return this.all();
  }
  snapshot() {
    const resources = {};
    for (const { name, fullName, source, ...resource } of this.all()) resources[name] = plain(resource);
    return { resources, outputs: plain(this.outputs) };
  }
  toMatchSnapshot(hint) {
    expect(this).toMatchSnapshot(hint);
  }
}

/** The changes that lead from one version of a program, or from a state, to another. */
class Plan {
  constructor({ refusal, ...plan }) {
    Object.assign(this, revive(plan));
    this.refusal = refusal === undefined || refusal === null ? undefined : new Refused(refusal);
    freeze(this);
  }
  step(name) {
    return this.steps.find((step) => step.name === name || step.fullName === name);
  }
  snapshot() {
    const step = ({ source, fullName, ...rest }) => plain(rest);
    return { steps: this.steps.map(step), refusal: this.refusal === undefined ? null : this.refusal.codes };
  }
  toMatchSnapshot(hint) {
    expect(this).toMatchSnapshot(hint);
  }
}

/** Evaluates the program in an interpreter of its own. */
export const declare = (options) => new App(ask("declare", { ...options }));

/** A version of the program in the Git repository. */
export const gitRef = (ref) => freeze({ source: "git", ref });
/** A version of the program in another folder, seen from the folder of the project. */
export const folder = (path) => freeze({ source: "folder", path });
/** An exported state, in a file of the project. */
export const state = (path) => freeze({ source: "state", path });
/** A stack without resources. */
export const nothing = freeze({ source: "nothing" });

const version = (given, name) => {
  if (given instanceof App) return { source: "app", graph: App.number(given) };
  if (isSource(given)) return given;
  throw new NativeTypeError(`\`${name}\` is \`declare(…)\`, \`gitRef(…)\`, \`folder(…)\`, \`state(…)\` or \`nothing\``);
};

/** Plans the changes from one version to another: by default, from nothing to the current program. */
export function plan({ from = nothing, to, ...options } = {}) {
  const target = to === undefined ? { source: "current" } : version(to, "to");
  return new Plan(ask("plan", { from: version(from, "from"), to: target, options }));
}

/** Plans the changes from an earlier version to the current program. */
export const upgrade = (from, options) => plan({ ...options, from });
