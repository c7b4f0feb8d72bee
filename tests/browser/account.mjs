// From sign-up to usage in a browser, with script and without: BROWSER_PACKAGES=DIR node account.mjs BASE
import { createHmac } from "node:crypto";
import { appendFileSync } from "node:fs";
import { base, expect, finish, inspect, screenshot, visitor } from "./harness.mjs";

const PASSWORD = "seven quiet herons";
// Texts that must not appear in any file afterwards, if SECRETS names a file for them.
const secret = (text) => process.env.SECRETS && appendFileSync(process.env.SECRETS, text + "\n");
const request = (key) => fetch(base + "/api/v3/vcs?limit=1", { headers: { Authorization: "Bearer " + key } });

// The code that an authenticator app shows now (RFC 6238).
function code(secret) {
  const bits = [...secret].map((letter) => "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567".indexOf(letter).toString(2).padStart(5, "0"));
  const key = Buffer.from(bits.join("").match(/.{8}/g).map((byte) => parseInt(byte, 2)));
  const step = Buffer.alloc(8);
  step.writeBigUInt64BE(BigInt(Math.floor(Date.now() / 30_000)));
  const hash = createHmac("sha1", key).update(step).digest();
  return String((hash.readUInt32BE(hash[19] & 15) & 0x7fffffff) % 1_000_000).padStart(6, "0");
}

