import JSON5 from "json5";
export const result = [
  JSON5.parse("{ // c\n a: 1, 'b': .5, c: +Infinity > 0, }".replace("c: +Infinity > 0,", "c: [0x1F, 'it\\'s',],")), JSON5.stringify({ a: [1, "x'y"], "b-c": null }, null, 2), JSON5.parse("'\\u0041'"),
];
