// External values: secrets, existing resources, outputs of other stacks.

import { host, NativeError, NativeTypeError, create, defineProperty, freeze, ownKeys, toText } from "stead:host";
import { idOf, refusal, refuse, unknown } from "stead:unknown";
import { mayLookUp, nodeOf } from "stead:resource";

const { stringify } = JSON;

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

// Returns the text of an id: a string, or an object of the parts of an identifier, which are known strings.
function idText(id, name) {
  const what = "the id of an existing resource, as a string";
  if (typeof id !== "object" || id === null || idOf(id) !== undefined) return known(id, name, what);
  const keys = ownKeys(id);
  const parts = create(null);
  for (let i = 0; i < keys.length; i++) parts[toText(keys[i])] = known(id[keys[i]], name, what);
  return stringify(parts);
}

// Returns the node of the option `provider`, or -1 for the default provider.
function providerNode(options, name) {
  const { provider } = options ?? {};
  if (provider === undefined) return -1;
  const node = nodeOf(provider);
  if (node === undefined) throw new NativeTypeError(`\`provider\` of \`${name}\` must be a provider resource`);
  return node;
}

/** Returns an instance of a provider class with the properties of an existing resource. */
export function lookUp(token, target, prototype, id, options) {
  mayLookUp();
  const name = `${target}.get`;
  const text = idText(id, name);
  const { properties } = checked(host.lookUp(token, text, providerNode(options, name), new NativeError().stack));
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
