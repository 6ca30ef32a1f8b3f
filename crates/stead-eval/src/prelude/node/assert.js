// node:assert and node:assert/strict.
"use strict";

const { inspect } = require("node:internal/inspect");
const { equal } = require("node:internal/equal");
const { coded, invalidArgument, invalidValue } = require("node:internal/errors");
const types = require("node:internal/types");

class AssertionError extends Error {
  constructor({ message, actual, expected, operator, generated = message === undefined }) {
    super(message ?? (TITLES[operator] === undefined ? `${inspect(actual)} ${operator} ${inspect(expected)}` : difference(operator, actual, expected)));
    this.name = "AssertionError";
    this.code = "ERR_ASSERTION";
    this.generatedMessage = generated;
    this.actual = actual;
    this.expected = expected;
    this.operator = operator;
  }
}

// The message of a comparison that failed.
function difference(operator, actual, expected) {
  if (!operator.startsWith("not")) return `${TITLES[operator]}\n\n${inspect(actual)} !== ${inspect(expected)}\n`;
  const isObject = (typeof actual === "object" && actual !== null) || typeof actual === "function";
  const title = operator === "notStrictEqual" && isObject ? 'Expected "actual" not to be reference-equal to "expected":' : TITLES[operator];
  const shown = inspect(actual);
  if (shown.includes("\n")) return `${title}\n\n${shown}\n`;
  return `${title}${shown.length > 5 || operator === "notDeepEqual" ? "\n\n" : " "}${shown}`;
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
      if (arguments.length < 2) throw coded(new TypeError('The "actual" and "expected" arguments must be specified'), "ERR_MISSING_ARGS");
      if (passes(actual, expected)) return;
      const sign = operator === "equal" ? "==" : operator === "notEqual" ? "!=" : operator;
      fail(message, { actual, expected, operator: sign }, TITLES[operator] === undefined ? undefined : difference(operator, actual, expected));
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
    const details = { actual: error, expected, operator: "throws" };
    const isError = error instanceof Error;
    if (Error.isPrototypeOf(expected)) {
      const received = isError ? `"${error.name}"` : `"${inspect(error, { depth: -1 })}"`;
      fail(message, details, `The error is expected to be an instance of "${expected.name}". Received ${received}${isError ? `\n\nError message:\n\n${error.message}` : ""}`);
    }
    const result = expected.call({}, error);
    if (result === true) return;
    const name = expected.name ? `"${expected.name}" ` : "";
    fail(message, details, `The ${name}validation function is expected to return "true". Received ${inspect(result)}${isError ? `\n\nCaught error:\n\n${error}` : ""}`);
  } else {
    if (Object.keys(expected).length === 0 && !(expected instanceof Error)) throw invalidValue("error", expected, "may not be an empty object");
    for (const key of expected instanceof Error ? [...Object.keys(expected), "name", "message"] : Object.keys(expected)) {
      const pattern = expected[key] instanceof RegExp && typeof error[key] === "string";
      if (pattern ? expected[key].test(error[key]) : equal(error[key], expected[key], true)) continue;
      fail(message, { actual: error, expected, operator: "throws" }, `${TITLES.deepStrictEqual}\n\n${inspect(error[key])} !== ${inspect(expected[key])}\n`);
    }
  }
}
const given = (expected, message) => (typeof expected === "string" ? [undefined, expected] : [expected, message]);
function needFunction(value) {
  if (typeof value !== "function") throw invalidArgument("fn", "of type function", value);
}
// Tests what a function threw, or a promise was rejected with; undefined stands for nothing.
function settle(error, expected, message, operator, kind) {
  if (expected !== undefined && expected !== null && !["string", "object", "function"].includes(typeof expected)) {
    throw invalidArgument("error", "of type function or an instance of Error, RegExp, or Object", expected);
  }
  const [wanted, text] = given(expected, message);
  if (error === undefined) {
    const name = wanted?.name ? ` (${wanted.name})` : "";
    fail(undefined, { expected: wanted, operator }, `Missing expected ${kind}${name}${text ? `: ${text}` : "."}`);
  }
  const { thrown } = error;
  if (typeof expected === "string" && (thrown?.message === expected || thrown === expected)) {
    const subject = typeof thrown === "object" ? "The error message" : "The error";
    throw coded(new TypeError(`The "error/message" argument is ambiguous. ${subject} "${expected}" is identical to the message.`), "ERR_AMBIGUOUS_ARGUMENT");
  }
  matches(thrown, wanted ?? undefined, text);
}
function unwanted(error, expected, message, operator, kind) {
  const text = given(expected, message)[1];
  fail(undefined, { actual: error, operator }, `Got unwanted ${kind}${text ? `: ${text}` : "."}\nActual message: "${error?.message}"`);
}
function input(text, pattern, message, operator) {
  if (!types.isRegExp(pattern)) throw invalidArgument("regexp", "an instance of RegExp", pattern);
  const wanted = operator === "match";
  if (typeof text === "string" && (RegExp.prototype.exec.call(pattern, text) !== null) === wanted) return;
  const said = wanted ? "The input did not match" : "The input was expected to not match";
  const shown = typeof text === "string"
    ? `${said} the regular expression ${inspect(pattern)}. Input:\n\n${inspect(text)}\n`
    : `The "string" argument must be of type string. Received type ${typeof text} (${inspect(text)})`;
  fail(message, { actual: text, expected: pattern, operator }, shown);
}

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
    needFunction(callback);
    let error;
    try {
      callback();
    } catch (thrown) {
      error = { thrown };
    }
    settle(error, expected, message, "throws", "exception");
  },
  doesNotThrow(callback, expected, message) {
    needFunction(callback);
    try {
      callback();
    } catch (error) {
      unwanted(error, expected, message, "doesNotThrow", "exception");
    }
  },
  async rejects(promise, expected, message) {
    let error;
    try {
      await (typeof promise === "function" ? promise() : promise);
    } catch (thrown) {
      error = { thrown };
    }
    settle(error, expected, message, "rejects", "rejection");
  },
  async doesNotReject(promise, expected, message) {
    try {
      await (typeof promise === "function" ? promise() : promise);
    } catch (error) {
      unwanted(error, expected, message, "doesNotReject", "rejection");
    }
  },
  ifError(value) {
    if (value !== null && value !== undefined) fail(undefined, { actual: value, expected: null, operator: "ifError" }, `ifError got unwanted exception: ${value?.message ?? inspect(value)}`);
  },
  match(text, pattern, message) {
    input(text, pattern, message, "match");
  },
  doesNotMatch(text, pattern, message) {
    input(text, pattern, message, "doesNotMatch");
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
