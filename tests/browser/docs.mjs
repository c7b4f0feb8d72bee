// Pages of endpoints with their form, and the colors of pages: BROWSER_PACKAGES=DIR node docs.mjs BASE KEY
// KEY is an API key of the server; a name of firms in it is not needed.
import { base, expect, finish, inspect, screenshot, visitor } from "./harness.mjs";

const key = process.argv[3];
const PAGES = ["list_vcs", "get_vc", "match_vcs", "resolve", "get_stats", "list_alerts"].map((name) => `/docs/reference/${name}`)
  .concat("/docs/reference/schemas", "/docs/reference/v2", "/docs/reference", "/docs/mcp", "/data");

for (const scheme of ["light", "dark"]) {
  const page = await visitor({ width: 1440, scheme });
  for (const path of PAGES) {
    await page.goto(path);
    for (const width of [1440, 768, 390, 320]) {
      await page.setViewportSize({ width, height: 900 });
      await inspect(page, `${path} (${width}, ${scheme})`);
      await screenshot(page, `docs${path.replace(/\W+/g, "-")}-${width}-${scheme}`);
    }
    await page.setViewportSize({ width: 1440, height: 900 });
  }
  await page.context().close();
}

// The languages are chosen by keyboard, and the choice stays in the tab.
const page = await visitor({ width: 1440 });
await page.goto("/docs/reference/list_vcs");
const code = page.locator("#request pre");
expect((await code.filter({ visible: true }).textContent()).startsWith("curl "), "curl is not the first language");
await page.getByRole("radio", { name: "curl" }).focus();
await page.keyboard.press("ArrowRight");
expect((await code.filter({ visible: true }).textContent()).startsWith("import json"), "the arrow does not show Python");
await page.locator("#request .copyable button").filter({ visible: true }).click();
expect((await page.evaluate(() => navigator.clipboard.readText())).startsWith("import json"), "the code is not copied");

// Without a key nothing is sent to the API; with one it is sent in a header, to this service, and never in an address.
const sent = [];
page.on("request", (request) => sent.push(request));
await page.fill("#p-limit", "2");
await page.fill("#p-country", "US");
await page.click("#send button");
await page.getByText("Enter your API key").waitFor();
expect(!sent.some((request) => request.url().includes("/api/")), "a request was sent without a key");
expect((await code.filter({ visible: true }).textContent()).includes('"country": "US"'), "the code is not that of the form");
await page.fill("#key", key);
await page.keyboard.press("Enter");
await page.click("#send button");
await page.getByText(/^200 OK/).waitFor();
const shown = await page.locator("#answer").innerText();
for (const name of ["X-RateLimit-Remaining", "ETag", "X-Request-Id"]) expect(shown.includes(name), `the answer has no ${name}`);
expect(JSON.parse(await page.locator("#answer pre").textContent()).data.length <= 2, "the answer is not that of the request");
await inspect(page, "the answer");
await screenshot(page, "answer");
const calls = sent.filter((request) => request.headers().authorization);
expect(calls.length === 1 && calls[0].url().startsWith(`${base}/api/v3/vcs?`), `calls: ${calls.map((call) => call.url())}`);
expect(!sent.some((request) => request.url().includes(key)) && !page.url().includes(key), "the key is in an address");
await page.goto("/docs/reference/get_stats");
expect(await page.inputValue("#key") === key, "the tab forgot the key");
expect(await page.getByRole("radio", { name: "Python" }).isChecked(), "the tab forgot the language");

// Without script the form shows the request as code.
const plain = await visitor({ script: false });
await plain.goto("/docs/reference/list_vc_rounds");
expect(await plain.locator("#send").isHidden(), "a field for a key is shown that cannot work");
await plain.fill("#p-limit", "7");
await plain.getByRole("button", { name: "Show the request" }).click();
await plain.waitForURL("**limit=7**");
expect((await plain.locator("#request pre").first().textContent()).includes("-d limit=7"), "the request is not shown");
await plain.locator("label[for=in-rust]").click();
expect(await plain.locator("pre[data-language=rust]").isVisible(), "the language does not change without script");

// The colors of pages, at once on pages that the browser has cached, and back to those of the system.
const colors = await visitor({ scheme: "light" });
const background = () => colors.evaluate(() => getComputedStyle(document.body).backgroundColor);
await colors.goto("/docs/reference/list_vcs");
await colors.goto("/docs");
await colors.goto("/vcs?stage=seed");
const light = await background();
await colors.getByRole("button", { name: "Dark" }).click();
await colors.waitForLoadState();
expect(colors.url().endsWith("/vcs?stage=seed"), `the form leads to ${colors.url()}`);
const dark = await background();
expect(dark !== light, "the page is not dark");
for (const path of ["/docs", "/docs/reference/list_vcs", "/"]) {
  await colors.goto(path);
  expect(await background() === dark, `${path} is not dark`);
  await inspect(colors, `${path} (dark by choice)`);
}
await colors.getByRole("button", { name: "System" }).click();
await colors.waitForLoadState();
expect(await background() === light, "the page does not have the colors of the system again");

await finish(`docs at ${base}`);
