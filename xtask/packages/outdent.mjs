import outdent, { outdent as named } from "outdent";
export const result = [outdent`
  a
    b ${1}
  c
`, named.string("\n    x\n      y\n"), outdent({ trimLeadingNewline: false })`
  q`];
