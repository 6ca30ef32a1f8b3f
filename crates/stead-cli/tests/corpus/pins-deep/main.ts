import { Vault } from "./lib/vault";

new Vault("main.vault");
new Vault("spare");
