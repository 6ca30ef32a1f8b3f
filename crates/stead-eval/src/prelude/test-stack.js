// Stacks of a test on an embedded cloud: programs are applied for real, to a cloud in memory, by a clock that does not wait.

import { NativeTypeError, freeze } from "stead:host";
import { Plan, ask, version } from "stead:test-program";
import { plain, revive } from "stead:test-values";

/** A plan that was applied, or that a guard refused. */
class Run extends Plan {
  constructor(answer) {
    super(answer);
    freeze(this);
  }
  snapshot() {
    return { ...super.snapshot(), result: this.result, problems: this.problems.map(({ code }) => code), outputs: plain(this.outputs) };
  }
}

const text = (value, what) => {
  if (typeof value !== "string") throw new NativeTypeError(`${what} is a text, such as "AWS::S3::Bucket"`);
  return value;
};

/** An embedded cloud without resources. */
class Cloud {
  #number;
  constructor(settings) {
    this.#number = ask("cloud", settings);
    freeze(this);
  }
  static number(cloud) {
    return cloud.#number;
  }
  #ask(request, argument) {
    return ask(`cloud.${request}`, { cloud: this.#number, ...argument });
  }
  #of(type, id) {
    return { type: text(type, "a type"), id: text(id, "an id") };
  }
  resources(type) {
    return revive(this.#ask("resources", type === undefined ? {} : { type: text(type, "a type") }));
  }
  model(type, id) {
    return revive(this.#ask("model", this.#of(type, id))) ?? undefined;
  }
  create(type, properties) {
    return this.#ask("create", { type: text(type, "a type"), properties: properties ?? {} });
  }
  drift(type, id, change) {
    this.#ask("drift", { ...this.#of(type, id), change });
  }
  remove(type, id) {
    this.#ask("remove", this.#of(type, id));
  }
  fill(type, id, count) {
    this.#ask("fill", { ...this.#of(type, id), count });
  }
  failNext(fault, which) {
    this.#ask("fail-next", { fault, ...which });
  }
  faults(plan) {
    this.#ask("faults", { plan: plan ?? null });
  }
  get calls() {
    return revive(this.#ask("calls"));
  }
}

/** A stack without resources, on a cloud. */
class Stack {
  #number;
  #options;
  constructor({ cloud = new Cloud({}), ...options }) {
    this.cloud = cloud;
    this.#options = options;
    this.#number = ask("stack", { cloud: Cloud.number(cloud), options });
    freeze(this);
  }
  #run(request, { to, refresh = false, updatePins = false, takeOver = [], ...options } = {}) {
    const mine = this.#options;
    const merged = { ...mine, ...options, config: { ...mine.config, ...options.config }, files: { ...mine.files, ...options.files } };
    const program = to === undefined ? { source: "current" } : version(to, "to");
    return ask(`stack.${request}`, { stack: this.#number, to: program, options: merged, how: { refresh, updatePins, takeOver } });
  }
  plan(options) {
    return new Plan(this.#run("plan", options));
  }
  apply(options) {
    return new Run(this.#run("apply", options));
  }
  destroy(options) {
    return new Run(this.#run("destroy", options));
  }
  refresh() {
    return revive(ask("stack.refresh", { stack: this.#number }));
  }
  get resources() {
    return revive(ask("stack.resources", { stack: this.#number }));
  }
  find(name) {
    return revive(ask("stack.find", { stack: this.#number, name }));
  }
  get pinfile() {
    return revive(ask("stack.pinfile", { stack: this.#number })) ?? undefined;
  }
}

/** Returns an embedded cloud without resources. */
export const freshCloud = (settings) => new Cloud({ ...settings });
/** Returns a stack without resources, on a cloud of its own or on a given one. */
export const freshStack = (options) => new Stack({ ...options });
