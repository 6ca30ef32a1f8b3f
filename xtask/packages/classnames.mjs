import classNames from "classnames";
export const result = [classNames("a", { b: true, c: false }, ["d", { e: 1 }], null)];
