// Every kind of page, wide and narrow, light and dark, with and without script: BROWSER_PACKAGES=DIR node pages.mjs BASE [DATA]
// DATA is `bundled`, or `other` for a release of any data, also one without a record.
import { base, expect, finish, inspect, screenshot, visitor } from "./harness.mjs";

const data = process.argv[3] ?? "bundled";
const WIDTHS = [1440, 768, 390, 320];

const PAGES = [
  "/", "/?q=zzxqwy", "/?q=newest+seed+startups+in+the+US+that+glow", "/vcs", "/vcs?stage=seed,series-a&country=DE", "/vcs?check_usd=abc&per_page=50", "/startups", "/people", "/rounds",
  "/sectors", "/markets", "/countries/us", "/match", "/match?stage=seed&country=US&raise_usd=2m", "/match?raise_usd=abc", "/compare",
  "/leaderboard", "/leaderboard?metric=activity&stage=seed", "/data", "/releases", "/resolve", "/docs", "/docs/charts", "/docs/reference",
];
const BUNDLED = [
  "/?q=aldr+captial", "/startups?q=the+5+largest+fintech+startups", "/startups?text=workflow+tools", "/?q=workflow+pilots",
  "/vcs?stage=seed&stge=1&sector=fintec", "/vcs/alder-capital", "/vcs/alder-capital/reviews",
  "/leaderboard?metric=ghosting_rate&stage=seed", "/sectors/fintech", "/countries/de/seed", "/cities/london",
  "/match?stage=seed&sector=fintech&country=US&raise_usd=2m&pick=alder-capital", "/compare?firm=alder-capital,lunpentanza-ventures",
  "/docs/clients", "/docs/mcp", "/docs/paging", "/docs/search", "/docs/score", "/docs/match", "/docs/limits", "/docs/versions",
  "/docs/errors", "/docs/operation", "/docs/keys", "/docs/alerts", "/docs/operate/dataset", "/docs/operate/import",
  "/docs/operate/resolution", "/docs/operate/tables", "/docs/recipes", "/docs/recipes/match", "/signup", "/signin",
];

// The profiles at the top of the lists: those with most to show.
const first = await visitor();
const profiles = [];
for (const list of ["/vcs", "/startups", "/people"]) {
  await first.goto(list);
  const link = first.locator("table.rows tbody th a").first();
  if (await link.count() > 0) profiles.push(await link.getAttribute("href"));
}
expect(data !== "bundled" || profiles.length === 3, `profiles: ${profiles}`);
await first.goto("/sectors");
const sector = first.locator("table.rows tbody th a").first();
if (await sector.count() > 0) profiles.push(await sector.getAttribute("href"));

for (const scheme of ["light", "dark"]) {
  const page = await visitor({ width: WIDTHS[0], scheme });
  for (const path of [...PAGES, ...data === "bundled" ? BUNDLED : [], ...profiles]) {
    const response = await page.goto(path);

    expect(response.status() === 200, `${path} returns ${response.status()}`);
    for (const width of WIDTHS) {
      await page.setViewportSize({ width, height: 900 });
      await inspect(page, `${path} (${width}, ${scheme})`);
      await screenshot(page, `${data}${path.replace(/\W+/g, "-")}-${width}-${scheme}`);
    }
    await page.setViewportSize({ width: WIDTHS[0], height: 900 });
  }
  await page.context().close();
}
if (data !== "bundled") await finish(`pages of other data at ${base}`);

