import YAML, { parse, stringify, parseDocument } from "yaml";
const text = "# head\na: &x [1, 2.5, 0x1f]\nb: *x\nc: |\n  line 1\n  line 2\nd: {e: null, f: ~, g: true}\nh: 2001-12-14\n? complex\n: value\n";
const doc = parseDocument(text);
doc.setIn(["d", "new"], 7);
export const result = [
  parse(text), stringify({ a: [1, { b: "x: y" }], c: "multi\nline\n", d: null, e: "true", f: "" }), doc.toString(), YAML.parseAllDocuments("a: 1\n---\nb: 2\n").map((d) => d.toJS()),
  parseDocument("a: [1").errors.map((error) => error.code), stringify({ k: new Map([["m", 1]]) }), parse("!!set {a, b}") instanceof Set, parse("on: yes", { version: "1.1" }),
];
