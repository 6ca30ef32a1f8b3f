//! Rows for every operator, expression and statement of the parser, with an unknown in every operand.
//!
//! The lists are exhaustive over the parser's enums: a missing kind does not compile.
#![allow(clippy::unwrap_used, clippy::panic)]

use super::{Row, assert_none_is_wrong, judge};
use oxc_ast::ast::{
    AssignmentOperator, BinaryOperator, Expression, LogicalOperator, Statement, UnaryOperator, UpdateOperator,
};

/// Lists every kind, with a `match` that fails to compile if one is missing.
macro_rules! operators {
    ($table:ident, $kind:ident { $($variant:ident)* }) => {
        const $table: &[$kind] = {
            const fn _every_kind_is_listed(kind: $kind) {
                match kind { $($kind::$variant => (),)* }
            }
            &[$($kind::$variant),*]
        };
    };
}

macro_rules! nodes {
    ($table:ident, $kind:ident { $($variant:ident: [$($code:literal)*])* }) => {
        const $table: &[(&str, &[&str])] = {
            const fn _every_kind_is_listed(kind: &$kind<'_>) {
                match kind { $($kind::$variant(_) => (),)* }
            }
            &[$((stringify!($variant), &[$($code),*])),*]
        };
    };
}

operators!(BINARY, BinaryOperator {
    Equality Inequality StrictEquality StrictInequality LessThan LessEqualThan GreaterThan GreaterEqualThan Addition
    Subtraction Multiplication Division Remainder Exponential ShiftLeft ShiftRight ShiftRightZeroFill BitwiseOR
    BitwiseXOR BitwiseAnd In Instanceof
});
operators!(LOGICAL, LogicalOperator { Or And Coalesce });
operators!(UNARY, UnaryOperator { UnaryPlus UnaryNegation LogicalNot BitwiseNot Typeof Void Delete });
operators!(UPDATE, UpdateOperator { Increment Decrement });
operators!(ASSIGNMENT, AssignmentOperator {
    Assign Addition Subtraction Multiplication Division Remainder Exponential ShiftLeft ShiftRight ShiftRightZeroFill
    BitwiseOR BitwiseXOR BitwiseAnd LogicalOr LogicalAnd LogicalNullish
});

