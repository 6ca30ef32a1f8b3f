import pluralize from "pluralize";
export const result = [pluralize("test", 2, true), pluralize("person"), pluralize.singular("wolves"), pluralize.isPlural("sheep"), pluralize("index"), pluralize("policy", 1), pluralize("vertex", 3)];
