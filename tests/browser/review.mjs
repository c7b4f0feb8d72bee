// The page of `indexer resolve --page`, by keyboard alone and without a server: BROWSER_PACKAGES=DIR node review.mjs FOLDER SAVED
// FOLDER is the file: address of the folder of review.html, for the sources of `.ci/full`; SAVED the file that gets the decisions.
import { readFileSync } from "node:fs";
import { base, expect, finish, inspect, screenshot, visitor } from "./harness.mjs";

const page = await visitor({ width: 1280 });
const text = (selector, on = page) => on.locator(selector).textContent();
const status = (part, on = page) => on.locator("#status", { hasText: part }).waitFor({ state: "attached" });
const press = async (keys) => { for (const key of keys) await page.keyboard.press(key); };
const focused = () => page.evaluate(() => document.activeElement.id || document.activeElement.textContent);

// Presses Tab until an element has the focus, which must be seen there.
async function to(selector) {
  for (let presses = 0; presses < 60; presses += 1) {
    await page.keyboard.press("Tab");
    const outline = await page.evaluate((selector) => {
      const element = document.activeElement;
      return element.matches(selector) ? getComputedStyle(element).outlineStyle : null;
    }, selector);
    if (outline === null) continue;
    expect(outline !== "none", `nothing marks the focus of ${selector}`);
    return;
  }
  throw new Error(`the Tab key does not reach ${selector}`);
}

await page.goto(`${base}/review.html`);
await inspect(page, "the page of a review");
expect((await text("#progress")).startsWith("0 of 33 pairs decided, 2 batches left. About 15 to see."), "the progress is wrong");
expect((await text("#title")).startsWith("Batch 1 of 2. Startups: same name"), "the first batch is not the largest");
const rows = await page.locator("#pair tbody tr").allTextContents();
for (const label of ["name", "website", "investors"]) expect(rows.some((row) => row.startsWith(label)), `no ${label}`);
expect(await page.locator('#pair a[href^="https://"][rel~="noopener"]').count() > 0, "the website is no link");
expect((await page.locator("#pair .common").allTextContents()).every((value) => value.endsWith(" (equal)")), "only color marks equal values");
expect(await page.locator("#pair b, #pair script").count() === await page.locator("#pair b.hidden").count(), "a value writes HTML");

// The rest is not decided without a sample, which offers it with its error.
await press("b");
await status("does not decide the rest yet");
await press("ssssssssssss");
await status("12 of 12 are the same: at most ");
expect(await page.locator("#offer").isVisible(), "no offer after the sample");
expect((await text("#said")).includes("of the other 18"), "the offer does not say of how many pairs");
expect((await text("#progress")).startsWith("12 of 33 pairs decided"), "the progress does not move");
expect(await focused() === "which", "the focus is not on the next pair");
await inspect(page, "the page with an offer");
await screenshot(page, "review");

// The rest at once, and taken back at once.
await press("b");
await status("18 pairs decided as same. Batch 2");
expect((await text("#progress")).startsWith("30 of 33 pairs decided, 1 batch left. About 3 to see"), "the rest is not decided");
await press("z");
await status("18 decisions taken back.");
expect((await text("#save")) === "Save 12 decisions", "the decisions are not taken back");
await press("z");
await status("1 decision taken back.");
expect(await page.locator("#offer").isHidden(), "an offer without its sample");
await press("s");
await to("#rest");
await page.keyboard.press("Enter");
await status("18 pairs decided as same. Batch 2");

// Letters of a reason are no keys; buttons decide as well.
await to("#why");
await page.keyboard.type("subsidiaries, both \"listed\"");
expect((await text("#progress")).startsWith("30 of 33"), "a letter of the reason decides");
await page.keyboard.press("Shift+Tab");
await page.keyboard.press("Shift+Tab");
await page.keyboard.press("Enter");
await status("Different.");
await press("kj");
expect(await page.locator('#pair [aria-pressed="true"]').count() === 0, "the next pair has a decision");

// Keys can be switched off.
await to("#keys");
await page.keyboard.press("Space");
await press("d");
expect((await text("#progress")).startsWith("31 of 33"), "a key acts although keys are off");
await page.keyboard.press("Space");
await page.evaluate(() => document.activeElement.blur());
await press("u");
await status("Unsure.");

// What of the card does not fit into it, and the links and buttons that are too small for a finger.
const misfits = (on) => on.evaluate(() => {
  const card = document.getElementById("pair").getBoundingClientRect();
  const name = (element) => `${element.tagName} ${element.textContent.slice(0, 40)}`;
  const shown = (selector) => [...document.querySelectorAll(selector)].map((element) => [element, element.getBoundingClientRect()]).filter(([, { width }]) => width > 1);
  const wide = shown("#pair *").filter(([element, { right }]) => right > card.right || (element.clientWidth > 1 && element.scrollWidth > element.clientWidth));
  const small = shown("#review :is(a, button, summary, input:not([type=checkbox]))").filter(([, { width, height }]) => Math.min(width, height) < 24);
  return [...wide, ...small].map(([element]) => name(element));
});
async function fits(on, where) {
  const found = await misfits(on);
  expect(found.length === 0, `${where}: too wide for the card or too small to touch: ${found.slice(0, 3).join("; ")}`);
}

for (const width of [768, 390, 320]) {
  await page.setViewportSize({ width, height: 800 });
  await inspect(page, `the page at ${width}`);
  await fits(page, `the page at ${width}`);
  await screenshot(page, `review-${width}`);
}
await page.setViewportSize({ width: 1280, height: 900 });
await press("s");
await status("All pairs are decided.");
expect(await focused() === "save", "the focus is not on the button that saves");
const [download] = await Promise.all([page.waitForEvent("download"), page.keyboard.press("Enter")]);
await download.saveAs(process.argv[3]);
const lines = readFileSync(process.argv[3], "utf8").trim().split("\n");
expect(lines.length === 34 && lines[0] === "left,right,decision,by,on,why", `${lines.length} lines, ${lines[0]}`);
const unseen = lines.map((line) => line.includes("by batch, unseen: startups: same name"));
expect(unseen.filter(Boolean).length === 18 && unseen.indexOf(true) === 16, "what was not seen is not last, or does not say so");
expect(unseen.lastIndexOf(true) === 33 && lines[33].includes("12 of 12 seen are the same, at most "), "the reason has no error");
expect(lines.some((line) => line.endsWith(',"subsidiaries, both ""listed"""')), "the reason is lost");

// The browser keeps the decisions.
await page.reload();
await status("33 decisions made earlier");
await page.locator("#batches summary").click();
expect((await text("#batches li:first-child button")).endsWith("30 of 30"), "the list of batches has no progress");
await inspect(page, "the page after it was opened again");

const dark = await visitor({ width: 390, scheme: "dark" });
await dark.goto(`${base}/review.html`);
await inspect(dark, "the dark page on a phone");
await fits(dark, "the dark page on a phone");
await screenshot(dark, "review-dark");
const plain = await visitor({ script: false });
await plain.goto(`${base}/review.html`);
expect((await text("noscript", plain)).includes("--review"), "nothing says what to do without a script");

await finish(`review at ${base}`);
