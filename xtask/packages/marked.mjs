import { marked } from "marked";
export const result = [marked.parse("# Title\n\nSome *text* with `code` and [a link](http://x).\n\n- a\n- b\n\n| h |\n|---|\n| c |\n"), marked.lexer("a\n\nb").map((token) => token.type)];
