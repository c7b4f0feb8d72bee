// A browser that reports errors on the console, requests to other hosts, violations of the content security policy, and
// accessibility problems (axe).
import { createRequire } from "node:module";
import { readFileSync } from "node:fs";

// BROWSER_PACKAGES is the node_modules folder with playwright-core and axe-core.
const require = createRequire(process.env.BROWSER_PACKAGES + "/../");
const { chromium } = require("playwright-core");
const axe = readFileSync(require.resolve("axe-core/axe.min.js"), "utf8");

export const base = process.argv[2];
const problems = [];
let checks = 0;

export function expect(holds, what) {
  checks += 1;
  if (!holds) problems.push(what);
}

const browser = await chromium.launch({
  executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium",
  args: process.getuid() === 0 ? ["--no-sandbox"] : [],
});

// A visitor with separate cookies. `expected` are console messages that a test provokes, such as that of a 404.
export async function visitor({ width = 1280, scheme = "light", script = true, expected = [] } = {}) {
  const context = await browser.newContext({
    viewport: { width, height: 900 }, colorScheme: scheme, javaScriptEnabled: script, baseURL: base,
    permissions: script ? ["clipboard-read", "clipboard-write"] : [],
  });
  const page = await context.newPage();
  page.on("console", (message) => {
    if (["error", "warning"].includes(message.type()) && !expected.some((known) => message.text().includes(known)))
      problems.push(`${page.url()}: console message: ${message.text()}`);
  });
  page.on("pageerror", (error) => problems.push(`${page.url()}: ${error}`));
  page.on("request", (request) => {
    if (!request.url().startsWith(base + "/")) problems.push(`${page.url()} requests ${request.url()}`);
  });
  if (script) await page.addInitScript(() => {
    addEventListener("securitypolicyviolation", (event) => console.error("the policy rejects " + event.blockedURI));
  });
  return page;
}

// Reports what axe finds, of any severity, content that is wider than the window, and a page without a main heading.
export async function inspect(page, where) {
  if (!await page.evaluate(() => "axe" in globalThis)) await page.evaluate(axe);
  const found = await page.evaluate(async () => (await globalThis.axe.run({ rules: { "target-size": { enabled: true } } })).violations
    // What is under the fixed column of a scrolled table has its whole size once it is scrolled out of there.
    .map(({ id, nodes }) => ({ id, nodes: nodes.filter(({ any }) => !any.some(({ data }) => data?.messageKey === "partiallyObscured")) }))
    .filter(({ nodes }) => nodes.length > 0)
    .map(({ id, nodes }) => id + ": " + nodes.slice(0, 3).map(({ target }) => target.join(" ")).join(", ")));
  for (const problem of found) problems.push(`${where}: ${problem}`);
  const covered = await page.evaluate(() => [...document.querySelectorAll(".chart svg")].flatMap((svg) => {
    const labels = [...svg.querySelectorAll("text")].map((text) => [text.textContent, text.getBoundingClientRect()]).filter(([, { width }]) => width > 0);
    const meet = (a, b) => Math.min(a.right, b.right) - Math.max(a.left, b.left) > 1 && Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top) > 4;
    return labels.flatMap(([text, box], index) => labels.slice(0, index).filter(([, other]) => meet(box, other)).map(([other]) => `${text} covers ${other}`));
  }));
  expect(covered.length === 0, `${where}: ${covered.slice(0, 3).join("; ")}`);
  // A heatmap by year begins with whole columns next to the fixed one.
  const cut = await page.evaluate(() => [...document.querySelectorAll(".years")].flatMap((years) => {
    const [fixed, ...columns] = [...years.querySelectorAll("thead th")];
    const edge = fixed.getBoundingClientRect().right;
    const isCut = ({ left, right }) => left < edge - 1 && right > edge + 1;
    return columns.filter((column) => isCut(column.getBoundingClientRect())).map(({ textContent }) => textContent);
  }));
  expect(cut.length === 0, `${where}: the column ${cut} is cut`);
  const beyond = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
  expect(beyond <= 0, `${where} is ${beyond} pixels wider than the window`);
  expect(await page.locator("h1").count() === 1, `${where} has no main heading or several`);
}

export async function finish(name) {
  await browser.close();
  for (const problem of new Set(problems)) console.error(problem);
  if (problems.length > 0) process.exit(1);
  console.log(`${name}: ${checks} checks, no problem`);
  process.exit(0);
}

// Takes a screenshot if PICTURES names a folder.
export async function screenshot(page, name) {
  const folder = process.env.PICTURES;
  if (folder) await page.screenshot({ path: `${folder}/${name}.png`, fullPage: true });
}
