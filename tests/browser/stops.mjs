// What a visitor by keyboard or ear meets: few stops on the way, one for each chart, names that tell links apart, headings of charts,
// wrong fields that are marked and have the focus, targets of a size: BROWSER_PACKAGES=DIR node stops.mjs BASE
import { base, expect, finish, inspect, visitor } from "./harness.mjs";

const TO_FIRST_ROW = 12, TO_FOOTER = 60;

const page = await visitor({ width: 1440 });
const paths = [
  "/", "/vcs", "/startups", "/rounds", "/people", "/sectors", "/markets", "/countries/us", "/leaderboard", "/leaderboard?metric=activity", "/data",
  "/match?stage=seed&country=US", "/compare", "/releases", "/?q=capital",
];
// The pages with most to show: the firms with most rounds and best scores, and the startup with most rounds.
const firms = [];
for (const list of ["/vcs?sort=-investment_count", "/vcs", "/startups?sort=-round_count", "/sectors", "/people"]) {
  await page.goto(list);
  const link = page.locator("table.rows tbody th a").first();
  if (await link.count() === 0) continue;
  paths.push(await link.getAttribute("href"));
  if (list.startsWith("/vcs")) firms.push(paths.at(-1));
}
expect(firms.length === 2, `firms: ${firms}`);
paths.push(...firms.map((firm) => `${firm}/reviews`));

// The number of presses of Tab until an element has the focus.
async function stops(selector) {
  for (let presses = 1; presses < 400; presses += 1) {
    await page.keyboard.press("Tab");
    if (await page.evaluate((selector) => document.activeElement.matches(selector), selector)) return presses;
  }
  return Infinity;
}

// From the top of a list to its first row, by the link that skips the rest.
for (const list of ["/vcs", "/startups", "/rounds", "/people", "/leaderboard", "/match?stage=seed&country=US"]) {
  await page.goto(list);
  const skip = await stops('a.skip[href="#results"]');
  await page.keyboard.press("Enter");
  const rest = await stops("#results *");
  console.log(`${list}: ${skip + 1 + rest} stops to the first row`);
  expect(skip + 1 + rest <= TO_FIRST_ROW, `${list}: ${skip} stops to the link, ${rest} to the first row`);
}
for (const firm of new Set(firms)) {
  await page.goto(firm);
  const count = await stops("footer *");
  console.log(`${firm}: ${count} stops to the footer`);
  expect(count <= TO_FOOTER, `${firm}: ${count} stops to the footer`);
}

// The links with one name, as a screen reader says it, and several targets, with all parts of the page open.
function ambiguous() {
  for (const details of document.querySelectorAll("details")) details.open = true;
  const text = (node) => node.nodeType === Node.TEXT_NODE ? node.textContent : node.nodeType !== Node.ELEMENT_NODE || node.getAttribute("aria-hidden") === "true" ? "" : [...node.childNodes].map(text).join("");
  const name = (link) => (link.getAttribute("aria-label") ?? link.querySelector(":scope > title")?.textContent ?? text(link)).trim().replace(/\s+/g, " ");
  const targets = new Map();
  for (const link of document.querySelectorAll("a[href]")) {
    if (!link.checkVisibility()) continue;
    if (!targets.has(name(link))) targets.set(name(link), new Set());
    targets.get(name(link)).add(link.getAttribute("href"));
  }
  return [...targets].filter(([name, found]) => found.size > 1 || name === "").map(([name, found]) => `${name} → ${[...found].slice(0, 3).join(", ")}`);
}

// The charts with more than one stop, or without a heading. A table below a chart is closed; one in its place has one stop.
function crowded() {
  const isStop = (element) => element.tabIndex >= 0 && element.checkVisibility();
  return [...document.querySelectorAll("figure.chart, .histogram, table.breakdown")].flatMap((chart) => {
    const title = chart.querySelector("figcaption")?.textContent ?? chart.querySelector("svg")?.getAttribute("aria-label") ?? chart.closest(".card").querySelector("h3")?.textContent;
    const found = [...chart.querySelectorAll("svg a, .heat a, .heat, .scroll, th a, summary")].filter(isStop).length;
    const hasHeading = chart.matches(".histogram") || (chart.closest(".card") ?? chart).querySelector("h2, h3") !== null;
    return found > 1 || !hasHeading ? [`${title}: ${found} stops${hasHeading ? "" : ", no heading"}`] : [];
  });
}

let alike = 0;
for (const path of new Set(paths)) {
  await page.setViewportSize({ width: 1440, height: 900 });
  await page.goto(path);
  const charts = await page.evaluate(crowded);
  expect(charts.length === 0, `${path}: ${charts.slice(0, 4).join("; ")}`);
  const names = await page.evaluate(ambiguous);
  alike += names.length;
  expect(names.length === 0, `${path}: ${names.length} names of several links: ${names.slice(0, 4).join("; ")}`);
  // With every part open, also on a phone.
  await page.setViewportSize({ width: 390, height: 844 });
  await page.evaluate(() => { for (const menu of document.querySelectorAll("details.menu")) menu.open = false; });
  await inspect(page, `${path} (open, 390)`);
}

// In a chart the arrow keys go from cell to cell.
await page.setViewportSize({ width: 1440, height: 900 });
await page.goto(firms[0]);
await page.locator(".heat [tabindex='0']").first().focus();
const at = () => page.evaluate(() => document.activeElement.getAttribute("aria-label"));
const first = await at();
await page.keyboard.press("ArrowDown");
const second = await at();
await page.keyboard.press("ArrowRight");
const third = await at();
expect(new Set([first, second, third]).size === 3 && /, \d{4}: [\d,]+ rounds?$/.test(third), `arrow keys: ${first}; ${second}; ${third}`);
await page.keyboard.press("Home");
expect(await at() === first, `Home leads to ${await at()}`);
// Without script every cell can be reached.
const plain = await visitor({ script: false, width: 1440 });
await plain.goto(firms[0]);
expect(await plain.locator(".heat a[tabindex='-1']").count() === 0 && await plain.locator(".heat a").count() > 3, "cells cannot be reached without script");

// Wrong fields are marked, and the first has the focus.
const wrong = await visitor({ expected: ["422"] });
for (const [path, field] of [["/vcs?check_usd=abc", "check_usd"], ["/match?raise_usd=abc", "raise_usd"], ["/leaderboard?country=QQ", "country"]]) {
  await wrong.goto(path);
  const focus = await wrong.evaluate(() => [document.activeElement.id, document.activeElement.getAttribute("aria-invalid")]);
  expect(focus[0] === field && focus[1] === "true", `${path}: ${focus} has the focus`);
}
await wrong.goto("/signup");
await wrong.getByLabel("E-mail address").fill("ear@example.com");
await wrong.getByLabel("Password").fill("correct horse battery staple");
await wrong.getByRole("button", { name: "Create account" }).click();
await wrong.getByRole("alert").waitFor();
const invalid = await wrong.evaluate(() => [document.activeElement.id, [...document.querySelectorAll("[aria-invalid=true]")].map(({ id }) => id).join()]);
expect(invalid[0] === "password" && invalid[1] === "password", `signing up with a common password: ${invalid}`);

await finish(`keyboard and ear at ${base}, ${alike} names of several links`);
