//! `Math` and `**` give the bits that Node.js gives, in a program, in an enum and after apply.

use crate::common::deferred::assert_deferred;
use crate::common::{program, show};

/// Lines of a name, the arguments and the result, as bits.
const VECTORS: &str = include_str!("node/math.txt");

#[test]
fn a_program_gets_the_bits_of_node() {
    let text = format!(
        r#"const view = new DataView(new ArrayBuffer(8));
const number = (bits: string) => (view.setBigUint64(0, BigInt(`0x${{bits}}`)), view.getFloat64(0));
const wrong: string[] = [];
for (const line of `{VECTORS}`.trim().split("\n")) {{
  const [name, ...bits] = line.split(" ");
  const all = bits.map(number);
  const expected = all.pop()!;
  if (!Object.is((Math as any)[name](...all), expected)) wrong.push(line);
  if (name !== "pow") continue;
  let changed: any = all[0];
  changed **= all[1];
  const member: any = {{ x: all[0] }};
  member["x"] **= all[1];
  if (![all[0] ** all[1], changed, member.x].every((one) => Object.is(one, expected))) wrong.push(`** ${{line}}`);
}}
export {{ wrong }};
"#
    );
    insta::assert_snapshot!(show(&program(&text).graph()), @"> wrong = []");
}

#[test]
fn powers_of_other_values_are_those_of_the_language() {
    let text = r#"const order: string[] = [];
const of = (name: string, value: any) => ({ valueOf() { order.push(name); return value; } });
const failed = (run: () => unknown) => { try { run(); return "no"; } catch (error) { return (error as Error).name; } };
export const values = [2n ** 64n, "3" as any ** 2, of("a", 2) as any ** (of("b", 3) as any), true as any ** 2, 0.97 ** 9, 10 ** -5].map(String);
export const failures = [failed(() => (1n as any) ** 2), failed(() => 2 ** (Symbol() as any)), failed(() => 2n ** -1n)];
export const special = [String(NaN ** 0), String(1 ** Infinity), String((-8) ** (1 / 3)), Object.is((-0) ** 3, -0)];
export { order };
export const described = [Math.sin.name, Math.pow.length, Math.sin.length, Object.keys(Math).length, String((Math as any).sin()), "prototype" in Math.sin];
enum Scale { Root = 2 ** 0.5, Tiny = 10 ** -5, Base = 3, Cube = Base ** 3, Next = 28 }
export const scale = [Scale.Root === Math.SQRT2, Scale.Tiny, Scale.Cube, Scale.Next, Scale[27]];
"#;
    insta::assert_snapshot!(show(&program(text).graph()), @r#"
    > described = ["sin",2,1,0,"NaN",false]
    > failures = ["TypeError","TypeError","RangeError"]
    > order = ["a","b"]
    > scale = [true,9.999999999999999e-6,27,28,"Cube"]
    > special = ["1","NaN","NaN",true]
    > values = ["18446744073709551616","9","8","1","0.760231058654565","0.000009999999999999999"]
    "#);
}

#[test]
fn a_power_that_would_hide_whether_a_member_is_text_is_refused() {
    let text = "enum A { X = 2, Y = X ** 2, Z = Y + 'a' }\nexport const z = A.Z;\n";
    insta::assert_snapshot!(program(text).failure(), @"
    ST0101 `**` with a name is not supported in an enum of a file whose enums use `+` or templates
      @ main.ts:1:21 +6 here
      help: write the number, or move the power to a constant
    ");
    let member =
        "class A { #x = 2; static of() { return new A(); } run() { A.of().#x **= 2; } }\nnew A().run();\n";
    insta::assert_snapshot!(program(member).failure(), @"
    ST0101 this form of assignment is not supported on a private member of an expression
      @ main.ts:1:59 +9 here
      help: assign the object to a variable first
    ");
}

#[test]
fn deferred_functions_and_powers_have_the_same_bits() {
    let cases = r#"
Math.sin(n)
Math.cos(n * 1e9)
Math.tanh(n / 7)
Math.log10(n)
Math.pow(n, 0.3)
n ** -5
(n / 100) ** 9
1.1 ** n
Math.atan2(n, 3)
"#;
    assert_deferred(cases, |run| run);
}
