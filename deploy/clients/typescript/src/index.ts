import createClient from "openapi-fetch";
import type { components, paths } from "./schema.js";

export type { components, operations, paths } from "./schema.js";
export type Problem = components["schemas"]["Problem"];

/** Milliseconds: a server that names a longer time is not waited for. */
const MAX_WAIT = 60_000;

export interface Options {
  /** The server, without a path: `https://venturedex.example`. */
  url: string;
  key: string;
}

/** A client of the API; each call returns `{ data, error, response }`. */
export function createVentureDex({ url, key }: Options) {
  // Lists are text, too, as CSV and NDJSON.
  return createClient<paths, "application/json" | "application/problem+json">({ baseUrl: `${url.replace(/\/+$/, "")}/api/v3`, headers: { Authorization: `Bearer ${key}` } });
}

/** The server refused a request. */
export class Refused extends Error {
  constructor(
    readonly status: number,
    /** What the server says, if it is the JSON of an error. */
    readonly problem: unknown,
  ) {
    super(`${status}: ${(problem as Partial<Problem> | undefined)?.detail ?? "no details"}`);
  }
}

interface Page<Row> {
  data?: { data: Row[]; pagination: { next_cursor: string | null } };
  error?: unknown;
  response: Response;
}

/**
 * Every record of a list, from one release of the data. `read` requests a page: with the cursor, or the first one.
 *
 *     for await (const firm of rows((cursor) => client.GET("/vcs", { params: { query: cursor ? { cursor } : { stage: ["seed"] } } })))
 *
 * Waits if the server says so (at most a minute), and throws `Refused`.
 */
export async function* rows<Row>(read: (cursor: string | undefined) => Promise<Page<Row>>): AsyncGenerator<Row, void> {
  let cursor: string | undefined;
  for (;;) {
    const { data, error, response } = await read(cursor);
    if (!data) {
      const wait = 1000 * Number(response.headers.get("retry-after") ?? Number.NaN);
      if ((response.status === 429 || response.status === 503) && wait <= MAX_WAIT) {
        await new Promise((resolve) => setTimeout(resolve, wait));
        continue;
      }
      throw new Refused(response.status, error);
    }
    yield* data.data;
    if (data.pagination.next_cursor === null) return;
    cursor = data.pagination.next_cursor;
  }
}