// Suggestions: the field is a combobox for the keyboard, and a name with a typo leads to its profile.
const typing = await visitor();
await typing.goto("/");
const field = typing.getByRole("combobox", { name: /Name of a firm/ });
await field.fill("aldr cap");
const option = typing.getByRole("option", { name: "Alder Capital firm" });
await option.waitFor();
await inspect(typing, "/ while typing");
await screenshot(typing, "typing");
await field.press("ArrowDown");
expect(await field.getAttribute("aria-activedescendant") !== null, "the selected name is not announced");
await field.press("Enter");
await typing.waitForURL("**/vcs/alder-capital");
expect((await typing.locator("h1").textContent()) === "Alder Capital", "another profile was opened");
await typing.goto("/");
await typing.getByRole("combobox", { name: /Name of a firm/ }).fill("aldr cap");
await option.click();
await typing.waitForURL("**/vcs/alder-capital");
await typing.goto("/");
await typing.getByRole("combobox", { name: /Name of a firm/ }).fill("aldr cap");
await option.waitFor();
await typing.keyboard.press("Escape");
expect(await typing.getByRole("listbox", { includeHidden: true }).isHidden(), "Escape does not close the names");

// A sort order and a filter take effect when they are selected, and the copy button copies the text that is shown.
await typing.goto("/vcs");
await typing.getByLabel("Sort by").selectOption({ label: "Name" });
await typing.waitForURL("**sort=name**");
await typing.goto("/vcs");
await typing.getByRole("checkbox", { name: /^Seed/ }).check();
await typing.waitForURL("**stage=seed");
expect(await typing.evaluate(() => document.activeElement.value) === "seed", "the checkbox lost the focus");
await typing.getByLabel("Country by name").fill("germ");
expect(await typing.locator("fieldset", { hasText: "Country" }).getByRole("checkbox").count() === 1, "other countries are shown");
await typing.getByLabel("Country by name").press("Enter");
await typing.waitForURL("**stage=seed&country=DE");
await typing.goto("/leaderboard");
await typing.getByLabel("Country").selectOption("DE");
await typing.waitForURL("**country=DE**");
expect(await typing.locator("tbody tr").count() > 0, "no firm is ranked in Germany");
await typing.goto("/docs");
await typing.getByRole("button", { name: "Copy" }).first().click();
await typing.getByRole("button", { name: "Copied" }).waitFor();
const copied = await typing.evaluate(() => navigator.clipboard.readText());
expect(copied === await typing.locator("pre.copy").first().textContent(), `copied: ${copied}`);

// The first element for the keyboard skips to the content.
await typing.goto("/vcs");
await typing.keyboard.press("Tab");
expect(await typing.evaluate(() => document.activeElement.textContent) === "Skip to content", "there is no skip link");

// Without script: search with a typo, profile, filter, order, leaderboard.
const plain = await visitor({ script: false });
await plain.goto("/");
await plain.getByRole("searchbox").fill("aldr captial");
await plain.getByRole("button", { name: "Search" }).click();
await plain.getByRole("link", { name: "Alder Capital" }).first().click();
expect((await plain.locator("h1").textContent()) === "Alder Capital", "no profile without script");
await plain.goto("/vcs");
await plain.getByRole("checkbox", { name: /Germany/ }).check();
await plain.getByRole("button", { name: "Apply filters" }).click();
await plain.getByLabel("Sort by").selectOption({ label: "Name" });
await plain.getByRole("button", { name: "Sort" }).click();
expect(plain.url().includes("country=DE") && plain.url().includes("sort=name"), `without script: ${plain.url()}`);
await plain.goto("/leaderboard");
await plain.getByLabel("Stage").selectOption("seed");
await plain.getByRole("button", { name: "Show" }).click();
expect(plain.url().includes("stage=seed") && await plain.locator("tbody tr").count() > 0, "the leaderboard is not filtered");

// Errors that help.
const lost = await visitor({ expected: ["404"] });
const missing = await lost.goto("/vcs/aldr-capitol");
expect(missing.status() === 404 && await lost.getByRole("link", { name: "Alder Capital" }).count() > 0, "the 404 page suggests no firm");
await inspect(lost, "404");
await lost.goto("/no-such-page");
await inspect(lost, "no such page");
await screenshot(lost, "no-such-page");

await finish(`pages at ${base}`);
