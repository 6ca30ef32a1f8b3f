// What a program takes from outside: secrets, things that exist already, outputs of other stacks.

import { host, NativeError, NativeTypeError, create, defineProperty, freeze, ownKeys, toText } from "stead:host";
import { idOf, refusal, refuse, unknown } from "stead:unknown";
import { mayLookOutside } from "stead:resource";

function checked(answer) {
  if (answer.problem !== undefined) throw refusal(answer.problem);
  return answer;
}

// A text that the program knows.
function known(value, name, what) {
  const id = idOf(value);
  if (id !== undefined) refuse("builtin", id, name);
  if (typeof value !== "string" || value === "") throw new NativeTypeError(`\`${name}\` takes ${what}`);
  return value;
}

/** The value, marked: from here on nothing shows it. */
export function markSecret(value, from, stack) {
  return unknown(checked(host.secret(value, from, stack)).expression);
}

/** `stead.secret(value)`. */
export const secret = (value) => markSecret(value, "given to `stead.secret`", new NativeError().stack);

/** An instance of a provider's class with the properties of something that exists already. */
export function lookUp(token, target, prototype, id) {
  mayLookOutside();
  known(id, `${target}.get`, "the id of something that exists, as text");
  const { properties } = checked(host.lookUp(token, id, new NativeError().stack));
  const found = create(prototype);
  const keys = ownKeys(properties);
  for (let i = 0; i < keys.length; i++) {
    defineProperty(found, keys[i], { value: properties[keys[i]], enumerable: true });
  }
  return freeze(found);
}

const optional = (value, key) =>
  value === undefined ? undefined : known(value, `stead.stack(…, { ${key} })`, "a name, as text");

/** `stead.stack(project).outputs`: asked when it is read. */
export function stack(project, options) {
  known(project, "stead.stack", "the name of a project");
  const { env, namespace, target } = options ?? {};
  const where = [optional(env, "env"), optional(namespace, "namespace"), optional(target, "target")];
  let outputs;
  const found = create(null);
  defineProperty(found, "outputs", {
    get() {
      if (outputs !== undefined) return outputs;
      mayLookOutside();
      const answer = checked(host.stackOutputs(project, where[0], where[1], where[2], new NativeError().stack));
      return (outputs = freeze(answer.outputs));
    },
    enumerable: true,
  });
  return freeze(found);
}
