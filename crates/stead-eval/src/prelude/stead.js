// The module "stead" that programs import.

import { host } from "stead:host";

export { all, apply } from "stead:apply";
export { config, t } from "stead:config";
export { secret, stack } from "stead:external";
export { move, nodeOf } from "stead:node-of";
export { Resource } from "stead:resource";
export { archive, file, readText } from "stead:files";
export { base64, hash } from "stead:encoding";

export const { env, namespace, project, target } = host.program;
