import { config, env } from "stead";
import * as local from "stead/local";

// Every `new` of a resource is something that stead makes, keeps and changes for you.
const pet = new local.RandomPet({ words: 2 });

// `pet.result` exists only once the pet does; use it like any other string.
const greeting = new local.File({
  path: `greeting.${env}.txt`, // each environment has a file of its own
  content: `${config.get("greeting") ?? "hello"}, ${pet.result}\n`,
});

// What the entry point exports are the outputs of the stack.
export const path = greeting.path;
export const petName = pet.result;
