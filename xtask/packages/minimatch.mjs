import { minimatch, Minimatch } from "minimatch";
export const result = [minimatch("bar.foo", "*.foo"), minimatch("a/b/c.ts", "**/*.{ts,js}"), minimatch.filter("*.md")("x.md"), minimatch.match(["a.js", "b.ts", ".c.js"], "*.js"), new Minimatch("{a..c}/[!x]*").braceExpand(), minimatch("a/../b", "a/*/b"), minimatch("foo", "+(foo|bar)"), minimatch(".hidden", "*", { dot: true })];
