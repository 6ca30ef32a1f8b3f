// `nodeOf`: settings of a resource or group after its declaration.

import { host, NativeTypeError, freeze } from "stead:host";
import { mayPin, nodeOf as numberOf } from "stead:resource";

class Node {
  #number;
  constructor(number) {
    this.#number = number;
    freeze(this);
  }
  /** Returns the setting of the node or of its nearest enclosing node; `undefined` if its type decides. */
  get pinned() {
    return host.pinSetting(this.#number);
  }
  set pinned(flag) {
    mayPin();
    if (typeof flag !== "boolean") throw new NativeTypeError("`pinned` must be true or false, known while planning");
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
