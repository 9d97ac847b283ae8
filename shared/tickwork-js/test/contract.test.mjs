// Needs TICKWORK_TEST_STACK, a file with the addresses, tokens and ids of a running stack: see tests/js.
import { readFileSync } from "node:fs";
import { describe, test } from "node:test";
import { Tickwork } from "@tickwork/client";
import { runCase } from "./contract.mjs";
import { rpcClient } from "./rpc_client.mjs";

const file = process.env.TICKWORK_TEST_STACK;
const stack = file ? JSON.parse(readFileSync(file, "utf8")) : null;
const { cases } = stack ? JSON.parse(readFileSync(stack.cases, "utf8")) : { cases: [] };

const WAYS = {
  http: (user) => ({ url: stack.url, token: stack.tokens[user] }),
  rpc: (user) => ({ client: rpcClient(stack.supabase_url, stack.supabase_key, stack.supabase_tokens[user]) }),
};

for (const [way, options] of Object.entries(WAYS)) {
  describe(way, { skip: !stack, concurrency: 4 }, () => {
    for (const { name, as, steps } of cases) {
      test(name, () => runCase(new Tickwork(options(as)), steps, stack.known));
    }
  });
}
