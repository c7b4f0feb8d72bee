// The types that `openapi-typescript` makes from the v3 document, with `openapi-fetch`: compiled strictly, then run.
import createClient from "openapi-fetch";
import type { components, paths } from "./v3.js";

const { VENTUREDEX_URL: url, VENTUREDEX_KEY: key } = process.env;
const client = createClient<paths>({ baseUrl: `${url}/api/v3`, headers: { Authorization: `Bearer ${key}` } });

function hold(condition: unknown, what: unknown): asserts condition {
  if (!condition) throw new Error(JSON.stringify(what));
}

const seen = new Map<string, components["schemas"]["Firm"]>();
let cursor: string | undefined;
let total = 0;
do {
  const query = cursor
    ? { cursor }
    : { limit: 30, stage: ["seed" as const], sort: ["-health_score" as const, "name" as const], fields: ["slug" as const, "country" as const] };
  const { data, error } = await client.GET("/vcs", { params: { query } });
  hold(data, error);
  for (const firm of data.data) seen.set(firm.slug!, firm);
  total = data.pagination.total;
  cursor = data.pagination.next_cursor ?? undefined;
} while (cursor);
hold(seen.size === total && total > 60, [seen.size, total]);

// What is answered can be asked for.
const country = [...seen.values()].find((firm) => firm.country)?.country;
hold(country, "no firm says where it sits");
const there = await client.GET("/vcs", { params: { query: { country: [country], limit: 1 } } });
hold(there.data && there.data.pagination.total > 0, there.error);

const refused = await client.GET("/vcs", { params: { query: { sector: ["fintec"] } } });
hold(refused.error?.errors?.[0]?.did_you_mean === "fintech", refused);
const missing = await client.GET("/vcs/{slug}", { params: { path: { slug: "nobody-at-all" } } });
hold(missing.error?.code === "not_found", missing);
console.log(`a generated client in TypeScript pages through ${seen.size} firms and is told its mistakes`);
