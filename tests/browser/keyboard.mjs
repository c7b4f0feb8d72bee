// The way of a visitor by keyboard alone, wide and on a phone: BROWSER_PACKAGES=DIR node keyboard.mjs BASE
import { base, expect, finish, visitor } from "./harness.mjs";

const page = await visitor({ width: 1440 });

// Presses Tab until an element has the focus, which must be seen there.
async function to(selector, on = page) {
  for (let presses = 0; presses < 400; presses += 1) {
    await on.keyboard.press("Tab");
    const focus = await on.evaluate((selector) => {
      const element = document.activeElement;
      if (!element.matches(selector)) return null;
      const { outlineStyle, outlineWidth } = getComputedStyle(element), { width, height } = element.getBoundingClientRect();
      return { isMarked: outlineStyle !== "none" && parseFloat(outlineWidth) > 0, width, height };
    }, selector);
    if (focus === null) continue;
    expect(focus.isMarked, `${on.url()}: nothing marks the focus of ${selector}`);
    expect(focus.width >= 1 && focus.height >= 1, `${on.url()}: ${selector} is not visible`);
    return;
  }
  throw new Error(`${on.url()}: the Tab key does not reach ${selector}`);
}
const heading = (on = page) => on.locator("h1").textContent();
async function enter(address, on = page) {
  await Promise.all([on.waitForEvent("load"), on.keyboard.press("Enter")]);
  await on.waitForURL(address);
}

// A firm by half of its name.
await page.goto("/");
await page.keyboard.press("/");
await page.keyboard.type("aldr cap");
await page.getByRole("option", { name: "Alder Capital firm" }).waitFor();
await page.keyboard.press("ArrowDown");
await enter("**/vcs/alder-capital");
expect(await heading() === "Alder Capital", "another profile was opened");

// The skip link, then the portfolio: the header is not passed again.
await page.keyboard.press("Tab");
await page.keyboard.press("Enter");
await to('main a[href^="/startups?investor="]');
await enter("**/startups?investor=alder-capital");

// Firms that fit, shortlisted and compared.
await to('nav a[href="/match"]');
await enter("**/match");
await to("#stage");
await page.keyboard.type("Seed");
await to("#country");
await page.keyboard.type("United S");
await to("main form button");
await enter("**/match?*stage=seed*");
expect(await page.locator("ul.matches > li").count() > 1, "no firm fits");
for (const picked of [1, 2]) {
  await to(`ul.matches > li:nth-child(${picked}) a.button`);
  await enter("**pick=**");
}
await to('a[href^="/compare"]');
await enter("**/compare?firm=**");
expect(await page.locator("table.compare thead th").count() === 2, "not two firms are compared");

// A list: a filter, an order, the next page, two records to compare.
await to('nav a[href="/vcs"]');
await enter("**/vcs");
await to('.filters input[name="stage"][value="series-a"]');
await Promise.all([page.waitForEvent("load"), page.keyboard.press("Space")]);
await page.waitForURL("**stage=series-a**");
await to("thead th a");
await enter("**sort=**");
await to("a[rel=next], .pages a:last-of-type");
await enter("**page=2**");
await to("td.pick input");
await page.keyboard.press("Space");
await page.keyboard.press("Tab");
await to("td.pick input");
await page.keyboard.press("Space");
await page.keyboard.press("Control+k");
expect(await page.evaluate(() => document.activeElement.id) === "search", "Ctrl+K does not go to the search field");

// Charts: the table of each is one stop, and its rows lead to the rounds of the market.
await page.goto("/markets");
await to(".chart summary");
await page.keyboard.press("Enter");
await to(".chart details a");
await enter(/\/rounds\?|\/sectors\/|\/countries\//);

// The menu of a phone.
const phone = await visitor({ width: 390 });
await phone.goto("/vcs/alder-capital");
await to(".menu summary", phone);
await phone.keyboard.press("Enter");
await to('.menu nav a[href="/rounds"]', phone);
await enter("**/rounds", phone);
await to(".filters > summary", phone);
await phone.keyboard.press("Enter");
await to('.filters input[name="stage"]', phone);

await finish(`keyboard at ${base}`);
