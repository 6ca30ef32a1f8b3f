import { load, dump, loadAll } from "js-yaml";
let failure = "";
try {
  load("a: [1\nb: 2");
} catch (error) {
  failure = `${error.name} ${error.reason}`;
}
export const result = [
  load("a: 1\nb: [x, 'y', \"z\\n\"]\nc: >\n  folded\n  text\nd: 2001-12-14t21:59:43.10-05:00\n"), dump({ z: 1, a: [true, null, "y"], s: "a: b", m: "l1\nl2" }),
  dump({ b: 2, a: 1 }, { sortKeys: true, flowLevel: 0 }), loadAll("a: 1\n---\nb: 2"), failure,
];
