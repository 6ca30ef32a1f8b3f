import { produce, produceWithPatches, enablePatches, enableMapSet, current, isDraft, applyPatches } from "immer";
enablePatches();
enableMapSet();
const base = { list: [{ n: 1 }, { n: 2 }], deep: { k: { v: 1 } }, map: new Map([["a", 1]]) };
const next = produce(base, (draft) => {
  draft.list.push({ n: 3 });
  draft.deep.k.v++;
  delete draft.list[0].n;
  draft.map.set("b", 2);
  if (!isDraft(draft.list)) throw new Error("not a draft");
  draft.copy = current(draft.list).length;
});
const [patched, patches, inverse] = produceWithPatches({ a: 1, l: [1, 2, 3] }, (draft) => { draft.a = 2; draft.l.splice(1, 1); });
export const result = [next.list, next.deep, [...next.map], next.copy, base.list.length, next.deep !== base.deep, Object.isFrozen(next), patched, patches, applyPatches(patched, inverse)];
