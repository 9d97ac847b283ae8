// How @supabase/lite serves a database that tickwork has migrated. `settings.json` is in the folder that it is run in.
//
// Where the server is not PostgREST: it grants all of `public` to anon and authenticated and replaces auth.uid(),
// serves an empty schema when the database is away, encodes jsonb arguments twice, writes times and numbers as Postgres
// does, hides the SQLSTATEs it does not know, and asks its auth for the user of each token even when that is off (on, it
// makes tables of its own). The lines below put this right.
import { readFileSync } from "node:fs";

const settings = JSON.parse(readFileSync("settings.json", "utf8"));
const { createPostgresConnection } = await import(settings.driver);

const isJson = (text) => { try { JSON.parse(text); return true; } catch { return false; } };
const encode = (value) => (typeof value === "string" && isJson(value) ? value : JSON.stringify(value));
const isoTime = (text) => text.replace(" ", "T").replace(/\+00$/, "+00:00");
const type = (oid, parse, serialize = String) => ({ to: oid, from: [oid], parse, serialize });
const types = {
  json: type(114, JSON.parse, encode),
  jsonb: type(3802, JSON.parse, encode),
  timestamp: type(1114, isoTime),
  timestamptz: type(1184, isoTime),
  numeric: type(1700, Number),
};
const connection = createPostgresConnection({ url: settings.database_url, postgresOptions: { types } });
await connection.driver.unsafe("select 1");
if (!connection.ensureRlsContext) throw new Error("this version of the server grants rights in another way");
connection.ensureRlsContext = async () => true;

const known = /^(PT|PGRST|21|22|42|53|55|25006|2350[235])/;
connection.normalizeDbError = (error) => error.name !== "PostgresError" || known.test(error.code) ? error : {
  code: "PGRST",
  detail: JSON.stringify({ status: /^(40|57|XX)/.test(error.code) ? 500 : 400, headers: {} }),
  message: JSON.stringify({ code: error.code, message: error.message, details: error.detail, hint: error.hint }),
};

const noUsers = { repo: { findUserById: async () => null } };
const middlewares = [async (context, next) => { context.set("authService", noUsers); await next(); }];

export default {
  connection,
  api: { port: settings.port, schemas: ["public"] },
  options: { server: { middlewares } },
  auth: {
    enabled: false,
    publishable_key: settings.publishable_key,
    secret_key: settings.secret_key,
    jwt_secret: settings.jwt_secret,
  },
};
