import picomatch from "picomatch";
export const result = [picomatch("*.!(*a)")("a.b"), picomatch.isMatch("a/b/c", "a/**"), picomatch.makeRe("foo/{a,b}/*.ts").source, picomatch.scan("!./foo/*.js").glob, ["a.js", "b.md", "c.js"].filter(picomatch("*.js")), picomatch(["*.a", "!x.a"])("x.a")];
