import { v5, v3, validate, version, parse, stringify, NIL, v4 } from "uuid";
export const result = [v5("hello.example.com", v5.DNS), v5("x", "1b671a64-40d5-491e-99b0-da01ff1f3341"), v3("hello.example.com", v3.DNS), validate("x"), version(v5("a", v5.URL)), [...parse(NIL)].length, stringify(parse("6ec0bd7f-11c0-43da-975e-2a8ad9ebae0b")), typeof v4];
