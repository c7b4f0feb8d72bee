// The page of `indexer import … --page`, by keyboard alone: BROWSER_PACKAGES=DIR node import.mjs ADDRESS MAPPING
// ADDRESS is what the program printed, without the last slash, for funds.csv of `.ci/full`, MAPPING the file that the page keeps its changes in.
import { readFileSync } from "node:fs";
import { base, expect, finish, inspect, screenshot, visitor } from "./harness.mjs";

const mapping = () => readFileSync(process.argv[3], "utf8");
const page = await visitor({ width: 1440 });

// Presses Tab until an element has the focus, which must be seen there.
async function to(selector, on = page) {
  for (let presses = 0; presses < 300; presses += 1) {
    await on.keyboard.press("Tab");
    const isMarked = await on.evaluate((selector) => {
      const element = document.activeElement;
      if (!element.matches(selector)) return null;
      const { outlineStyle, outlineWidth } = getComputedStyle(element);
      return outlineStyle !== "none" && parseFloat(outlineWidth) > 0;
    }, selector);
    if (isMarked === null) continue;
    expect(isMarked, `nothing marks the focus of ${selector}`);
    return;
  }
  throw new Error(`the Tab key does not reach ${selector}`);
}
const menu = (header) => `select[aria-label="Meaning of ${header}"]`;
const status = (text, on = page) => on.locator("#status", { hasText: text }).waitFor();
const focused = (on = page) => on.evaluate(() => document.activeElement.getAttribute("aria-label") ?? document.activeElement.name);
// Chooses a meaning by the beginning of its name.
async function choose(header, name, on = page) {
  await to(menu(header), on);
  await on.keyboard.type(name);
  await on.locator("#status", { hasText: `Press Enter to set: ${name}` }).waitFor();
  await on.keyboard.press("Enter");
}

await page.goto(`${base}/`);
await inspect(page, "the page of an import");

// Keys pass other meanings on their way: nothing is set before Enter.
await to(menu("Fund"));
const guessed = mapping();
await page.keyboard.press("ArrowDown");
await status("Press Enter to set");
expect(mapping() === guessed, "a key that passes a meaning sets it");

// A column gets a meaning; the status says so, the focus stays, the file has it, and the preview shows what comes of it.
await page.keyboard.type("firm: name");
await page.keyboard.press("Enter");
await status("Fund is now firm: name.");
expect(await focused() === "Meaning of Fund", "the focus is lost after a change");
expect(/^name = (\{ column = )?"Fund"/m.test(mapping()), "the mapping has no name");
await choose("Home", "firm: country");
await status("Home is now firm: country.");
await page.locator("td.out", { hasText: "Nowhere" }).waitFor();
const cell = page.locator("td.out", { hasText: "Nowhere" });
expect(/left out: .*country/.test(await cell.textContent()), "the reason is not a text");
expect(await page.locator("td", { hasText: "Norway" }).locator(".becomes").textContent() === "becomes NO", "no result");
expect(await page.locator("tr.out", { hasText: "Chile" }).count() === 1, "the row without a name is not left out");
expect(await page.locator(".counts", { hasText: "2 firms" }).count() === 1, "the counts are wrong");
expect(await page.locator("b").count() === 0, "the file writes HTML");
expect(await page.locator("th", { hasText: "E-mail" }).locator(".mark").textContent() === "private", "nothing marks private data");

// The currency of an amount is requested, not guessed.
await choose("Ticket", "firm: smallest check");
await status("Which currency");
expect(await focused() === "currency", "the focus is not on the currency");
expect(!/^check_min_usd/m.test(mapping()), "an amount without a currency is in the mapping");
await page.keyboard.type("USD");
await page.keyboard.press("Enter");
await status("Ticket is now firm: smallest check.");
expect(mapping().includes('currency = "USD"'), "the currency is not in the mapping");

// Dates get a form.
await choose("Since", "firm: year");
await status("Since is now firm: year");
await to("summary[aria-describedby], td summary");
await inspect(page, "the page with meanings");
for (const width of [768, 390, 320]) {
  await page.setViewportSize({ width, height: 900 });
  await inspect(page, `the page at ${width}`);
  await screenshot(page, `import-${width}`);
}
await page.setViewportSize({ width: 1440, height: 900 });
await screenshot(page, "import");

// A column that is not used any more, and the former text.
await choose("Kind", "not used");
await status("Kind is not used.");
const before = mapping();
await choose("Kind", "firm: description");
await status("Kind is now firm: description.");
expect(mapping() !== before, "a change is not written");
await choose("Kind", "not used");
await status("Kind is not used.");
expect(mapping() === before, "taking a change back changes the mapping");

// Without a script, every form has a button.
const plain = await visitor({ script: false, scheme: "dark" });
await plain.goto(`${base}/`);
await plain.getByLabel("Meaning of Kind").selectOption({ label: "firm: kind" });
await plain.locator("form", { has: plain.getByLabel("Meaning of Kind") }).getByRole("button", { name: "Set" }).click();
await status("Kind is now firm: kind.", plain);

// The import, its account, and the end.
const dark = await visitor({ scheme: "dark" });
await dark.goto(`${base}/`);
await inspect(dark, "the dark page");
await to("#import-button", dark);
await dark.keyboard.press("Enter");
await status("The files are imported.", dark);
await dark.getByLabel("Account of the import").waitFor();
await inspect(dark, "the page with an account");
await screenshot(dark, "import-dark");
await dark.keyboard.press("Home");
await dark.evaluate(() => document.activeElement.blur());
await to('header button', dark);
await Promise.all([dark.waitForEvent("load"), dark.keyboard.press("Enter")]);
expect(await dark.locator("h1").textContent() === "Done", "the page does not end");

await finish(`import at ${base}`);
