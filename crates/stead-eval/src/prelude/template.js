// Templates: text with placeholders `${name}`. Values may be unknown; the text is then known after apply.

import { host, NativeError, NativeTypeError, isArray, list, ownKeys, hasOwn, toText } from "stead:host";
import { idOf, refusal, unknown } from "stead:unknown";
import { needed } from "stead:encoding";
import { textOf } from "stead:text";
import { readText } from "stead:files";

const { split } = String.prototype;
const { apply } = Reflect;

function problem(message, wanted, names, place, stack) {
  throw refusal(host.templateProblem(message, wanted, names, place, stack));
}

const namesOf = (values) => ownKeys(values).filter((key) => typeof key === "string");

// Returns the value of a name; a dot leads into an object.
function look(values, name, place, stack) {
  const parts = apply(split, name, ["."]);
  let value = values;
  for (let i = 0; i < parts.length; i++) {
    const known = idOf(value) === undefined;
    if (known && (typeof value !== "object" || value === null || !hasOwn(value, parts[i]))) {
      const names = typeof value === "object" && value !== null ? namesOf(value) : [];
      problem(`\`\${${name}}\` has no value`, parts[i], names, place, stack);
    }
    value = value[parts[i]];
  }
  if (idOf(value) === undefined && (value === null || value === undefined || typeof value === "object" || typeof value === "function")) {
    const kind = value === null || value === undefined ? toText(value) : isArray(value) ? "a list" : typeof value === "function" ? "a function" : "an object";
    problem(`the value of \`\${${name}}\` is ${kind}; a placeholder takes text, a number or a boolean`, "", [], place, stack);
  }
  return value;
}

function fill(template, values, file, stack) {
  const answer = host.templatePieces(template, file, stack);
  if (answer.problem !== undefined) throw refusal(answer.problem);
  const { pieces } = answer;
  const parts = list();
  const used = new Set();
  let deferred = false;
  for (let i = 0; i < pieces.length; i++) {
    const piece = pieces[i];
    if (typeof piece === "string") {
      parts[i] = piece;
      continue;
    }
    const [name, line, column] = piece;
    const text = textOf(look(values, name, [file, line, column], stack));
    used.add(apply(split, name, ["."])[0]);
    parts[i] = text;
    if (typeof text !== "string") deferred = true;
  }
  for (const name of namesOf(values)) {
    if (used.has(name)) continue;
    const placeholders = pieces.filter((piece) => typeof piece !== "string").map((piece) => piece[0]);
    const where = file === "" ? "the template" : `\`${file}\``;
    problem(`the value \`${name}\` is not used in ${where}`, name, placeholders, [file, 0, 0], stack);
  }
  if (deferred) return unknown(host.template(parts));
  let text = "";
  for (let i = 0; i < parts.length; i++) text += parts[i];
  return text;
}

function checkValues(values, name) {
  needed(values, name);
  if (typeof values !== "object" || values === null || isArray(values)) {
    throw new NativeTypeError(`\`${name}\` takes an object with the values of the placeholders`);
  }
  return values;
}

/** Returns a text whose placeholders `${name}` are replaced by values. */
export function render(template, values = {}) {
  const { stack } = new NativeError();
  if (typeof needed(template, "render") !== "string") throw new NativeTypeError("`render` takes a text");
  return fill(template, checkValues(values, "render"), "", stack);
}

/** Returns the text of a template file with its placeholders replaced. */
export function template(path, values = {}) {
  const { stack } = new NativeError();
  const text = readText(needed(path, "template"));
  return fill(text, checkValues(values, "template"), host.projectPath(toText(path)), stack);
}
