// `expect(…)`: the assertions of a test. A failed one throws an error that carries both values as text.

import { host, NativeError, defineProperty, isArray } from "stead:host";
import { Matcher, Secret, Unknown, brief, equals, plain, pretty } from "stead:test-values";

const REFUSAL = host.refusalSymbol;

export class AssertionError extends NativeError {
  get name() {
    return "AssertionError";
  }
}

/** Throws an error for a failed assertion. The text of both sides is compared line by line when it is shown. */
export function fail(message, expected, received) {
  const error = new AssertionError(message);
  defineProperty(error, REFUSAL, { value: host.testFailure(message, expected, received, error.stack) });
  throw error;
}

/** An operation that Stead refused: the program does not evaluate, or a guard forbids the plan. */
export class Refused extends NativeError {
  constructor({ failure, message, problems }) {
    super(message);
    this.code = problems[0]?.code;
    this.codes = problems.map((problem) => problem.code);
    this.problems = problems;
    defineProperty(this, REFUSAL, { value: failure });
  }
  get name() {
    return "Refused";
  }
}

const misuse = (message) => fail(message);
const truthy = (value) => !!value;
const quoted = (code) => (code === undefined ? "" : ` with ${brief(code)}`);

function caught(received, matcher) {
  if (typeof received !== "function") misuse(`\`${matcher}\` takes a function: write \`expect(() => …).${matcher}()\``);
  try {
    const result = received();
    if (typeof result?.then === "function") {
      misuse(`the function given to \`${matcher}\` is asynchronous: write \`await expect(…).rejects.${matcher}()\``);
    }
  } catch (error) {
    if (error instanceof AssertionError) throw error;
    return { error };
  }
  return undefined;
}

function fits(error, expected) {
  if (expected === undefined) return true;
  const message = error instanceof NativeError ? error.message : `${error}`;
  if (typeof expected === "string") return message.includes(expected);
  if (expected instanceof RegExp) return expected.test(message);
  if (typeof expected === "function") return error instanceof expected;
  if (expected instanceof Matcher) return expected.matches(error);
  return message === expected.message;
}

// Returns the member at a path such as `a.b[0]`, or of a list of keys.
function member(value, path) {
  const keys = isArray(path) ? path : `${path}`.replace(/\[(\d+)\]/g, ".$1").split(".").filter((key) => key !== "");
  for (const key of keys) {
    if (value === null || value === undefined || !(key in Object(value))) return { found: false };
    value = value[key];
  }
  return { found: true, value };
}

const numbers = (matcher, sign, compare) => (received, expected) => ({
  pass: compare(received, expected),
  message: (not) => `expected ${brief(received)} ${not}to be ${sign} ${brief(expected)}`,
});

const simple = (what, test) => (received) => ({
  pass: test(received),
  message: (not) => `expected ${brief(received)} ${not}to be ${what}`,
});

const stepsOf = (plan, matcher) => (isArray(plan?.steps) ? plan.steps : misuse(`\`${matcher}\` takes a plan: \`expect(plan(…))\``));

const noStep = (matcher, verb, wanted) => (received) => {
  const found = stepsOf(received, matcher).filter(wanted);
  // Without a plan there is no answer, and silence would pass for a good one.
  if (!received.complete) throw received.refusal;
  const line = (step) => `${step.kind} ${step.name}${step.forcedBy.length > 0 ? ` because of ${step.forcedBy.join(", ")}` : ""}`;
  return {
    pass: found.length === 0,
    message: (not) => `expected the plan ${not}to ${verb} nothing`,
    expected: "",
    received: found.map(line).join("\n"),
  };
};

