import ejs from "ejs";
export const result = [
  ejs.render("<% for (const x of list) { %>[<%= x %>]<% } %><%- raw %>", { list: ["a", "<b>"], raw: "<i>" }), ejs.compile("Hello <%= name.toUpperCase() %>")({ name: "x" }),
  ejs.render("<%_ if (true) { -%>\nyes\n<%_ } -%>\n", {}), ejs.render("a <%# comment %>b <%% c", {}), ejs.render("<?= x ?>", { x: 1 }, { delimiter: "?" }),
];
