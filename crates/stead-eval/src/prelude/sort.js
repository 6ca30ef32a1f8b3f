// Sorts with a comparison as V8 does: the same calls of it in the same order, so that a comparison which contradicts itself gives
// the same list, and one with side effects has the same.
//
// The algorithm is timsort: runs that are already sorted are found, extended by binary insertion, and merged; a merge in which one
// side wins often searches ahead ("gallops").

import { list } from "stead:host";

// Wins in a row after which a merge gallops.
const GALLOP = 7;

/** Sorts a list of values without holes. */
export function timsort(values, compare) {
  const length = values.length;
  if (length < 2) return;
  const sort = new Sort(values, compare);
  const shortest = shortestRun(length);
  for (let low = 0; low < length;) {
    let run = sort.run(low, length);
    if (run < shortest) {
      const forced = shortest < length - low ? shortest : length - low;
      sort.insert(low, low + run, low + forced);
      run = forced;
    }
    sort.push(low, run);
    sort.collapse();
    low += run;
  }
  sort.finish();
}

/** Returns the length of the shortest run: a list of that many runs, or just below, is a power of two of runs. */
function shortestRun(length) {
  let odd = 0;
  while (length >= 64) {
    odd |= length & 1;
    length >>= 1;
  }
  return length + odd;
}

class Sort {
  #values;
  #compare;
  #gallop = GALLOP;
  // Runs that are not merged yet, from left to right.
  #runs = list();
  #depth = 0;

  constructor(values, compare) {
    this.#values = values;
    this.#compare = compare;
  }

  /** Returns the length of the run at `low`, after it was reversed if it descends. */
  run(low, high) {
    const values = this.#values;
    const compare = this.#compare;
    if (low + 1 === high) return 1;
    let length = 2;
    const descends = compare(values[low + 1], values[low]) < 0;
    let previous = values[low + 1];
    for (let at = low + 2; at < high; at++, length++) {
      const current = values[at];
      const order = compare(current, previous);
      if (descends ? order >= 0 : order < 0) break;
      previous = current;
    }
    if (descends) {
      for (let left = low, right = low + length - 1; left < right; left++, right--) {
        const value = values[left];
        values[left] = values[right];
        values[right] = value;
      }
    }
    return length;
  }

  /** Inserts the values from `start` to `high` into the sorted ones before them. */
  insert(low, start, high) {
    const values = this.#values;
    const compare = this.#compare;
    for (let at = start === low ? start + 1 : start; at < high; at++) {
      const pivot = values[at];
      let left = low;
      let right = at;
      while (left < right) {
        const middle = left + ((right - left) >> 1);
        if (compare(pivot, values[middle]) < 0) right = middle;
        else left = middle + 1;
      }
      for (let to = at; to > left; to--) values[to] = values[to - 1];
      values[left] = pivot;
    }
  }

  push(start, length) {
    this.#runs[this.#depth++] = { start, length };
  }

