// Programs in a test: declares them, and plans the way from one version to another.

import { host, NativeError, NativeTypeError, freeze } from "stead:host";
import { refusal } from "stead:unknown";
import { Refused, expect } from "stead:expect";
import { plain, revive } from "stead:test-values";

// Asks the library. A refusal becomes an error that a test can expect.
export function ask(request, argument) {
  const answer = host.testAsk(request, argument ?? null, new NativeError().stack);
  if (answer.misuse !== undefined) throw refusal(answer.misuse);
  if (answer.failure !== undefined) throw new Refused(answer);
  return answer.value;
}

const isSource = (value) => typeof value === "object" && value !== null && typeof value.source === "string";

/** The program as one evaluation declares it. */
export class App {
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
export class Plan {
  constructor({ refusal, ...plan }) {
    Object.assign(this, revive(plan));
    this.refusal = refusal === undefined || refusal === null ? undefined : new Refused(refusal);
    if (new.target === Plan) freeze(this);
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

export const version = (given, name) => {
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
