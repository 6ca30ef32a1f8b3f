import * as local from "stead/local";
import { network } from "@acme/net";
import { greeting } from "plain";
import { zone } from "./lib/deep/zone.v2";
import { Page, Vault } from "./lib/net";
import { here } from "./zone.v1";

new Vault("main.vault");
new Page("start");
const net = network(2);
const deep = zone("eu.west-1");
new local.Data({ value: deep.output }, { id: "copy", aliases: ["lib%2Fnet:local.Data#copy"] });

export const words = greeting;
export const nested = { net: net.map((data) => data.output), here: here.output };
