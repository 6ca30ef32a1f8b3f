// What a program can say about a resource, or a group, once it is made.

import { host, NativeTypeError, freeze } from "stead:host";
import { mayPin, nodeOf as numberOf } from "stead:resource";

class Node {
  #number;
  constructor(number) {
    this.#number = number;
    freeze(this);
  }
  /** What is said of it or of what is around it so far; `undefined`: nothing, and its type decides. */
  get pinned() {
    return host.pinSetting(this.#number);
  }
  set pinned(flag) {
    mayPin();
    if (typeof flag !== "boolean") throw new NativeTypeError("`pinned` must be true or false, and known to the program");
    host.pin(this.#number, flag);
  }
}
freeze(Node.prototype);
freeze(Node);

export function nodeOf(resource) {
  const number = numberOf(resource);
  if (number === undefined) throw new NativeTypeError("`nodeOf` takes a resource");
  return new Node(number);
}
