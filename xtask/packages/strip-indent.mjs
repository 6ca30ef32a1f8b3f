import stripIndent from "strip-indent";
export const result = [stripIndent("\tunicorn\n\t\tcake"), stripIndent("  a\n   b\n\n  c")];
