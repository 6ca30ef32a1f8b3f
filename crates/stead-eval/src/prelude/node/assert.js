// node:assert and node:assert/strict.
"use strict";

const { inspect } = require("node:internal/inspect");
const { equal } = require("node:internal/equal");

class AssertionError extends Error {
  constructor({ message, actual, expected, operator, generated = message === undefined }) {
    super(message ?? `${inspect(actual)} ${operator} ${inspect(expected)}`);
    this.name = "AssertionError";
    this.code = "ERR_ASSERTION";
    this.generatedMessage = generated;
    this.actual = actual;
    this.expected = expected;
    this.operator = operator;
  }
}

function fail(message, details, text) {
  if (message instanceof Error) throw message;
  throw new AssertionError({ ...details, message: message ?? text, generated: message === undefined });
}

const TITLES = {
  deepStrictEqual: "Expected values to be strictly deep-equal:",
  strictEqual: "Expected values to be strictly equal:",
  deepEqual: "Expected values to be loosely deep-equal:",
  notStrictEqual: 'Expected "actual" to be strictly unequal to:',
  notDeepStrictEqual: 'Expected "actual" not to be strictly deep-equal to:',
  notDeepEqual: 'Expected "actual" not to be loosely deep-equal to:',
};
function compare(operator, passes) {
  return {
    [operator](actual, expected, message) {
      if (passes(actual, expected)) return;
      const title = TITLES[operator];
      const between = operator.startsWith("not") ? `\n\n${inspect(expected)}` : `\n\n${inspect(actual)} !== ${inspect(expected)}\n`;
      const sign = operator === "equal" ? "==" : operator === "notEqual" ? "!=" : operator;
      fail(message, { actual, expected, operator: sign }, title === undefined ? undefined : title + between);
    },
  }[operator];
}

function ok(value, message) {
  if (!value) fail(message, { actual: value, expected: true, operator: "==" }, "The expression evaluated to a falsy value");
}

// Tests an error against a class, a pattern, a function or an object with its properties.
function matches(error, expected, message) {
  if (expected === undefined) return;
  if (expected instanceof RegExp) {
    if (!expected.test(String(error))) fail(message, { actual: error, expected, operator: "throws" }, `The input did not match the regular expression ${inspect(expected)}. Input:\n\n${inspect(String(error))}\n`);
  } else if (typeof expected === "function") {
    if (expected.prototype !== undefined && error instanceof expected) return;
    if (Error.isPrototypeOf(expected) || expected === Error) throw error;
    if (expected.call({}, error) !== true) fail(message, { actual: error, expected, operator: "throws" }, `The ${expected.name ? `"${expected.name}" ` : ""}validation function is expected to return "true".`);
  } else {
    for (const key of expected instanceof Error ? [...Object.keys(expected), "name", "message"] : Object.keys(expected)) {
      const pattern = expected[key] instanceof RegExp && typeof error[key] === "string";
      if (pattern ? expected[key].test(error[key]) : equal(error[key], expected[key], true)) continue;
      fail(message, { actual: error, expected, operator: "throws" }, `${TITLES.deepStrictEqual}\n\n${inspect(error[key])} !== ${inspect(expected[key])}\n`);
    }
  }
}
const given = (expected, message) => (typeof expected === "string" ? [undefined, expected] : [expected, message]);

const methods = {
  ok,
  fail(message = "Failed") {
    fail(message, { operator: "fail" }, message);
  },
  equal: compare("equal", (a, b) => a == b || (a !== a && b !== b)),
  notEqual: compare("notEqual", (a, b) => !(a == b || (a !== a && b !== b))),
  strictEqual: compare("strictEqual", Object.is),
  notStrictEqual: compare("notStrictEqual", (a, b) => !Object.is(a, b)),
  deepEqual: compare("deepEqual", (a, b) => equal(a, b, false)),
  notDeepEqual: compare("notDeepEqual", (a, b) => !equal(a, b, false)),
  deepStrictEqual: compare("deepStrictEqual", (a, b) => equal(a, b, true)),
  notDeepStrictEqual: compare("notDeepStrictEqual", (a, b) => !equal(a, b, true)),
  throws(callback, expected, message) {
    const [wanted, text] = given(expected, message);
    let error;
    try {
      callback();
    } catch (thrown) {
      error = { thrown };
    }
    if (error === undefined) fail(text, { expected: wanted, operator: "throws" }, "Missing expected exception.");
    matches(error.thrown, wanted, text);
  },
  doesNotThrow(callback, expected, message) {
    try {
      callback();
    } catch (error) {
      fail(given(expected, message)[1], { actual: error, operator: "doesNotThrow" }, `Got unwanted exception.\nActual message: "${error?.message}"`);
    }
  },
  async rejects(promise, expected, message) {
    const [wanted, text] = given(expected, message);
    let error;
    try {
      await (typeof promise === "function" ? promise() : promise);
    } catch (thrown) {
      error = { thrown };
    }
    if (error === undefined) fail(text, { expected: wanted, operator: "rejects" }, "Missing expected rejection.");
    matches(error.thrown, wanted, text);
  },
  async doesNotReject(promise, expected, message) {
    try {
      await (typeof promise === "function" ? promise() : promise);
    } catch (error) {
      fail(given(expected, message)[1], { actual: error, operator: "doesNotReject" }, `Got unwanted rejection.\nActual message: "${error?.message}"`);
    }
  },
  ifError(value) {
    if (value !== null && value !== undefined) fail(undefined, { actual: value, expected: null, operator: "ifError" }, `ifError got unwanted exception: ${value?.message ?? inspect(value)}`);
  },
  match(text, pattern, message) {
    if (typeof text !== "string" || !pattern.test(text)) fail(message, { actual: text, expected: pattern, operator: "match" }, `The input did not match the regular expression ${inspect(pattern)}. Input:\n\n${inspect(text)}\n`);
  },
  doesNotMatch(text, pattern, message) {
    if (typeof text === "string" && pattern.test(text)) fail(message, { actual: text, expected: pattern, operator: "doesNotMatch" }, `The input was expected to not match the regular expression ${inspect(pattern)}. Input:\n\n${inspect(text)}\n`);
  },
};

function assert(value, message) {
  ok(value, message);
}
function strict(value, message) {
  ok(value, message);
}
Object.assign(assert, methods, { AssertionError, strict });
Object.assign(strict, methods, {
  AssertionError, strict, equal: methods.strictEqual, notEqual: methods.notStrictEqual, deepEqual: methods.deepStrictEqual,
  notDeepEqual: methods.notDeepStrictEqual,
});
module.exports = assert;
0 && (module.exports = { ok, fail, equal, notEqual, strictEqual, notStrictEqual, deepEqual, notDeepEqual, deepStrictEqual, notDeepStrictEqual, throws, doesNotThrow, rejects, doesNotReject, ifError, match, doesNotMatch, AssertionError, strict });
