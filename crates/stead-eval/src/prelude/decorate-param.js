// What a decorator of a parameter compiles to.

/** A decorator of the method that decorates its parameter. */
export default function decorateParam(index, decorator) {
  return (target, key) => decorator(target, key, index);
}
