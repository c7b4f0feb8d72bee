// Lighthouse on ten kinds of page, as a phone sees them: BROWSER_PACKAGES=DIR node lighthouse.mjs BASE
import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";

const LEAST = 97;
const PAGES = [
  "/", "/vcs", "/vcs/alder-capital", "/startups", "/rounds", "/match?stage=seed&sector=fintech&country=US", "/markets",
  "/sectors/fintech", "/leaderboard", "/docs/reference",
];

const require = createRequire(process.env.BROWSER_PACKAGES + "/../");
const load = (name) => import(pathToFileURL(require.resolve(name)).href);
const [{ default: lighthouse }, { launch }] = [await load("lighthouse"), await load("chrome-launcher")];
const browser = await launch({
  chromePath: process.env.CHROMIUM ?? "/usr/bin/chromium",
  chromeFlags: ["--headless=new", "--disable-gpu", ...process.getuid() === 0 ? ["--no-sandbox"] : []],
});

let failed = false;
for (const path of PAGES) {
  const { lhr } = await lighthouse(process.argv[2] + path, { port: browser.port, logLevel: "error" });
  const scores = Object.values(lhr.categories).map(({ id, score }) => [id, Math.round(score * 100)]);
  console.log(path, scores.map(([id, score]) => `${id} ${score}`).join(", "));
  if (scores.some(([, score]) => score < LEAST)) {
    failed = true;
    const poor = Object.values(lhr.audits).filter(({ score, scoreDisplayMode }) => score !== null && score < .9 && scoreDisplayMode !== "informative");
    for (const { id, displayValue } of poor) console.error(`  ${id} ${displayValue ?? ""}`);
  }
}
browser.kill();
if (failed) process.exit(1);
