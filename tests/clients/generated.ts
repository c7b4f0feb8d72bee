// The package that `deploy/clients/build` makes of the v3 document, used in strict mode.
import { createVentureDex, Refused, rows } from "venturedex-client";
import type { components } from "venturedex-client";

const { VENTUREDEX_URL: url, VENTUREDEX_KEY: key } = process.env;
const client = createVentureDex({ url: url!, key: key! });

function check(condition: unknown, detail: unknown): asserts condition {
  if (!condition) throw new Error(JSON.stringify(detail));
}

const seen = new Map<string, components["schemas"]["Firm"]>();
const first = { limit: 30, stage: ["seed" as const], sort: ["-health_score" as const, "name" as const], fields: ["slug" as const, "country" as const] };
const read = (cursor?: string) => client.GET("/vcs", { params: { query: cursor ? { cursor } : first } });
for await (const firm of rows(read)) seen.set(firm.slug!, firm);
const { data: page } = await client.GET("/vcs", { params: { query: { stage: ["seed"], limit: 1 } } });
check(seen.size === page?.pagination.total && seen.size > 60, [seen.size, page]);
try {
  for await (const _ of rows((cursor) => client.GET("/vcs", { params: { query: { cursor: cursor ?? "nonsense" } } }))) check(false, "a row");
  check(false, "a refused request gives no rows");
} catch (error) {
  check(error instanceof Refused && error.status === 400, error);
}

// Values of results, which are open, are accepted as parameters.
const country = [...seen.values()].find((firm) => firm.country)?.country as components["schemas"]["CountryFilter"] | undefined;
check(country, "no firm has a country");
const sameCountry = await client.GET("/vcs", { params: { query: { country: [country], limit: 1 } } });
check(sameCountry.data && sameCountry.data.pagination.total > 0, sameCountry.error);

const invalid = await client.GET("/vcs", { params: { query: { sector: ["fintec"] } } });
check(invalid.error?.errors?.[0]?.did_you_mean === "fintech", invalid);
const missing = await client.GET("/vcs/{slug}", { params: { path: { slug: "nobody-at-all" } } });
check(missing.error?.code === "not_found", missing);
console.log(`a generated client in TypeScript pages through ${seen.size} firms and reads errors`);
