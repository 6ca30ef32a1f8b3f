import { parse, stringify } from "smol-toml";
export const result = [
  parse("title = 'x'\n[owner]\nname = \"y\"\nages = [1, 2]\n[[items]]\na = 1.5\n[[items]]\na = 0x10\nb = true\n[deep.er]\nk = \"\"\"multi\nline\"\"\"\n"),
  stringify({ a: 1, b: { c: [1.5, 2], d: "q\"" }, list: [{ x: 1 }, { x: 2 }] }), String(parse("d = 1979-05-27T07:32:00Z").d.toISOString()),
];
