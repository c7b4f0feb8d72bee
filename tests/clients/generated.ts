// The types that `openapi-typescript` generates from the v3 document, used with `openapi-fetch` in strict mode.
import createClient from "openapi-fetch";
import type { components, paths } from "./v3.js";

const { VENTUREDEX_URL: url, VENTUREDEX_KEY: key } = process.env;
const client = createClient<paths>({ baseUrl: `${url}/api/v3`, headers: { Authorization: `Bearer ${key}` } });

function check(condition: unknown, detail: unknown): asserts condition {
  if (!condition) throw new Error(JSON.stringify(detail));
}

const seen = new Map<string, components["schemas"]["Firm"]>();
let cursor: string | undefined;
let total = 0;
do {
  const query = cursor
    ? { cursor }
    : { limit: 30, stage: ["seed" as const], sort: ["-health_score" as const, "name" as const], fields: ["slug" as const, "country" as const] };
  const { data, error } = await client.GET("/vcs", { params: { query } });
  check(data, error);
  for (const firm of data.data) seen.set(firm.slug!, firm);
  total = data.pagination.total;
  cursor = data.pagination.next_cursor ?? undefined;
} while (cursor);
check(seen.size === total && total > 60, [seen.size, total]);

// Values of results are accepted as parameters.
const country = [...seen.values()].find((firm) => firm.country)?.country;
check(country, "no firm has a country");
const sameCountry = await client.GET("/vcs", { params: { query: { country: [country], limit: 1 } } });
check(sameCountry.data && sameCountry.data.pagination.total > 0, sameCountry.error);

const invalid = await client.GET("/vcs", { params: { query: { sector: ["fintec"] } } });
check(invalid.error?.errors?.[0]?.did_you_mean === "fintech", invalid);
const missing = await client.GET("/vcs/{slug}", { params: { path: { slug: "nobody-at-all" } } });
check(missing.error?.code === "not_found", missing);
console.log(`a generated client in TypeScript pages through ${seen.size} firms and reads errors`);
