// The module "stead/test" that test files import: registers tests and runs them.
//
// Rust runs one test at a time through `run`, so that a test that never ends cannot stop the others.

import { host, NativeError, NativeTypeError, freeze, isArray } from "stead:host";

export { AssertionError, Refused, expect, unknownOf } from "stead:expect";
export { declare, folder, gitRef, nothing, plan, state, upgrade } from "stead:test-program";
export { freshCloud, freshStack } from "stead:test-stack";
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
