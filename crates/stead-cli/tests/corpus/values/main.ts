import * as stead from "stead";
import { all, apply, config, env, readText } from "stead";
import * as local from "stead/local";
import { shout } from "./shout";

const folder = new local.Directory({ path: `out/${env}` }, { id: "folder" });
const pet = new local.RandomPet({ words: config.number("size"), prefix: config.get("name") }, { id: "pet" });
const captured = ["<", ">"];
const framed = apply(pet.result, (name) => captured[0] + shout(name) + captured[1]);
const file = new local.File({ path: `out/${env}/framed.txt`, content: framed }, { id: "framed", dependsOn: folder });
new local.File(
  { path: `out/${env}/motd.txt`, content: readText("motd.txt") },
  { id: "motd", dependsOn: [folder, pet], deletedWith: folder },
);
const command = new local.Command({ create: "echo one; echo two >&2", environment: { PET: pet.result } }, { id: "run" });
const second = pet.result.split("-")[1].toUpperCase();
new local.Data(
  { value: { second, stdout: command.stdout.trim(), whole: file, json: JSON.stringify({ name: pet.result }) } },
  { id: "joined" },
);
export const both = all([pet.result, framed], (name, text) => `${name} ${text}`);
export const digest = file.sha256;
export const later = apply(second, (text) => ({ length: text.length, text }));
export const known = { env, hash: stead.hash("x", "sha256") };
