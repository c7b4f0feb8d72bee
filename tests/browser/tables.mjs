// The tables of lists at five widths: no column is hidden or cut without its name, rows have at most two lines, names stay in place,
// columns are chosen in the address, print has all of them: BROWSER_PACKAGES=DIR node tables.mjs BASE
import { base, expect, finish, inspect, screenshot, visitor } from "./harness.mjs";

const LISTS = ["/vcs", "/startups", "/rounds", "/people"];
const WIDTHS = [1440, 1280, 1024, 768, 390];
// Two lines of text with the space above and below, in CSS pixels.
const TWO_LINES = 60;

// What a visitor sees of the table of a list.
function measure() {
  const isShown = (element) => element.checkVisibility() && element.getBoundingClientRect().width > 0;
  const texts = (selector) => [...document.querySelectorAll(selector)].filter(isShown).map((element) => element.textContent.trim());
  const label = (head) => (head.querySelector("a") ?? head.firstChild).textContent.replace(/[↑↓]/g, "").trim();
  const scroll = document.querySelector(".fitted .scroll"), { left, right } = scroll.getBoundingClientRect();
  const isStacked = getComputedStyle(scroll.querySelector("tr")).display === "block";
  const heads = [...scroll.querySelectorAll("thead th")].slice(1), rows = [...scroll.querySelectorAll("tbody tr")];
  // Stacked, a column is there if each of its values is: those that are not known are left out.
  const values = (head) => [...scroll.querySelectorAll(`td[data-name="${label(head)}"]:not(.none)`)];
  const isThere = (head) => isStacked ? values(head).every(isShown) : isShown(head);
  const within = (element) => element.getBoundingClientRect().right <= right + 1 && element.getBoundingClientRect().left >= left - 1;
  const unknown = texts(".fits > p").join(" ").replace(/^Unknown in all rows: |\.$/g, "").split(", ");
  return {
    known: [...document.querySelectorAll(".fits fieldset label")].map((option) => option.textContent.trim()),
    shown: heads.filter((head) => isThere(head) && (isStacked || within(head))).map(label),
    beyond: heads.filter((head) => isThere(head) && !isStacked && !within(head)).map(label),
    named: [...texts(".fits .names li"), ...unknown],
    cut: [...scroll.querySelectorAll("tbody :is(td, th)")].filter((cell) => isShown(cell) && cell.scrollWidth > cell.clientWidth + 1).map((cell) => cell.textContent.trim()),
    high: isStacked ? 0 : Math.max(0, ...rows.filter((row) => !row.querySelector(".common")).map((row) => row.getBoundingClientRect().height)),
    crowded: [...scroll.querySelectorAll("td[data-name=Sectors]")].filter((cell) => cell.querySelectorAll("a").length > 2).length,
    ragged: [...scroll.querySelectorAll("td.right")].filter((cell) => isShown(cell) && !isStacked && getComputedStyle(cell).textAlign !== "right").length,
    isScrolled: scroll.scrollWidth > scroll.clientWidth + 1,
  };
}

let hidden = 0;
for (const scheme of ["light", "dark"]) {
  const page = await visitor({ scheme });
  for (const list of LISTS) {
    for (const path of [list, `${list}?page=3`, `${list}?columns=all`]) {
      for (const width of WIDTHS) {
        await page.setViewportSize({ width, height: 900 });
        await page.goto(path);
        if (await page.locator(".fitted").count() === 0) continue;
        const where = `${path} (${width}, ${scheme})`, found = await page.evaluate(measure);
        const unnamed = [...found.known.filter((label) => !found.shown.includes(label)), ...found.beyond].filter((label) => !found.named.includes(label));
        hidden += unnamed.length;
        expect(found.known.length >= 3, `${where}: no column can be chosen`);
        expect(unnamed.length === 0, `${where}: hidden without being named: ${unnamed}`);
        expect(found.cut.length === 0, `${where}: cut: ${found.cut.slice(0, 3).join("; ")}`);
        expect(found.high <= TWO_LINES, `${where}: a row is ${found.high} pixels high`);
        expect(found.crowded === 0, `${where}: ${found.crowded} rows name more than two sectors`);
        expect(found.ragged === 0, `${where}: ${found.ragged} numbers are not aligned`);
        expect(found.isScrolled === found.beyond.length > 0, `${where}: scrolled, and beyond the edge: ${found.beyond}`);
        expect(path.includes("columns") || !found.isScrolled, `${where}: has to be scrolled`);
        if (path === `${list}?columns=all`) await inspect(page, where);
        if (path !== `${list}?page=3`) await screenshot(page, `table${path.replace(/\W+/g, "-")}-${width}-${scheme}`);
      }
    }
  }
  await page.context().close();
}