async function flow(name, options) {
  const page = await visitor({ ...options, expected: ["422"] });
  const check = async (name) => {
    if (options.script !== false) await inspect(page, name);
    await screenshot(page, name.replace(/\W+/g, "-"));
  };
  const email = `${name}-${process.pid}@example.com`;

  await page.goto("/account");
  expect(page.url() === base + "/signin", "a visitor who is not signed in is not redirected to the sign-in page");
  await check(`${name} sign in`);
  await page.getByRole("link", { name: "Sign up" }).click();
  await page.getByLabel("E-mail address").fill(email);
  await page.getByLabel("Password").fill("passwordpassword");
  await page.getByRole("button", { name: "Create account" }).click();
  expect(/most common|easy to guess/.test(await page.getByRole("alert").textContent()), "a weak password is accepted");
  expect(await page.getByLabel("E-mail address").inputValue() === email, "the e-mail address is lost");
  await check(`${name} sign up rejected`);
  await page.getByLabel("Password").fill(PASSWORD);
  await page.getByRole("button", { name: "Create account" }).click();
  await page.waitForURL(base + "/account");
  await check(`${name} account without keys`);

  await page.getByLabel("Name of a new key").fill("laptop");
  await page.getByRole("button", { name: "Create key" }).click();
  const key = (await page.locator("#key").textContent()).trim();
  const line = await page.locator("pre[data-language=curl]").textContent();
  expect(/^vdx_[0-9A-Za-z]{36}$/.test(key) && line.includes(key), "the key is not shown with its curl command");
  secret(key);
  secret(PASSWORD);
  for (const { value } of await page.context().cookies()) secret(value);
  await check(`${name} new key`);
  if (options.script !== false) {
    await page.getByRole("button", { name: "Copy" }).first().click();
    await page.getByRole("button", { name: "Copied" }).waitFor();
    expect(await page.evaluate(() => navigator.clipboard.readText()) === key, "another key was copied");
  }
  const response = await request(key);
  expect(response.status === 200, `the new key returns ${response.status}`);

  await page.getByRole("link", { name: "I have copied it" }).click();
  expect(await page.getByText("First call seen").count() === 1, "the first call is not seen");
  expect(!(await page.content()).includes(key), "the page of the key shows it");
  await check(`${name} page of the key`);
  await page.getByRole("link", { name: "Account" }).first().click();
  await page.waitForURL(base + "/account");
  const row = page.locator("tr", { hasText: "laptop" }).first();
  expect((await row.locator("[data-name=Today]").textContent()).trim().startsWith("1"), "usage is not 1");
  expect(!(await page.content()).includes(key), "the key is shown again");
  await check(`${name} account with a key`);

  await row.getByRole("link", { name: /Rotate/ }).click();
  await check(`${name} rotate`);
  await page.getByRole("button", { name: "Rotate key" }).click();
  const successor = (await page.locator("#key").textContent()).trim();
  secret(successor);
  await check(`${name} successor`);
  expect((await request(key)).status === 200, "a rotated key is not valid");
  expect((await request(successor)).status === 200, "the successor is not valid");
  await page.getByRole("link", { name: "I have copied it" }).click();
  await page.getByRole("link", { name: "Account" }).first().click();
  await page.waitForURL(base + "/account");
  await check(`${name} account with a rotated key`);

  await page.getByRole("button", { name: "Set up two-step sign-in" }).click();
  await check(`${name} two-step setup`);
  const shared = (await page.locator("#secret").textContent()).replaceAll(" ", "").trim();
  await page.getByLabel("Code that the app shows").fill(code(shared));
  await page.getByRole("button", { name: "Turn on" }).click();
  const recovery = (await page.locator("#codes").textContent()).trim().split("\n");
  expect(recovery.length === 10, `${recovery.length} recovery codes`);
  recovery.forEach(secret);
  await check(`${name} recovery codes`);
  await page.getByRole("link", { name: "I have stored them" }).click();
  await page.getByRole("link", { name: "Recovery codes, turn off" }).click();
  await check(`${name} two-step`);
  await page.getByRole("link", { name: "Account" }).first().click();
  await page.waitForURL(base + "/account");

  await row.getByRole("link", { name: /Revoke/ }).click();
  await check(`${name} revoke`);
  await page.getByRole("button", { name: "Revoke key" }).click();
  await page.waitForURL(base + "/account");
  expect((await request(key)).status === 401, "a revoked key is still valid");

  expect(await page.getByText("This browser").count() === 1, "the own session is not listed");
  await page.getByLabel("Current password").fill(PASSWORD);
  await page.getByLabel("New password").fill("nine loud herons");
  await page.getByRole("button", { name: "Change password" }).click();
  expect((await page.getByRole("status").textContent()).includes("changed"), "the password is not changed");
  await page.getByRole("button", { name: "Sign out" }).click();
  await page.waitForURL(base + "/");
  await page.goto("/signin");
  await page.getByLabel("E-mail address").fill(email);
  await page.getByLabel("Password").fill(PASSWORD);
  await page.getByRole("button", { name: "Sign in" }).click();
  expect((await page.getByRole("alert").textContent()).includes("do not match"), "the old password is still valid");
  await page.getByLabel("Password").fill("nine loud herons");
  await page.getByRole("button", { name: "Sign in" }).click();
  await page.getByLabel("Code from your authenticator app").fill("000000");
  await page.getByRole("button", { name: "Sign in" }).click();
  expect((await page.getByRole("alert").textContent()).includes("not valid"), "a wrong code is accepted");
  await check(`${name} sign-in code`);
  await page.getByLabel("Code from your authenticator app").fill(recovery[0]);
  await page.getByRole("button", { name: "Sign in" }).click();
  await page.waitForURL(base + "/account");

  await page.getByRole("link", { name: "Delete my account" }).click();
  await check(`${name} delete`);
  await page.getByLabel("Password").fill("nine loud herons");
  await page.getByRole("button", { name: "Delete account" }).click();
  await page.waitForURL(base + "/");
  await page.goto("/account");
  expect(page.url() === base + "/signin", "a deleted account is still signed in");

  const cookies = await page.context().cookies();
  expect(cookies.every(({ httpOnly, sameSite }) => httpOnly && sameSite === "Lax"), "scripts can read a cookie");
}

await flow("wide-light", { width: 1280, scheme: "light" });
await flow("narrow-dark", { width: 390, scheme: "dark" });
await flow("plain", { script: false });
await finish(`accounts at ${base}`);