  #length(run) {
    return this.#runs[run].length;
  }

  #balanced(run) {
    return run < 2 || this.#length(run - 2) > this.#length(run - 1) + this.#length(run);
  }

  /** Merges runs until their lengths fall from left to right. */
  collapse() {
    while (this.#depth > 1) {
      let at = this.#depth - 2;
      if (!this.#balanced(at + 1) || !this.#balanced(at)) {
        if (this.#length(at - 1) < this.#length(at + 1)) at--;
        this.#merge(at);
      } else if (this.#length(at) <= this.#length(at + 1)) {
        this.#merge(at);
      } else {
        break;
      }
    }
  }

  finish() {
    while (this.#depth > 1) {
      let at = this.#depth - 2;
      if (at > 0 && this.#length(at - 1) < this.#length(at + 1)) at--;
      this.#merge(at);
    }
  }

  /** Merges a run with the next one. */
  #merge(at) {
    const values = this.#values;
    let { start: a, length: lengthA } = this.#runs[at];
    const { start: b, length } = this.#runs[at + 1];
    let lengthB = length;
    this.#runs[at].length = lengthA + lengthB;
    if (at === this.#depth - 3) this.#runs[at + 1] = this.#runs[at + 2];
    this.#depth--;
    // Values of the left run that come before all of the right one stay, and so do those of the right one after all of the left.
    const skipped = this.#after(values, values[b], a, lengthA, 0);
    a += skipped;
    lengthA -= skipped;
    if (lengthA === 0) return;
    lengthB = this.#before(values, values[a + lengthA - 1], b, lengthB, lengthB - 1);
    if (lengthB === 0) return;
    if (lengthA <= lengthB) this.#mergeLow(a, lengthA, b, lengthB);
    else this.#mergeHigh(a, lengthA, b, lengthB);
  }

  /** Returns the position of `key` in a sorted part, left of equal values; `hint` is where the search begins. */
  #before(list, key, base, length, hint) {
    const compare = this.#compare;
    let last = 0;
    let offset = 1;
    if (compare(list[base + hint], key) < 0) {
      const most = length - hint;
      while (offset < most && compare(list[base + hint + offset], key) < 0) {
        last = offset;
        offset = (offset << 1) + 1;
        if (offset <= 0) offset = most;
      }
      if (offset > most) offset = most;
      last += hint;
      offset += hint;
    } else {
      const most = hint + 1;
      while (offset < most && !(compare(list[base + hint - offset], key) < 0)) {
        last = offset;
        offset = (offset << 1) + 1;
        if (offset <= 0) offset = most;
      }
      if (offset > most) offset = most;
      const first = last;
      last = hint - offset;
      offset = hint - first;
    }
    last++;
    while (last < offset) {
      const middle = last + ((offset - last) >> 1);
      if (compare(list[base + middle], key) < 0) last = middle + 1;
      else offset = middle;
    }
    return offset;
  }

  /** Returns the position of `key` in a sorted part, right of equal values; `hint` is where the search begins. */
  #after(list, key, base, length, hint) {
    const compare = this.#compare;
    let last = 0;
    let offset = 1;
    if (compare(key, list[base + hint]) < 0) {
      const most = hint + 1;
      while (offset < most && compare(key, list[base + hint - offset]) < 0) {
        last = offset;
        offset = (offset << 1) + 1;
        if (offset <= 0) offset = most;
      }
      if (offset > most) offset = most;
      const first = last;
      last = hint - offset;
      offset = hint - first;
    } else {
      const most = length - hint;
      while (offset < most && !(compare(key, list[base + hint + offset]) < 0)) {
        last = offset;
        offset = (offset << 1) + 1;
        if (offset <= 0) offset = most;
      }
      if (offset > most) offset = most;
      last += hint;
      offset += hint;
    }
    last++;
    while (last < offset) {
      const middle = last + ((offset - last) >> 1);
      if (compare(key, list[base + middle]) < 0) offset = middle;
      else last = middle + 1;
    }
    return offset;
  }

  /** Merges from the left; the left run is the shorter one and is copied. */
  #mergeLow(a, lengthA, b, lengthB) {
    const values = this.#values;
    const compare = this.#compare;
    const left = copied(values, a, lengthA);
    let to = a;
    let at = 0;
    const rest = () => {
      for (let i = 0; i < lengthA; i++) values[to + i] = left[at + i];
    };
    // The last value of the left run comes after all of the right one.
    const lastStays = () => {
      for (let i = 0; i < lengthB; i++) values[to + i] = values[b + i];
      values[to + lengthB] = left[at];
    };
    values[to++] = values[b++];
    if (--lengthB === 0) return rest();
    if (lengthA === 1) return lastStays();
    let gallop = this.#gallop;
    for (;;) {
      let winsA = 0;
      let winsB = 0;
      for (;;) {
        if (compare(values[b], left[at]) < 0) {
          values[to++] = values[b++];
          winsB++;
          lengthB--;
          winsA = 0;
          if (lengthB === 0) return rest();
          if (winsB >= gallop) break;
        } else {
          values[to++] = left[at++];
          winsA++;
          lengthA--;
          winsB = 0;
          if (lengthA === 1) return lastStays();
          if (winsA >= gallop) break;
        }
      }
      gallop++;
      for (let first = true; first || winsA >= GALLOP || winsB >= GALLOP; first = false) {
        gallop = gallop - 1 > 1 ? gallop - 1 : 1;
        this.#gallop = gallop;
        winsA = this.#after(left, values[b], at, lengthA, 0);
        if (winsA > 0) {
          for (let i = 0; i < winsA; i++) values[to + i] = left[at + i];
          to += winsA;
          at += winsA;
          lengthA -= winsA;
          if (lengthA === 1) return lastStays();
          // A comparison that contradicts itself can end the left run here.
          if (lengthA === 0) return rest();
        }
        values[to++] = values[b++];
        if (--lengthB === 0) return rest();
        winsB = this.#before(values, left[at], b, lengthB, 0);
        if (winsB > 0) {
          for (let i = 0; i < winsB; i++) values[to + i] = values[b + i];
          to += winsB;
          b += winsB;
          lengthB -= winsB;
          if (lengthB === 0) return rest();
        }
        values[to++] = left[at++];
        if (--lengthA === 1) return lastStays();
      }
      gallop++;
      this.#gallop = gallop;
    }
  }

  /** Merges from the right; the right run is the shorter one and is copied. */
  #mergeHigh(a, lengthA, b, lengthB) {
    const values = this.#values;
    const compare = this.#compare;
    const right = copied(values, b, lengthB);
    let to = b + lengthB - 1;
    let at = lengthB - 1;
    let from = a + lengthA - 1;
    const rest = () => {
      for (let i = 0; i < lengthB; i++) values[to - (lengthB - 1) + i] = right[i];
    };
    // The first value of the right run comes before all of the left one.
    const firstStays = () => {
      for (let i = 0; i < lengthA; i++) values[to - i] = values[from - i];
      values[to - lengthA] = right[at];
    };
    values[to--] = values[from--];
    if (--lengthA === 0) return rest();
    if (lengthB === 1) return firstStays();
    let gallop = this.#gallop;
    for (;;) {
      let winsA = 0;
      let winsB = 0;
      for (;;) {
        if (compare(right[at], values[from]) < 0) {
          values[to--] = values[from--];
          winsA++;
          lengthA--;
          winsB = 0;
          if (lengthA === 0) return rest();
          if (winsA >= gallop) break;
        } else {
          values[to--] = right[at--];
          winsB++;
          lengthB--;
          winsA = 0;
          if (lengthB === 1) return firstStays();
          if (winsB >= gallop) break;
        }
      }
      gallop++;
      for (let first = true; first || winsA >= GALLOP || winsB >= GALLOP; first = false) {
        gallop = gallop - 1 > 1 ? gallop - 1 : 1;
        this.#gallop = gallop;
        winsA = lengthA - this.#after(values, right[at], a, lengthA, lengthA - 1);
        if (winsA > 0) {
          for (let i = 0; i < winsA; i++) values[to - i] = values[from - i];
          to -= winsA;
          from -= winsA;
          lengthA -= winsA;
          if (lengthA === 0) return rest();
        }
        values[to--] = right[at--];
        if (--lengthB === 1) return firstStays();
        winsB = lengthB - this.#before(right, values[from], 0, lengthB, lengthB - 1);
        if (winsB > 0) {
          for (let i = 0; i < winsB; i++) values[to - i] = right[at - i];
          to -= winsB;
          at -= winsB;
          lengthB -= winsB;
          if (lengthB === 1) return firstStays();
          // A comparison that contradicts itself can end the right run here.
          if (lengthB === 0) return rest();
        }
        values[to--] = values[from--];
        if (--lengthA === 0) return rest();
      }
      gallop++;
      this.#gallop = gallop;
    }
  }
}

