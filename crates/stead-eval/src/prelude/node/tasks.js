// Work that waits until no promise has a job left: callbacks of `process.nextTick`, then answers of `fs`, one at a time.
//
// Node.js keeps this order in ES modules, whose top level is itself a job.
"use strict";

const { host } = require("stead:internal");

const ticks = [];
const answers = [];
let registered = false;

// Returns false if nothing waits.
function runDue() {
  if (ticks.length === 0) return answers.length > 0 && (answers.shift()(), true);
  while (ticks.length > 0) ticks.shift()();
  return true;
}
function register() {
  if (!registered) host.whenIdle(runDue);
  registered = true;
}

exports.tick = (callback) => {
  register();
  ticks.push(callback);
};
exports.answer = (callback) => {
  register();
  answers.push(callback);
};
