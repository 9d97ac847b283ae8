// The cases of tests/contract/cases.json, which every client runs over every way in.
import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";

const camel = (name) => name.replace(/_(\w)/g, (_, letter) => letter.toUpperCase());

/** The result of a step: a method of the client, or resource.method, with arguments by name. */
export async function called(tickwork, call, given) {
  const { type, payload, job_id, query, jobs, ...options } = given;
  switch (call) {
    case "enqueue":
      return await tickwork.enqueue(type, payload, options);
    case "enqueue_many":
      return await tickwork.enqueueMany(jobs);
    case "list":
      return await all(tickwork.list({ type, ...options }));
    case "emit":
      return await tickwork.emit(type, payload, options);
    case "search":
      return await tickwork.search(query, options);
    case "get":
    case "wait":
    case "cancel":
    case "retry":
    case "explain":
      return await tickwork[call](job_id, options);
    default: {
      const [resource, method] = call.split(".");
      return await tickwork[resource][camel(method)](given);
    }
  }
}

async function all(rows) {
  const found = [];
  for await (const row of rows) found.push(row);
  return found;
}

/** `known` has what the placeholders stand for. */
export async function runCase(tickwork, steps, known) {
  const saved = { ...known, case: randomUUID(), nobody: randomUUID() };
  for (const { call, arguments: given, save, expect, error } of steps) {
    const filled = fill(given, saved);
    if (error) {
      const { class: name, ...code } = error;
      await assert.rejects(called(tickwork, call, filled), { ...code, name }, `${call} ${JSON.stringify(filled)}`);
      continue;
    }
    const result = await called(tickwork, call, filled);
    if (save) saved[save] = result;
    if (expect !== undefined) match(result, fill(expect, saved), call);
  }
}

function fill(value, saved) {
  if (typeof value === "string") {
    return value.replace(/(?<!\{)\{(\w+)(?:\.(\w+))?\}(?!\})/g, (_, name, field) => {
      assert.ok(name in saved, `there is no ${name}`);
      return field ? saved[name][field] : saved[name];
    });
  }
  if (Array.isArray(value)) return value.map((each) => fill(each, saved));
  if (value === null || typeof value !== "object") return value;
  return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, fill(each, saved)]));
}

const KINDS = {
  $uuid: (value) => /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(value),
  $time: (value) => typeof value === "string" && !Number.isNaN(Date.parse(value)),
  $text: (value) => typeof value === "string" && value !== "",
  $list: Array.isArray,
};
const TIME = /^\d{4}-\d\d-\d\dT/;

function match(value, expected, at) {
  if (expected in KINDS && typeof expected === "string") {
    assert.ok(KINDS[expected](value), `${at}: ${JSON.stringify(value)} is no ${expected}`);
  } else if (Array.isArray(expected)) {
    assert.equal(value?.length, expected.length, at);
    expected.forEach((each, number) => match(value[number], each, `${at}[${number}]`));
  } else if (expected !== null && typeof expected === "object") {
    for (const [name, each] of Object.entries(expected)) match(value?.[name], each, `${at}.${name}`);
  } else if (typeof expected === "string" && TIME.test(expected)) {
    assert.equal(Date.parse(value), Date.parse(expected), at);
  } else {
    assert.equal(value ?? null, expected, at);
  }
}
