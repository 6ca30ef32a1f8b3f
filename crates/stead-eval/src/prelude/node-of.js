// `nodeOf`: settings of a resource or group after its declaration. `move`: its former name or path.

import { host, NativeError, NativeTypeError, freeze } from "stead:host";
import { mayMove, mayPin, nodeOf as numberOf } from "stead:resource";

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

/** Says that a recorded resource is now the one of this declaration. */
export function move(from, to) {
  mayMove();
  if (typeof from !== "string") {
    throw new NativeTypeError("`move` takes the former name or path of a resource, known while planning, as its first argument");
  }
  const number = numberOf(to);
  if (number === undefined && typeof to !== "string") {
    throw new NativeTypeError("`move` takes a resource, or its name or path, as its second argument");
  }
  host.move(from, number ?? -1, number === undefined ? to : "", new NativeError().stack);
}

export function nodeOf(resource) {
  const number = numberOf(resource);
  if (number === undefined) throw new NativeTypeError("`nodeOf` takes a resource");
  return new Node(number);
}
