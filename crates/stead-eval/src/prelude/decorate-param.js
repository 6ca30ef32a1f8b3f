// Helper for parameter decorators.

/** Returns a method decorator that applies a parameter decorator. */
export default function decorateParam(index, decorator) {
  return (target, key) => decorator(target, key, index);
}
