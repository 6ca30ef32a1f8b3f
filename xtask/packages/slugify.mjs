import slugify from "slugify";
export const result = [slugify("some string with ümläut & $igns"), slugify("Foo Bar!", { lower: true, strict: true }), slugify("a_b c", "_"), slugify("straße øre")];
