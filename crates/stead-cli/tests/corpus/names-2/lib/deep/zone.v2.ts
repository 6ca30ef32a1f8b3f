import * as local from "stead/local";

export const zone = (name: string) => new local.Data({ value: name }, { id: name });
