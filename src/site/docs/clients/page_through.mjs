// Prints every record of a list, one JSON line per record: node page_through.mjs vcs 'stage=seed&country=DE'

const { VENTUREDEX_URL: url, VENTUREDEX_KEY: key } = process.env;

/** One answer; waits where the service says how long. */
async function ask(path, query) {
  for (;;) {
    const answer = await fetch(`${url}/api/v3/${path}?${query}`, { headers: { Authorization: `Bearer ${key}` } });
    const body = await answer.json();
    if (answer.ok) return body;
    const wait = Number(answer.headers.get("Retry-After") ?? 1);
    if (![429, 503].includes(answer.status) || wait > 3600) {
      throw Object.assign(new Error(`${body.status} ${body.code}: ${body.detail}`), { status: answer.status });
    }
    await new Promise((resolve) => setTimeout(resolve, wait * 1000));
  }
}

/** Every record of a list, each once. */
export async function* records(path, query = "") {
  const seen = new Set();
  let cursor = null;
  do {
    const page = new URLSearchParams(query);
    page.set("limit", "100");
    if (cursor) page.set("cursor", cursor);
    let answer;
    try {
      answer = await ask(path, page);
    } catch (error) {
      if (error.status !== 410) throw error;
      cursor = null; // The release that was walked is gone: begin again, and leave out what was given.
      continue;
    }
    for (const record of answer.data) {
      const name = record.slug ?? record.id;
      if (!seen.has(name)) {
        seen.add(name);
        yield record;
      }
    }
    cursor = answer.pagination.next_cursor;
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
