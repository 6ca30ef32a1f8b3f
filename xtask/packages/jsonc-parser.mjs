import { parse, stripComments, modify, applyEdits, format, parseTree, findNodeAtLocation, getNodeValue } from "jsonc-parser";
const text = '{ "a": 1, // c\n "b": [1, 2,], }';
export const result = [
  parse(text, [], { allowTrailingComma: true }), stripComments('{"a":1/*x*/}'), applyEdits('{"a":1}', modify('{"a":1}', ["b", "c"], 2, { formattingOptions: { insertSpaces: true, tabSize: 2 } })),
  applyEdits('{"x":[1,2]}', format('{"x":[1,2]}', undefined, { insertSpaces: true, tabSize: 2 })), getNodeValue(findNodeAtLocation(parseTree('{"a":{"b":[5]}}'), ["a", "b", 0])),
];