// Each matcher returns whether it holds, its message, and the text of both sides if there is a difference to show.
const matchers = {
  toBe: (received, expected) => ({
    pass: Object.is(received, expected),
    message: (not) => `expected ${brief(received)} ${not}to be ${brief(expected)}`,
    expected: pretty(expected),
    received: pretty(received),
  }),
  toEqual: (received, expected) => equality(received, expected, {}, "to equal"),
  toStrictEqual: (received, expected) => equality(received, expected, { strict: true }, "to equal strictly"),
  toMatchObject: (received, expected) => equality(received, expected, { partial: true }, "to match"),
  toContain: (received, item) => ({
    pass: typeof received === "string" ? received.includes(item) : Array.from(received ?? []).includes(item),
    message: (not) => `expected ${brief(received)} ${not}to contain ${brief(item)}`,
  }),
  toContainEqual: (received, item) => ({
    pass: Array.from(received ?? []).some((each) => equals(each, item)),
    message: (not) => `expected ${brief(received)} ${not}to contain an item equal to ${brief(item)}`,
  }),
  toHaveLength: (received, length) => ({
    pass: received?.length === length,
    message: (not) => `expected ${brief(received)} ${not}to have length ${length}, and it has ${received?.length}`,
  }),
  toHaveProperty: (received, path, ...value) => {
    const found = member(received, path);
    const what = value.length > 0 ? ` with the value ${brief(value[0])}` : "";
    return {
      pass: found.found && (value.length === 0 || equals(found.value, value[0])),
      message: (not) => `expected ${brief(received)} ${not}to have the property ${brief(path)}${what}`,
    };
  },
  toBeDefined: simple("defined", (value) => value !== undefined),
  toBeUndefined: simple("undefined", (value) => value === undefined),
  toBeNull: simple("null", (value) => value === null),
  toBeTruthy: simple("true or like true", truthy),
  toBeFalsy: simple("false or like false", (value) => !value),
  toBeGreaterThan: numbers("toBeGreaterThan", "greater than", (a, b) => a > b),
  toBeGreaterThanOrEqual: numbers("toBeGreaterThanOrEqual", "at least", (a, b) => a >= b),
  toBeLessThan: numbers("toBeLessThan", "less than", (a, b) => a < b),
  toBeLessThanOrEqual: numbers("toBeLessThanOrEqual", "at most", (a, b) => a <= b),
  toBeCloseTo: (received, expected, digits = 2) => ({
    pass: Math.abs(received - expected) < 10 ** -digits / 2,
    message: (not) => `expected ${brief(received)} ${not}to be close to ${brief(expected)}`,
  }),
  toBeInstanceOf: (received, type) => ({
    pass: received instanceof type,
    message: (not) => `expected ${brief(received)} ${not}to be an instance of ${type.name}`,
  }),
  toMatch: (received, pattern) => ({
    pass: typeof received === "string" && (typeof pattern === "string" ? received.includes(pattern) : pattern.test(received)),
    message: (not) => `expected ${brief(received)} ${not}to match ${brief(pattern)}`,
  }),
  toThrow: (received, expected) => {
    const thrown = received?.[SETTLED] ? received.thrown : caught(received, "toThrow");
    const what = thrown === undefined ? "and it did not throw" : `and it threw ${brief(thrown.error)}`;
    return {
      pass: thrown !== undefined && fits(thrown.error, expected),
      message: (not) => `expected the function ${not}to throw${quoted(expected)}, ${what}`,
    };
  },
  toBeRefused: (received, code) => {
    if (isArray(received?.steps)) return refusedPlan(received, code);
    const thrown = received?.[SETTLED] ? received.thrown : caught(received, "toBeRefused");
    if (thrown !== undefined && !(thrown.error instanceof Refused)) throw thrown.error;
    return refused(thrown?.error, code, "the program");
  },
  toSucceed: (received) => {
    if (typeof received?.result !== "string") misuse("`toSucceed` takes a run: `expect(stack.apply())`");
    // A refused run has no problems of its own.
    const reasons = received.refusal?.problems ?? received.problems;
    return {
      pass: received.result === "succeeded",
      message: (not) => `expected the run ${not}to succeed, and it ${received.result === "succeeded" ? "did" : `is ${received.result}`}`,
      expected: "",
      received: reasons.map(({ code, message }) => `${code}: ${message}`).join("\n"),
    };
  },
  toBeUnknown: (received, of) => ({
    pass: received instanceof Unknown && (of === undefined || received.of.includes(of)),
    message: (not) => `expected ${brief(received)} ${not}to be known only after apply${of === undefined ? "" : `, from ${brief(of)}`}`,
  }),
  toBeSecret: simple("a secret", (value) => value instanceof Secret),
  toReplaceNothing: noStep("toReplaceNothing", "replace", (step) => step.kind === "replace"),
  toDeleteNothing: noStep("toDeleteNothing", "delete", (step) => step.kind === "delete"),
  toChangeNothing: noStep("toChangeNothing", "change", () => true),
  toMatchSnapshot: (received, hint) => {
    const found = host.testSnapshot(hint === undefined ? "" : `${hint}`, snapshotForm(received), new NativeError().stack);
    return {
      pass: found.same,
      message: () => found.message,
      expected: found.expected,
      received: found.received,
    };
  },
};

