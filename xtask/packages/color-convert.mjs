import convert from "color-convert";
export const result = [convert.rgb.hsl(140, 200, 100), convert.keyword.rgb("blue"), convert.hex.lab("DEADBF"), convert.rgb.hex(123, 45, 67)];
