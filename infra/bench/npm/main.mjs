// Run by the benchmark: node main.mjs <contender> <verb> <URL of the database> <descriptor for replies> [setting]

import { readSync, writeSync } from "node:fs";

const [name, verb, url, replies, setting] = process.argv.slice(2);
const contender = await import(`./${name}.mjs`);

switch (verb) {
  case "prepare":
    await contender.prepare(url);
    break;
  case "send":
    await send();
    break;
  case "drain":
    await contender.drain(url, setting, pacer());
    break;
}
process.exit();

async function send() {
  const sender = await contender.sender(url);
  let request = ask("ready");
  for (;;) {
    const [how, jobs] = request.split(" ");
    await sender[how](Number(jobs));
    request = ask("sent");
  }
}

// Called by every handler when it starts: lets jobs start in slices, as Pacer in processes.py does.
function pacer() {
  let left = 0;
  return () => {
    if (left === 0) {
      // The same clock in all processes of a machine.
      left = Number(ask(Number(process.hrtime.bigint()) / 1e9));
    }
    left -= 1;
  };
}

// Holds the whole process until there is an answer, so that no other handler starts meanwhile.
function ask(reply) {
  writeSync(Number(replies), `${reply}\n`);
  const line = Buffer.alloc(100);
  const size = readSync(0, line);
  if (size === 0) {
    process.exit();
  }
  return line.toString("utf8", 0, size).trim();
}
