// Interpreter of deferred built-ins, in a realm without a program. Rust has already checked the names.

(() => {
  const { apply } = Reflect;
  const binary = {
    "+": (a, b) => a + b,
    "-": (a, b) => a - b,
    "*": (a, b) => a * b,
    "/": (a, b) => a / b,
    "%": (a, b) => a % b,
    "**": (a, b) => Math.pow(a, b),
    "<<": (a, b) => a << b,
    ">>": (a, b) => a >> b,
    ">>>": (a, b) => a >>> b,
    "&": (a, b) => a & b,
    "|": (a, b) => a | b,
    "^": (a, b) => a ^ b,
    "==": (a, b) => a == b,
    "!=": (a, b) => a != b,
    "===": (a, b) => a === b,
    "!==": (a, b) => a !== b,
    "<": (a, b) => a < b,
    "<=": (a, b) => a <= b,
    ">": (a, b) => a > b,
    ">=": (a, b) => a >= b,
  };
  const unary = { "+": (a) => +a, "-": (a) => -a, "~": (a) => ~a, "!": (a) => !a };

  const kinds = {
    method(name, [receiver, ...args]) {
      if (receiver === null || receiver === undefined) throw new TypeError(`cannot call \`${name}\` on ${receiver}`);
      const method = receiver[name];
      if (typeof method !== "function") {
        throw new TypeError(`\`${name}\` is not a method of ${Array.isArray(receiver) ? "a list" : `a ${typeof receiver}`}`);
      }
      // The digits of the engine differ from those of a program.
      if (name === "toString" && typeof receiver === "number" && !Number.isSafeInteger(receiver) && +(args[0] ?? 10) !== 10) {
        throw new TypeError("only a whole number can be written in another radix after apply; use `apply`");
      }
      return apply(method, receiver, args);
    },
    operator: (name, args) => apply((args.length === 1 ? unary : binary)[name], undefined, args),
    global(name, args) {
      const [owner, member] = name.split(".");
      return member === undefined
        ? apply(globalThis[owner], undefined, args)
        : apply(globalThis[owner][member], globalThis[owner], args);
    },
  };
  return (kind, name, args) => kinds[kind](name, args);
})();
