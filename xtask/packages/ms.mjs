import ms from "ms";
export const result = [ms("2 days"), ms("1.5h"), ms(60000), ms(2 * 86400000, { long: true }), ms("-3 min"), ms("1y"), String(ms("x"))];
