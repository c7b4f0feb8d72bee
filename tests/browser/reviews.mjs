// A review from the form to the decision of an operator: BROWSER_PACKAGES=DIR node reviews.mjs BASE EMAIL
// The service takes reviews. The account of EMAIL is an operator, and its password comes from PASSWORD.
import { base, expect, finish, inspect, screenshot, visitor } from "./harness.mjs";

const operatorEmail = process.argv[3];
const password = process.env.PASSWORD;
const BODY = "They took two calls within a week, and then nothing came for four months, in spite of three reminders.";

async function signIn(page, email) {
  await page.goto("/signin");
  await page.getByLabel("E-mail address").fill(email);
  await page.getByLabel("Password").fill(password);
  await page.getByRole("button", { name: "Sign in" }).click();
  await page.waitForURL(base + "/account");
}

async function flow(name, options) {
  const author = await visitor({ ...options, expected: ["422"] });
  const check = async (page, what) => {
    if (options.script !== false) await inspect(page, `${name} ${what}`);
    await screenshot(page, `${name}-${what.replace(/\W+/g, "-")}`);
  };
  const email = `${name}-${process.pid}@example.com`;
  await author.goto("/signup");
  await author.getByLabel("E-mail address").fill(email);
  await author.getByLabel("Password").fill(password);
  await author.getByRole("button", { name: "Create account" }).click();
  await author.waitForURL(base + "/account");
  const operator = await visitor({ width: options.width, scheme: options.scheme, expected: ["422"] });
  await signIn(operator, operatorEmail);
  await operator.goto(`/admin/accounts?q=${name}-${process.pid}`);
  await operator.getByRole("link", { name: email }).click();
  await operator.getByRole("button", { name: "Mark as verified" }).click();

  await author.goto("/vcs/alder-capital");
  await check(author, "firm");
  await author.getByRole("link", { name: "Review Alder Capital" }).click();
  await check(author, "empty form");
  await author.getByRole("button", { name: "Preview" }).click();
  expect(await author.locator(".error").count() >= 5, "an empty review has no faults");
  await check(author, "faults");
  await author.getByLabel("Your role in your company").selectOption("founder");
  await author.getByLabel("Stage of your company then").selectOption("seed");
  await author.getByLabel("Month of your last contact").fill("2026-03");
  await author.getByLabel("Yes", { exact: true }).check();
  await author.locator("input[name=rating][value='2']").check();
  await author.locator("input[name=fairness][value='4']").check();
  await author.getByLabel("Headline").fill(`No answer, says ${name}`);
  await author.getByLabel("What happened?").fill(BODY);
  await author.getByRole("button", { name: "Preview" }).click();
  await check(author, "preview");
  expect(await author.getByLabel("What happened?").inputValue() === BODY, "the preview loses the text");
  await author.getByRole("button", { name: "Submit this review" }).click();
  await author.waitForURL(/\/account\/reviews\/\d+$/);
  await check(author, "submitted");
  await author.goto("/account/reviews");
  await check(author, "own reviews");

  await operator.goto("/admin/reviews");
  await check(operator, "queue");
  await operator.keyboard.press("j");
  await operator.waitForURL(/\/admin\/reviews\/\d+$/);
  await check(operator, "case");
  // A key that needs a reason goes to its field, and types nothing there.
  await operator.keyboard.press("q");
  const field = operator.getByLabel("Reason or question, which the author reads");
  expect(await field.evaluate((field) => field === document.activeElement), "the key q does not go to the reason");
  await field.fill("In which month did you pitch?");
  await operator.keyboard.press("Escape");
  const path = new URL(operator.url()).pathname;
  await operator.keyboard.press("q");
  await operator.waitForURL((url) => url.pathname !== path);
  await author.goto("/account/reviews");
  await author.locator("tbody a").first().click();
  await check(author, "question");
  await author.getByLabel("Your answer to the operator").fill("In March.");
  await author.getByRole("button", { name: "Preview" }).click();
  await author.getByRole("button", { name: "Submit this review" }).click();
  await operator.goto("/admin/reviews");
  await operator.keyboard.press("j");
  await operator.waitForURL(/\/admin\/reviews\/\d+$/);
  await check(operator, "answered");
  await operator.keyboard.press("a");
  await operator.waitForURL((url) => !url.pathname.startsWith(path));
  await author.reload();
  expect((await author.locator("dl.facts").textContent()).includes("Approved"), "the review is not approved");
  await check(author, "approved");
  await author.goto("/vcs/alder-capital/reviews");
  await author.getByRole("link", { name: /^Report/ }).first().click();
  await check(author, "report");
  await author.goto("/docs/reviews");
  await check(author, "docs");

  // Who has an address at the domain of the firm answers, and corrects the record.
  const partner = await visitor({ ...options, expected: ["422"] });
  const partnerEmail = `${name}-${process.pid}@alder-capital.example`;
  await partner.goto("/signup");
  await partner.getByLabel("E-mail address").fill(partnerEmail);
  await partner.getByLabel("Password").fill(password);
  await partner.getByRole("button", { name: "Create account" }).click();
  await partner.waitForURL(base + "/account");
  await operator.goto(`/admin/accounts?q=${partnerEmail}`);
  await operator.getByRole("link", { name: partnerEmail }).click();
  await operator.getByRole("button", { name: "Mark as verified" }).click();
  await partner.goto("/vcs/alder-capital");
  await partner.getByRole("link", { name: "Claim this profile" }).click();
  await check(partner, "claim");
  await partner.getByRole("button", { name: "Claim this profile" }).click();
  await partner.waitForURL(base + "/account/firms");
  await check(partner, "own firms");
  await partner.getByRole("link", { name: "Correct the record" }).click();
  await partner.getByLabel("What is wrong?").selectOption("city");
  await partner.getByLabel("Right value").fill("Oslo");
  await partner.getByLabel("Page that shows it").fill("https://alder-capital.example/about");
  await partner.getByRole("button", { name: "Propose" }).click();
  await check(partner, "correction");
  await operator.goto("/admin/corrections");
  await check(operator, "corrections");
  await operator.getByRole("button", { name: /^Accept/ }).first().click();
  await check(operator, "corrections accepted");
  await author.goto("/account/reviews");
  await author.locator("tbody a").first().click();
  const review = await author.locator("article.review").getAttribute("id");
  await partner.goto(`/vcs/alder-capital/reviews/${review.replace(/^review-/, "")}/reply`);
  await check(partner, "answer");
  await partner.getByLabel("Answer of Alder Capital").fill("We are sorry: the mail of June was lost, and we answer within a week now.");
  await partner.getByRole("button", { name: "Publish the answer" }).click();
  await check(partner, "answered by the firm");
}

await flow("wide-light", { width: 1280, scheme: "light" });
await flow("narrow-dark", { width: 390, scheme: "dark" });
await flow("plain", { script: false });
await finish(`reviews at ${base}`);
