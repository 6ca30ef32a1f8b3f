import { env, namespace } from "stead";
import * as local from "stead/local";

const place = namespace === undefined ? env : `${env}-${namespace}`;
new local.File({ path: `out/${place}.txt`, content: place }, { id: "ledger", pinned: true });