// All columns: names stay while the others are scrolled.
const wide = await visitor({ width: 768 });
await wide.goto("/vcs?columns=all");
const scrolled = await wide.evaluate(() => {
  const scroll = document.querySelector(".fitted .scroll"), name = scroll.querySelector("tbody th");
  scroll.scrollLeft = scroll.scrollWidth;
  return [scroll.scrollLeft, name.getBoundingClientRect().left - scroll.getBoundingClientRect().left, scroll.querySelector("thead th").getBoundingClientRect().left - name.getBoundingClientRect().left];
});
expect(scrolled[0] > 100 && scrolled[1] < 60 && Math.abs(scrolled[2]) < 1, `names do not stay: ${scrolled}`);

// In print all columns are on the paper: A4 with margins.
for (const list of LISTS) {
  await wide.setViewportSize({ width: 718, height: 1000 });
  await wide.goto(list);
  await wide.emulateMedia({ media: "print" });
  const printed = await wide.evaluate(measure);
  // A column without a value in any row is not drawn anywhere.
  const unknown = await wide.evaluate(() => document.querySelector(".fits > p")?.textContent ?? "");
  const missing = printed.known.filter((label) => !printed.shown.includes(label) && !unknown.includes(label));
  expect(missing.length === 0, `${list} in print: without ${missing}`);
  expect(!printed.isScrolled && printed.cut.length === 0, `${list} in print: cut ${printed.cut.slice(0, 3)}`);
  if (process.env.PICTURES) await wide.pdf({ path: `${process.env.PICTURES}/print${list.replace("/", "-")}.pdf`, format: "A4" });
  await wide.emulateMedia({ media: "screen" });
}

// Without script: a name that has no room leads to its column, and the form shows what is chosen, also on the next page.
const plain = await visitor({ width: 1024, script: false });
const heads = async () => (await plain.locator(".fitted thead th:visible").allTextContents()).join(" | ");
await plain.goto("/vcs");
const named = plain.locator(".fits .names li:visible a").first(), label = await named.textContent();
expect(!(await heads()).includes(label), `${label} has no room, and is shown: ${await heads()}`);
await named.click();
expect((await heads()).includes(label), `${label} was chosen, and is not shown: ${await heads()}`);
await plain.goto("/vcs?stage=seed&per_page=50");
await plain.locator(".fits summary").click();
await plain.getByLabel("Rounds", { exact: true }).check();
await plain.getByLabel("Portfolio", { exact: true }).check();
await plain.getByRole("button", { name: "Show", exact: true }).click();
const seen = await heads();
expect(seen.includes("Rounds") && seen.includes("Portfolio") && !seen.includes("Stages"), `chosen: ${seen}`);
expect(plain.url().includes("stage=seed") && plain.url().includes("per_page=50"), `the choice loses the rest of the address: ${plain.url()}`);
await plain.locator(".fitted thead a").first().click();
expect(await heads() !== "" && (await heads()).includes("Portfolio") && !(await heads()).includes("Stages"), `sorted: ${await heads()}`);

await finish(`tables at ${base}, ${hidden} columns hidden without a name`);
