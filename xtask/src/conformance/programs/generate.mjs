// Generates TypeScript programs without unknown values, from a seed. The same seed gives the same programs.

import { calls, data, globals, operators, primitives, unary } from "./values.mjs";
import { snippets } from "./snippets.mjs";

// A small generator of random numbers (mulberry32).
export function random(seed) {
  let state = seed >>> 0;
  const next = () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let t = state;
    t = Math.imul(t ^ (t >>> 15), t | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  };
  const below = (limit) => Math.floor(next() * limit);
  const pick = (list) => list[below(list.length)];
  return { next, below, pick, chance: (part) => next() < part };
}

const value = (r) => (r.chance(0.6) ? r.pick(primitives) : r.pick(data));
// The compiler prints `-(-1 as any)` without parentheses.
const operand = (r) => {
  const text = value(r);
  return text.startsWith("-") ? `[${text} as any][0]` : wrap(text);
};
const wrap = (text) => `(${text} as any)`;

function expression(r, depth) {
  switch (r.below(depth > 0 ? 9 : 6)) {
    case 0:
      return `${operand(r)} ${r.pick(operators)} ${operand(r)}`;
    case 1:
      return `(${r.pick(unary)}${operand(r)})`;
    case 2:
    case 3: {
      const [receivers, name, pools] = r.pick(calls);
      const args = pools.slice(0, r.below(pools.length + 1)).map((pool) => r.pick(pool));
      return `${wrap(r.pick(receivers))}.${name}(${args.map((one) => wrap(one)).join(", ")})`;
    }
    case 4: {
      const [name, pools] = r.pick(globals);
      const args = pools.slice(0, 1 + r.below(pools.length)).map((pool) => r.pick(pool));
      return `(${name} as any)(${args.map((one) => wrap(one)).join(", ")})`;
    }
    case 5:
      return r.pick(["`${A}`", "A ? B : C", "A ?? B", "A || B", "A && B", "[...A]", "({ ...A })", "A?.length", "A?.[0]", "A in B", "A instanceof B", "[A, B].join()", "String(A)", "A == B ? C : A", "delete A.x", "(({ a = B, ...rest }: any) => [a, rest])(A)", "(([x, y = B, ...rest]: any) => [x, y, rest])(A)", "((x: any = B, ...rest: any[]) => [x, rest])(A, C)", "Math.max(...A)", "new Map(A)", "new Set(A)", "new Date(A)", "new Date(A, B)", "new Array(A)", "new Uint8Array(A)", "Symbol(A).toString()", "Symbol.for(A).description", "JSON.stringify([A, { k: B }])", "Object.entries({ a: A, ...B })", "(function (this: any) { return typeof this; }).call(A)", "A.constructor?.name", "Object.getPrototypeOf(A) === Object.prototype", "structuredClone([A])"]).replace(/\b[ABC]\b/g, () => wrap(value(r)));
    case 6:
      return `(${expression(r, depth - 1)}) ${r.pick(operators)} ${wrap(value(r))}`;
    case 7:
      return `String(${wrap(value(r))} ${r.pick(operators)} ${wrap(value(r))})`;
    default:
      return `[${expression(r, depth - 1)}, ${expression(r, depth - 1)}]`;
  }
}

/** Returns the text of one program. */
export function program(seed) {
  const r = random(seed);
  const lines = ['import { out, record } from "./show";'];
  const parts = 3 + r.below(6);
  for (let i = 0; i < parts; i++) {
    if (r.chance(0.25)) lines.push(`{\n${r.pick(snippets)(r, value, expression)}\n}`);
    else lines.push(`record(() => ${expression(r, 2)});`);
  }
  lines.push("export { out };", "");
  return lines.join("\n");
}
