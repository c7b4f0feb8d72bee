// The pages of an account and of operators, at every width, light and dark: BROWSER_PACKAGES=DIR node signed_in.mjs BASE EMAIL
// The account of EMAIL is an operator, and its password comes from PASSWORD.
import { base, expect, finish, inspect, screenshot, visitor } from "./harness.mjs";

const email = process.argv[3];
const password = process.env.PASSWORD;

async function signIn(page) {
  await page.goto("/signin");
  await page.getByLabel("E-mail address").fill(email);
  await page.getByLabel("Password").fill(password);
  await page.getByRole("button", { name: "Sign in" }).click();
  await page.waitForURL(base + "/account");
}

const first = await visitor();
await signIn(first);
await first.getByLabel("Name of a new key").fill("laptop");
await first.getByRole("button", { name: "Create key" }).click();
await first.getByRole("link", { name: "I have copied it" }).click();
const key = new URL(first.url()).pathname;
await first.goto("/vcs?stage=seed&country=DE");
await first.getByRole("link", { name: /Save/ }).first().click();
await first.getByRole("button", { name: /Save/ }).first().click();
await first.goto("/account/saved");
const saved = await first.locator("main th a").first().getAttribute("href");
await first.goto("/admin/accounts");
const account = await first.locator("main th a").first().getAttribute("href");

const paths = [
  "/account", key, `${key}/revoke`, `${key}/rotate`, "/account/saved", saved, "/account/webhooks", "/account/delete",
  "/admin", "/admin/accounts", "/admin/accounts?q=zzxq", account, "/admin/duplicates", "/admin/duplicates?table=people",
  "/admin/duplicates?table=people&page=99",
];
for (const scheme of ["light", "dark"]) {
  const page = await visitor({ width: 1440, scheme });
  await signIn(page);
  for (const path of paths) {
    const response = await page.goto(path);
    expect(response.status() === 200, `${path} returns ${response.status()}`);
    for (const width of [1440, 768, 390, 320]) {
      await page.setViewportSize({ width, height: 900 });
      await inspect(page, `${path} (${width}, ${scheme})`);
      await screenshot(page, `signed-in${path.replace(/\W+/g, "-")}-${width}-${scheme}`);
    }
    await page.setViewportSize({ width: 1440, height: 900 });
  }
}
await finish(`signed in at ${base}`);
