import bytes from "bytes";
export const result = [bytes("1.5KB"), bytes(1536), bytes.format(123456789, { decimalPlaces: 1, unitSeparator: " " }), bytes.parse("10 gb"), bytes("x")];
