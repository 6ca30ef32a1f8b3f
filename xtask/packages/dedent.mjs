import dedent from "dedent";
const x = 5;
export const result = [dedent`first\n   ${x}\n    third`, dedent("  a\n    b\n  c"), dedent`
  one
    two ${"v"}
`];
