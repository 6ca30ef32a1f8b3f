import Mustache from "mustache";
export const result = [
  Mustache.render("{{title}} spends {{#calc}}{{n}}{{/calc}} {{{html}}} {{html}}", { title: "Joe", calc: { n: 6 }, html: "<i>" }),
  Mustache.render("{{#list}}{{.}},{{/list}}{{^none}}empty{{/none}}{{>p}}", { list: [1, 2, 3], none: [] }, { p: "[{{list.length}}]" }), Mustache.parse("a{{b}}c"), Mustache.render("{{=<% %>=}}<% x %>", { x: 1 }),
];
