// Prints every record of a list, one JSON line per record: node page_through.mjs vcs 'stage=seed&country=DE'

const { VENTUREDEX_URL: url, VENTUREDEX_KEY: key } = process.env;

/** The response to one request. After a 429 or 503 it waits as long as `Retry-After` says and tries again. */
async function get(path, query) {
  for (;;) {
    const response = await fetch(`${url}/api/v3/${path}?${query}`, { headers: { Authorization: `Bearer ${key}` } });
    const body = await response.json();
    if (response.ok) return body;
    const wait = Number(response.headers.get("Retry-After") ?? 1);
    if (![429, 503].includes(response.status) || wait > 3600) {
      throw Object.assign(new Error(`${body.status} ${body.code}: ${body.detail}`), { status: response.status });
    }
    await new Promise((resolve) => setTimeout(resolve, wait * 1000));
  }
}

/** Every record of a list, each exactly once. */
export async function* records(path, query = "") {
  const seen = new Set();
  let cursor = null;
  do {
    const page = new URLSearchParams(query);
    page.set("limit", "100");
    if (cursor) page.set("cursor", cursor);
    let response;
    try {
      response = await get(path, page);
    } catch (error) {
      if (error.status !== 410) throw error;
      cursor = null; // The release has expired: restart, without records that were already returned.
      continue;
    }
    for (const record of response.data) {
      const name = record.slug ?? record.id;
      if (!seen.has(name)) {
        seen.add(name);
        yield record;
      }
    }
    cursor = response.pagination.next_cursor;
    if (!cursor) return;
  } while (true);
}

try {
  for await (const record of records(process.argv[2] ?? "vcs", process.argv[3])) {
    console.log(JSON.stringify(record));
  }
} catch (error) {
  console.error(error.message);
  process.exitCode = 1;
}
