import Handlebars from "handlebars";
Handlebars.registerHelper("loud", (text) => text.toUpperCase());
Handlebars.registerPartial("item", "<li>{{name}}</li>");
const template = Handlebars.compile("<ul>{{#each items}}{{> item}}{{/each}}</ul>{{#if ok}}{{loud title}}{{else}}no{{/if}}{{{raw}}}{{raw}}");
export const result = [
  template({ items: [{ name: "a" }, { name: "b&c" }], ok: true, title: "hi", raw: "<b>" }), Handlebars.escapeExpression("<&>\"'"),
  Handlebars.compile("{{#with user}}{{first}} {{../last}}{{/with}}{{#each m}}{{@key}}={{this}};{{/each}}")({ user: { first: "x" }, last: "y", m: { a: 1, b: 2 } }),
  typeof Handlebars.precompile("{{a}}"), Handlebars.VERSION.split(".").length,
];
