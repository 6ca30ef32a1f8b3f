import * as local from "stead/local";

new local.Command(
  { create: "mkdir -p out; echo made >> out/log; cd state/shop/dev/local && mv journal away && touch journal" },
  { id: "migrate" },
);