// `‹…›` is an operand, with its value for rows that have the unknown elsewhere.
nodes!(EXPRESSIONS, Expression {
    BooleanLiteral: [] NullLiteral: [] NumericLiteral: [] BigIntLiteral: [] RegExpLiteral: [] StringLiteral: []
    TemplateLiteral: ["`a‹1›b‹2›`"]
    Identifier: ["‹1›"]
    Super: ["new (class extends Object { m(): any { return (super.toString as any).call(‹1›); } })().m()"]
    ArrayExpression: ["[‹1›, ‹2›]" "[...‹[1]›]"]
    ArrowFunctionExpression: [
        "(() => ‹1›)()" "((a: any = ‹1›) => a)(undefined)" "(([a]: any) => a)(‹[1]›)" "(({ a, ...r }: any) => r)(‹({ a: 1 })›)"
        "(({ a }: any) => a)(‹({ a: 1 })›)" "(({ a = ‹1› }: any) => a)({})" "(({ [‹'a'› as any]: b }: any) => b)({ a: 1 })"
    ]
    AssignmentExpression: ["(v = ‹1›)" "([v] = ‹[1]›)" "({ a: v } = ‹({ a: 1 })›)" "(({} as any)[‹'a'›] = ‹1›)" "(r = [1], r.length = ‹0›)"]
    AwaitExpression: ["(async () => await ‹1›)()"]
    BinaryExpression: []
    CallExpression: ["‹((a?: any) => a)›()" "((a: any) => a)(‹1›)" "((...a: any) => a)(...‹[1]›)" "[].concat(‹[1]›)"]
    ChainExpression: ["‹({ a: 1 })›?.a" "‹({ a: 1 })›?.[‹'a'›]" "‹(() => 1)›?.()" "‹({ a: { b: 1 } })›.a?.b"]
    ClassExpression: [
        "new (class extends (‹Object› as any) {})()" "new (class { [‹'a'›] = 1 })().a" "new (class { a = ‹1› })().a"
        "(class { static a = ‹1› }).a" "new (class { #a = ‹1›; b() { return this.#a; } })().b()"
        "new (class { [‹'a'›]() { return 1; } })().a()" "(class { static a: any; static { this.a = ‹1›; } }).a"
    ]
    ConditionalExpression: ["‹1› ? ‹2› : ‹3›"]
    FunctionExpression: [
        "(function () { return ‹1›; })()" "(function* () { yield ‹1›; })().next().value" "[...(function* () { yield* ‹[1]›; })()]"
    ]
    ImportExpression: []
    LogicalExpression: []
    NewExpression: ["new (‹Object› as any)()" "new (class { a: any; constructor(a: any) { this.a = a; } })(‹1›).a"]
    ObjectExpression: [
        "({ a: ‹1› })" "({ [‹'a'›]: 1 })" "({ ...‹({ a: 1 })› })" "({ get a() { return ‹1›; } }).a" "({ __proto__: ‹null› })"
        "({ [‹'a'›]() {} })" "({ get [‹'a'›]() { return 1; } })"
    ]
    ParenthesizedExpression: ["(‹1›)"]
    SequenceExpression: ["(‹1›, ‹2›)"]
    TaggedTemplateExpression: ["((s: any, a: any) => a)`q${‹1›}`" "‹((s: any) => s[0])›`q`" "String.raw`a${‹1›}`"]
    ThisExpression: ["(function (this: any) { return this; }).call(‹1›)"]
    UnaryExpression: []
    UpdateExpression: []
    YieldExpression: ["(function* () { const a: any = yield 1; return a; })().next(‹1›).value" "(() => { const g = (function* (): any { return yield 1; })(); g.next(); return g.next(‹1›).value; })()"]
    PrivateInExpression: ["(class A { #a = 1; static t(o: any) { return #a in o; } }).t(‹({})›)"]
    ImportMeta: [] NewTarget: []
    JSXElement: [] JSXFragment: []
    TSAsExpression: ["(‹1› as any)"] TSSatisfiesExpression: ["(‹1› satisfies any)"] TSTypeAssertion: ["(<any>‹1›)"]
    TSNonNullExpression: ["‹1›!"] TSInstantiationExpression: []
    V8IntrinsicExpression: []
    ComputedMemberExpression: ["(‹({ a: 1 })› as any)[‹'a'›]" "[1, 2][‹0›]" "('abc' as any)[‹0›]"]
    StaticMemberExpression: ["(‹({ a: 1 })› as any).a" "(‹'abc'› as any).length"]
    PrivateFieldExpression: ["(class A { #a = 1; static t(o: any) { return o.#a; } }).t(‹({})›)"]
});

nodes!(STATEMENTS, Statement {
    BlockStatement: ["{ v = ‹1›; }"] BreakStatement: [] ContinueStatement: [] DebuggerStatement: []
    DoWhileStatement: ["v = 0; do { v++; } while (‹0› && v < 3);" "v = 0; do { v++; if (v > 3) break; } while (‹0›);"]
    EmptyStatement: []
    ExpressionStatement: ["‹1›;"]
    ForInStatement: ["v = []; for (const k in ‹({ a: 1 })›) v.push(k);"]
    ForOfStatement: [
        "v = []; for (const k of { [Symbol.iterator]: () => ({ next: () => ({ done: ‹true›, value: 1 }) }) }) { v.push(k); break; }"
        "v = []; for (const k of ‹[1]›) v.push(k);" "v = []; for (const [k] of [‹[1]›]) v.push(k);" "v = []; for (v[0] of [‹1›]);"
        "v = (async () => { const a: any = []; for await (const k of ‹[1]›) a.push(k); return a; })();"
        "v = (async () => { const a: any = []; for await (const k of [‹1›]) a.push(k); return a; })();"
    ]
    ForStatement: ["v = 0; for (let i: any = ‹0›; i < 3; i++) v++;" "v = 0; for (let i = 0; ‹0›; i++) { if (v++ > 2) break; }" "v = 0; for (let i = 0; i < 3; i += ‹1›) { if (v++ > 2) break; }"]
    IfStatement: ["if (‹1›) v = 1; else v = 2;" "if (!‹1›) v = 1;" "if (‹1› === 1) v = 1;"]
    LabeledStatement: ["a: { v = ‹1›; break a; }"]
    ReturnStatement: ["v = (() => { return ‹1›; })();"]
    SwitchStatement: ["switch (‹1›) { case ‹1›: v = 1; break; default: v = 2; }"]
    ThrowStatement: ["try { throw ‹1›; } catch (e) { v = e; }"]
    TryStatement: ["try { v = ‹1›; } finally { v = [v]; }"]
    WhileStatement: ["v = 0; while (‹0›) { if (v++ > 2) break; }"]
    WithStatement: []
    VariableDeclaration: ["const [a] = ‹[1]›; v = a;" "const { a } = ‹({ a: 1 })›; v = a;" "const { ...a } = ‹({ a: 1 })›; v = a;" "const { a: [b] } = { a: ‹[1]› }; v = b;" "const { a = 2 } = { a: ‹1› } as any; v = a;" "const { [‹'a'› as any]: b } = { a: 1 }; v = b;"]
    FunctionDeclaration: ["function f(a: any, ...b: any) { return [a, b]; } v = f(‹1›, ‹2›);"]
    ClassDeclaration: ["class A extends (‹Object› as any) {} v = 1;"]
    TSTypeAliasDeclaration: [] TSInterfaceDeclaration: []
    TSEnumDeclaration: ["enum E { A = (‹1› as any) } v = E.A;"]
    TSExternalModuleDeclaration: [] TSNamespaceDeclaration: [] TSGlobalDeclaration: [] TSImportEqualsDeclaration: []
    ImportDeclaration: [] ExportAllDeclaration: [] ExportDefaultDeclaration: [] ExportNamedDeclaration: []
    ExportDeclaration: [] ExportFromDeclaration: [] TSExportAssignment: [] TSNamespaceExportDeclaration: []
});

