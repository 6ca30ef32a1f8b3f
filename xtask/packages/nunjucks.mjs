import nunjucks from "nunjucks";
const env = new nunjucks.Environment(null, { autoescape: true });
env.addFilter("shout", (text) => `${text}!`);
export const result = [
  env.renderString("{% for x in list %}{{ loop.index }}:{{ x | upper | shout }} {% else %}none{% endfor %}", { list: ["a", "b"] }),
  env.renderString("{% set y = 3 %}{{ y * 2 if y > 2 else 0 }} {{ '<b>' }} {{ '<b>' | safe }} {{ [3, 1, 2] | sort | join('-') }}", {}),
  env.renderString("{% macro f(a, b=2) %}{{ a }}{{ b }}{% endmacro %}{{ f(1) }} {{ {a: 1} | dump }}", {}), nunjucks.lib.escape("<&>"),
];