const SETTLED = Symbol("settled");
const snapshotForm = (value) => (typeof value?.snapshot === "function" ? value.snapshot() : plain(value));

function equality(received, expected, how, words) {
  return {
    pass: equals(received, expected, how),
    message: (not) => `expected ${brief(received)} ${not}${words} ${brief(expected)}`,
    expected: pretty(expected),
    received: pretty(received),
  };
}

function refused(error, code, what) {
  const codes = error?.codes ?? [];
  const how = error === undefined ? "and it is accepted" : `and it is refused with ${codes.join(", ")}: ${error.message}`;
  return {
    pass: error !== undefined && (code === undefined || codes.includes(code)),
    message: (not) => `expected ${what} ${not}to be refused${quoted(code)}, ${how}`,
  };
}

const refusedPlan = (plan, code) => refused(plan.refusal, code, "the plan");

function check(matcher, negated, received, args) {
  const { pass, message, expected, received: shown } = matchers[matcher](received, ...args);
  if (pass !== negated) return;
  if (negated) fail(message("not "));
  fail(message(""), expected, shown);
}

const NEGATABLE = (matcher) => matcher !== "toMatchSnapshot";

function expectation(received, negated) {
  const out = {};
  for (const matcher of Object.keys(matchers)) {
    if (negated && !NEGATABLE(matcher)) continue;
    out[matcher] = (...args) => check(matcher, negated, received, args);
  }
  return out;
}

// The matchers of a promise: each waits for it first.
function settled(promise, negated, want) {
  const out = {};
  for (const matcher of Object.keys(matchers)) {
    out[matcher] = async (...args) => {
      let result;
      try {
        const value = await (typeof promise === "function" ? promise() : promise);
        if (want === "rejects") fail(`expected the promise to be rejected, and it gives ${brief(value)}`);
        result = value;
      } catch (error) {
        if (want === "resolves" || error instanceof AssertionError) throw error;
        const throws = matcher === "toThrow" || matcher === "toBeRefused";
        result = throws ? { [SETTLED]: true, thrown: { error } } : error;
      }
      check(matcher, negated, result, args);
    };
  }
  return out;
}

export function expect(received) {
  const out = expectation(received, false);
  defineProperty(out, "not", { get: () => expectation(received, true) });
  defineProperty(out, "resolves", { get: () => settled(received, false, "resolves") });
  defineProperty(out, "rejects", { get: () => settled(received, false, "rejects") });
  return out;
}

const TYPES = new Map([[String, "string"], [Number, "number"], [Boolean, "boolean"], [Function, "function"]]);
expect.anything = () => new Matcher("anything", (value) => value !== undefined && value !== null);
expect.any = (type) =>
  new Matcher(`any ${type.name}`, (value) => (TYPES.has(type) ? typeof value === TYPES.get(type) : type === Object ? typeof value === "object" : value instanceof type));
expect.objectContaining = (some) =>
  new Matcher(`object containing ${brief(some)}`, (value) => equals(value, some, { partial: true }));
expect.arrayContaining = (some) =>
  new Matcher(`list containing ${brief(some)}`, (value) => isArray(value) && some.every((item) => value.some((each) => equals(each, item))));
expect.stringContaining = (text) =>
  new Matcher(`text containing ${brief(text)}`, (value) => typeof value === "string" && value.includes(text));
expect.stringMatching = (pattern) =>
  new Matcher(`text matching ${pattern}`, (value) => typeof value === "string" && new RegExp(pattern).test(value));

/** Stands for a value that is known only after apply, and comes from this property. */
export const unknownOf = (of) =>
  new Matcher(`<known after apply: ${of ?? "anything"}>`, (value) => value instanceof Unknown && (of === undefined || value.of.includes(of)));
