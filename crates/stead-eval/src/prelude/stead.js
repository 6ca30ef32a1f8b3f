// The module "stead" that programs import.

import { host } from "stead:host";

export { all, apply, ephemeral } from "stead:apply";
export { config, t } from "stead:config";
export { secret, stack } from "stead:external";
export { move, nodeOf } from "stead:node-of";
export { Resource } from "stead:resource";
export { archive, file, inlineCode, listFiles, readBytes, readJson, readText, readToml, readYaml } from "stead:files";
export { base64, hash } from "stead:encoding";
export { cidr, json, render, semver, template, text, toml, yaml } from "stead:library";

export const { env, namespace, project, target } = host.program;