function copied(values, start, length) {
  const copy = list();
  for (let i = 0; i < length; i++) copy[i] = values[start + i];
  return copy;
}

/** Sorts values of a typed array: V8 merges halves there. */
export function mergeSort(values, compare) {
  const length = values.length;
  if (length < 2) return;
  merged(copied(values, 0, length), 0, length, values, compare);
}

// `source` and `target` hold the same values at first.
function merged(source, from, to, target, compare) {
  const middle = from + ((to - from) >> 1);
  if (middle - from > 1) merged(target, from, middle, source, compare);
  if (to - middle > 1) merged(target, middle, to, source, compare);
  let left = from;
  let right = middle;
  for (let at = from; at < to; at++) {
    const takeLeft = left < middle && (right >= to || compare(source[left], source[right]) <= 0);
    target[at] = takeLeft ? source[left++] : source[right++];
  }
}

/** Returns a comparison of the program as a number: one that is none counts as equal. */
const numbered = (compare) => (a, b) => {
  const order = +compare(a, b);
  return order !== order ? 0 : order;
};

const collect = (object, length, holes) => {
  const values = list();
  let count = 0;
  let missing = 0;
  for (let i = 0; i < length; i++) {
    if (holes === "skipped" && !(i in object)) continue;
    const value = object[i];
    if (value === undefined) missing++;
    else values[count++] = value;
  }
  return { values, missing };
};

/** Writes the sorted values to `to`, `undefined` after them. Returns the position after the last one. */
const write = (to, values, missing) => {
  for (let i = 0; i < values.length; i++) to[i] = values[i];
  for (let i = 0; i < missing; i++) to[values.length + i] = undefined;
  return values.length + missing;
};

/** Sorts a list in place. Holes move to its end. */
export function sortList(object, length, compare) {
  const { values, missing } = collect(object, length, "skipped");
  timsort(values, numbered(compare));
  for (let i = write(object, values, missing); i < length; i++) if (i in object) delete object[i];
  return object;
}

/** Fills a new list with the sorted values of another one. */
export function sortedList(object, length, compare, made) {
  const { values, missing } = collect(object, length, "read");
  timsort(values, numbered(compare));
  write(made, values, missing);
  return made;
}

/** Sorts a typed array in place. */
export function sortBytes(array, length, compare) {
  const { values } = collect(array, length, "read");
  mergeSort(values, numbered(compare));
  write(array, values, 0);
  return array;
}

/** Order of a typed array without a comparison: by number, with -0 before 0 and NaN last. */
export function numericOrder(a, b) {
  if (a < b) return -1;
  if (a > b) return 1;
  if (a !== a) return b !== b ? 0 : 1;
  if (b !== b) return -1;
  return a === 0 && b === 0 ? 1 / a - 1 / b : 0;
}