/// Returns one row for each operand, with the unknown in its place and the given values elsewhere.
fn rows(name: &str, code: &str) -> Vec<Row> {
    let count = code.matches('‹').count();
    let row = |at: usize| {
        let mut out = String::new();
        for (index, piece) in code.split('‹').enumerate() {
            match piece.split_once('›') {
                Some((_, rest)) if index == at + 1 => out += &format!("(x){rest}"),
                Some((filler, rest)) => out += &format!("{filler}{rest}"),
                None => out += piece,
            }
        }
        Row { name: format!("{name}, operand {at}"), code: out }
    };
    (0..count).map(row).collect()
}

fn operator_rows() -> Vec<Row> {
    let mut all = Vec::new();
    for operator in BINARY {
        let text = operator.as_str();
        for filler in ["3", "'b'", "null", "({ a: 1 } as any)", "[1]"] {
            all.extend(rows(text, &format!("v = (‹{filler}› as any) {text} (‹{filler}› as any);")));
        }
        all.push(Row { name: format!("{text}, both"), code: format!("v = x {text} x;") });
    }
    for operator in LOGICAL {
        all.extend(rows(operator.as_str(), &format!("v = ‹0› {} ‹2›;", operator.as_str())));
    }
    for operator in UNARY {
        let argument =
            if *operator == UnaryOperator::Delete { "(‹{ a: 1 }› as any).a" } else { "(‹3›)" };
        all.extend(rows(operator.as_str(), &format!("v = {} {argument};", operator.as_str())));
    }
    for operator in UPDATE {
        let text = operator.as_str();
        all.extend(rows(text, &format!("let a: any = ‹3›; v = [a{text}, a];")));
        all.extend(rows(text, &format!("const o: any = {{ a: ‹3› }}; v = [{text}o.a, o];")));
        all.extend(rows(text, &format!("const o: any = {{ a: 3 }}; o[‹'a'›]{text}; v = o;")));
    }
    for operator in ASSIGNMENT {
        let text = operator.as_str();
        all.extend(rows(text, &format!("let a: any = ‹3›; v = (a {text} ‹2›); r = a;")));
        all.extend(rows(text, &format!("const o: any = {{ a: ‹3› }}; v = (o.a {text} ‹2›); r = o;")));
        all.extend(rows(
            text,
            &format!("const o: any = {{ a: ‹3› }}; v = ((() => o)()[‹'a'›] {text} ‹2›); r = o;"),
        ));
        all.extend(rows(
            text,
            &format!(
                "v = new (class {{ #a: any = ‹3›; t(): any {{ return (this.#a {text} ‹2›); }} }})().t();"
            ),
        ));
    }
    all
}

#[test]
fn every_operator_defers_or_refuses_an_unknown() {
    assert_none_is_wrong(&judge(&operator_rows()));
}

#[test]
fn every_expression_and_statement_defers_or_refuses_an_unknown() {
    let expressions = EXPRESSIONS
        .iter()
        .flat_map(|(name, codes)| codes.iter().flat_map(move |code| rows(name, &format!("v = {code};"))));
    let statements =
        STATEMENTS.iter().flat_map(|(name, codes)| codes.iter().flat_map(move |code| rows(name, code)));
    assert_none_is_wrong(&judge(&expressions.chain(statements).collect::<Vec<_>>()));
}
