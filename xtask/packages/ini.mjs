import { parse, stringify, decode } from "ini";
import ini from "ini";
export const result = [
  parse("; comment\nscope = global\n[database]\nuser = dbuser\npaths[] = a\npaths[] = b\n[a.b]\nc = true\n"), stringify({ a: 1, section: { b: "x=y", list: ["p", "q"] } }),
  ini.encode({ x: { y: { z: 1 } } }, { whitespace: true }), decode("k = \"quoted ; text\"\n"),
];
