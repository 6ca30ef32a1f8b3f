// Helper for decorators with the semantics of TypeScript's `experimentalDecorators`.

import { NativeTypeError, defineProperty, ownProperty } from "stead:host";
import { idOf, refuse } from "stead:unknown";

/** Applies decorators to a class (two arguments) or to a member of a class. */
export default function decorate(decorators, target, key, property) {
  const ofClass = arguments.length < 3;
  const described = arguments.length > 3;
  let result = ofClass ? target : property === null ? ownProperty(target, key) : property;
  for (let i = decorators.length - 1; i >= 0; i--) {
    const decorator = decorators[i];
    if (idOf(decorator) !== undefined) refuse("call", idOf(decorator));
    if (typeof decorator !== "function") throw new NativeTypeError("a decorator must be a function");
    const given = ofClass ? decorator(result) : described ? decorator(target, key, result) : decorator(target, key);
    if (idOf(given) !== undefined) refuse("inspect", idOf(given));
    result = given || result;
  }
  if (described && result) defineProperty(target, key, result);
  return result;
}
