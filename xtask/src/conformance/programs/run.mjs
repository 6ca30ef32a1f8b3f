// Writes one line of JSON for each program: its files and the result of Node.
//
// Arguments: first seed, number of programs, folder with the package `typescript`.

import { createRequire } from "node:module";
import { readFileSync } from "node:fs";
import vm from "node:vm";
import { program } from "./generate.mjs";

const [first, count, tools, text] = process.argv.slice(2);
const ts = createRequire(`${tools}/`)("typescript");
const options = { target: ts.ScriptTarget.ES2022, module: ts.ModuleKind.ES2022, experimentalDecorators: true, useDefineForClassFields: true };
const strip = (text) => ts.transpileModule(text, { compilerOptions: options }).outputText;
const show = readFileSync(new URL("./show.ts", import.meta.url), "utf8");
const showCode = strip(show);

async function run(text) {
  const helper = new vm.SourceTextModule(showCode);
  await helper.link(() => {});
  await helper.evaluate();
  const main = new vm.SourceTextModule(strip(text));
  await main.link(() => helper);
  await main.evaluate();
  return main.namespace.out;
}

process.on("unhandledRejection", () => {});
const sources = text === undefined ? Array.from({ length: Number(count) }, (_, i) => program(Number(first) + i)) : [readFileSync(text, "utf8")];
for (const source of sources) {
  const line = { files: { "main.ts": source, "show.ts": show } };
  try {
    line.out = await run(source);
  } catch (error) {
    line.failed = `${error}`;
  }
  process.stdout.write(`${JSON.stringify(line)}\n`);
}
