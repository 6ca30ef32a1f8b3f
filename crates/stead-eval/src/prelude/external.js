// External values: secrets, existing resources, outputs of other stacks.

import { host, NativeError, NativeTypeError, create, defineProperty, freeze, ownKeys, toText } from "stead:host";
import { idOf, refusal, refuse, unknown } from "stead:unknown";
import { mayLookUp } from "stead:resource";

function checked(answer) {
  if (answer.problem !== undefined) throw refusal(answer.problem);
  return answer;
}

// Returns a non-empty string that is known.
function known(value, name, what) {
  const id = idOf(value);
  if (id !== undefined) refuse("builtin", id, name);
  if (typeof value !== "string" || value === "") throw new NativeTypeError(`\`${name}\` takes ${what}`);
  return value;
}

/** Implements `stead.secret(value)`: returns the value as a secret, which is never displayed. */
export const secret = (value) =>
  unknown(checked(host.secret(value, "given to `stead.secret`", new NativeError().stack)).expression);

/** Returns an instance of a provider class with the properties of an existing resource. */
export function lookUp(token, target, prototype, id) {
  mayLookUp();
  known(id, `${target}.get`, "the id of an existing resource, as a string");
  const { properties } = checked(host.lookUp(token, id, new NativeError().stack));
  const found = create(prototype);
  const keys = ownKeys(properties);
  for (let i = 0; i < keys.length; i++) {
    defineProperty(found, keys[i], { value: properties[keys[i]], enumerable: true });
  }
  return freeze(found);
}

const optional = (value, key) =>
  value === undefined ? undefined : known(value, `stead.stack(…, { ${key} })`, "a name, as a string");

/** Implements `stead.stack(project)`. Outputs are requested when they are first read. */
export function stack(project, options) {
  known(project, "stead.stack", "the name of a project");
  const { env, namespace, target } = options ?? {};
  const where = [optional(env, "env"), optional(namespace, "namespace"), optional(target, "target")];
  let outputs;
  const found = create(null);
  defineProperty(found, "outputs", {
    get() {
      if (outputs !== undefined) return outputs;
      mayLookUp();
      const answer = checked(host.stackOutputs(project, where[0], where[1], where[2], new NativeError().stack));
      return (outputs = freeze(answer.outputs));
    },
    enumerable: true,
  });
  return freeze(found);
}
