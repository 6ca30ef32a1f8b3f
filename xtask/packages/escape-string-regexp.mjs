import escape from "escape-string-regexp";
export const result = [escape("$40 for a g3/400?"), new RegExp(escape("a.b*c")).test("a.b*c")];
