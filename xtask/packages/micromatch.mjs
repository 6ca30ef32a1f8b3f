import micromatch from "micromatch";
export const result = [micromatch(["foo.js", "bar.md", "a/b.js"], ["*.js", "**/b.*"]), micromatch.isMatch("a/b/c", "a/**"), micromatch.capture("test/*.js", "test/foo.js"), micromatch.braces("{a..c}{1,2}", { expand: true })];
