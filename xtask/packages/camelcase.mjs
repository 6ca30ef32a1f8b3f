import camelCase from "camelcase";
export const result = [camelCase("foo-bar"), camelCase("Foo-Bar", { pascalCase: true }), camelCase(["a", "b c"]), camelCase("XMLHttpRequest"), camelCase("лев-толстой")];
