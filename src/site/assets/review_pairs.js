// Decides pairs batch by batch. Every change is a step that can be taken back; what is shown follows from the steps.
const review = JSON.parse(document.getElementById("data").textContent);
const element = (id) => document.getElementById(id);
const kept = "venturedex-review-" + element("main").dataset.id;
const pairs = review.batches.flatMap((batch, number) => batch.pairs.map((pair) => Object.assign(pair, { batch: number })));
review.batches.reduce((first, batch) => ((batch.first = first), first + batch.pairs.length), 0);

// Steps: { pairs, judgement, why, unseen }, with indexes of pairs.
let steps = [];
let judged = [];
let at = 0;
let saved = 0;
let pace = [];
let last = Date.now();

const number = (count) => count.toLocaleString("en");
const counted = (count, one) => `${number(count)} ${one}${count === 1 ? "" : /(s|x|ch)$/.test(one) ? "es" : "s"}`;

// Groups of entities that are the same, and pairs of groups that are not.
class Groups {
  first = new Map();
  apart = review.apart.map(([left, right]) => [left, right]);
  find(group) {
    while (this.first.has(group)) group = this.first.get(group);
    return group;
  }
  implied([left, right]) {
    const [one, other] = [this.find(left), this.find(right)];
    if (one === other) return "same";
    const isApart = this.apart.some((ends) => {
      const [a, b] = ends.map((end) => this.find(end));
      return (a === one && b === other) || (a === other && b === one);
    });
    return isApart ? "different" : undefined;
  }
  add([left, right], judgement) {
    const [one, other] = [this.find(left), this.find(right)];
    if (judgement === "same" && one !== other) this.first.set(Math.max(one, other), Math.min(one, other));
    if (judgement === "different") this.apart.push([left, right]);
  }
}

// The decisions, each with its pair; of several about one pair, the last.
function decisions() {
  const own = new Map();
  for (const { pairs, judgement, why, unseen } of steps) {
    for (const index of pairs) {
      own.delete(index);
      own.set(index, { index, judgement, why, unseen });
    }
  }
  return [...own.values()];
}

function groups(made) {
  const known = new Groups();
  for (const order of ["same", "different"]) {
    for (const { index, judgement } of made) if (judgement === order) known.add(pairs[index].groups, judgement);
  }
  return known;
}

function judge() {
  const made = decisions();
  const known = groups(made);
  known.apart = [...new Map(known.apart.map((ends) => {
    const [left, right] = ends.map((end) => known.find(end)).sort((left, right) => left - right);
    return [`${left} ${right}`, [left, right]];
  })).values()];
  const apart = new Set(known.apart.map((ends) => ends.join(" ")));
  const own = new Map(made.map((decision) => [decision.index, decision]));
  judged = pairs.map(({ groups }, index) => {
    if (own.has(index)) return own.get(index).judgement;
    const [left, right] = groups.map((group) => known.find(group)).sort((left, right) => left - right);
    return left === right ? "same" : apart.has(`${left} ${right}`) ? "different" : undefined;
  });
  try {
    localStorage.setItem(kept, JSON.stringify(steps));
  } catch {
    // The browser keeps nothing for files.
  }
}

// The sample of a batch: what is decided up to the first pair that is not.
function sampleOf(batch) {
  const made = judged.slice(batch.first, batch.first + batch.pairs.length);
  const end = made.indexOf(undefined);
  const sample = end < 0 ? made : made.slice(0, end);
  return { sample, left: made.filter((judgement) => !judgement).length };
}

function countsOf(sample) {
  const count = (judgement) => sample.filter((made) => made === judgement).length;
  const [same, different] = [count("same"), count("different")];
  return same >= different ? { judgement: "same", agreeing: same } : { judgement: "different", agreeing: different };
}

// What the sample says of the rest.
function offerOf(batch) {
  const { sample, left } = sampleOf(batch);
  sample.length = Math.min(sample.length, review.sample + batch.bounds.length - 1);
  const { judgement, agreeing } = countsOf(sample);
  const differing = sample.length - agreeing;
  if (left === 0 || sample.length < review.sample || differing * review.one_may_differ_of > sample.length) return null;
  const most = Math.min(batch.bounds[sample.length - review.sample][differing], left);
  return { judgement, agreeing, seen: sample.length, rest: left, differing: most, share: Math.ceil((most * 100) / left) };
}

const judgementText = (judgement) => (judgement === "same" ? "the same" : judgement);

function fill(template, offer, batch) {
  const values = { ...offer, judgement: judgementText(offer.judgement), batch: `${batch.title} (${number(batch.pairs.length)} pairs)` };
  return template.replaceAll(/\{(\w+)\}/g, (_, name) => (typeof values[name] === "number" ? number(values[name]) : values[name]));
}

// How many more pairs, of which none differs, lower the error to one of the shares.
function largerSample(offer, batch) {
  const target = review.shares.find((share) => offer.share > share);
  const differing = offer.seen - offer.agreeing;
  const last = Math.min(offer.seen + Math.floor(offer.rest / 2), review.sample + batch.bounds.length - 1);
  for (let seen = offer.seen + 1; target !== undefined && seen <= last; seen += 1) {
    const share = Math.ceil((batch.bounds[seen - review.sample][differing] * 100) / (batch.pairs.length - seen));
    if (share <= target) return fill(review.larger, { more: seen - offer.seen, share }, batch);
  }
  return "";
}

function looksLeft(batch) {
  const { sample, left } = sampleOf(batch);
  const differing = sample.length - countsOf(sample).agreeing;
  return Math.min(left, Math.max(0, Math.max(review.sample, differing * review.one_may_differ_of) - sample.length));
}

function make(name, attributes = {}, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  made.append(...children);
  return made;
}

function valueOf(label, text) {
  if (label !== "website" || !/^https?:\/\//i.test(text)) return text;
  return make("a", { href: text, target: "_blank", rel: "noopener noreferrer" }, text);
}

function cellOf(label, { common = [], other = [], more = 0 }) {
  const cell = make("td", { role: "cell" });
  for (const text of common) {
    cell.append(make("span", { class: "common" }, valueOf(label, text), make("b", { class: "hidden" }, " (equal)")));
  }
  for (const text of other) cell.append(make("span", {}, valueOf(label, text)));
  if (more > 0) cell.append(make("span", { class: "quiet" }, `and ${number(more)} more`));
  return cell;
}

function showPair() {
  const pair = pairs[at];
  const batch = review.batches[pair.batch];
  const heads = ["", pair.left, pair.right].map((text) => make("th", { scope: "col", role: "columnheader" }, text || make("span", { class: "hidden" }, "Field")));
  const rows = pair.rows.map(({ label, sides }) => make("tr", { role: "row" }, make("th", { scope: "row", role: "rowheader" }, label), ...sides.map((side) => cellOf(label, side))));
  const own = steps.some((step) => step.pairs.includes(at));
  const buttons = [["same", "Same", "s"], ["different", "Different", "d"], ["unsure", "Unsure", "u"]].map(([judgement, text, key]) => {
    const button = make("button", { type: "button", value: judgement, class: "plain", "aria-pressed": judged[at] === judgement }, text, " ", make("kbd", {}, key));
    button.addEventListener("click", () => decide(judgement));
    return button;
  });
  const state = judged[at] ? `, ${judged[at]}${own ? "" : " by other decisions"}` : "";
  const why = make("input", { id: "why", maxlength: "1000", autocomplete: "off" });
  element("pair").replaceChildren(
    make("h3", { id: "which", tabindex: "-1" }, `Pair ${number(at - batch.first + 1)} of ${number(batch.pairs.length)}${state}`),
    make("table", { role: "table", "aria-labelledby": "which" }, make("thead", { role: "rowgroup" }, make("tr", { role: "row" }, ...heads)), make("tbody", { role: "rowgroup" }, ...rows)),
    make("p", { class: "small quiet" }, `Score ${pair.evidence}`, ...(pair.held ? [make("br"), `Not merged: ${pair.held}`] : [])),
    make("div", { class: "decide buttons" }, ...buttons, make("label", {}, make("span", { class: "small quiet" }, "Reason"), why)),
  );
}

function minutes(looks) {
  if (pace.length < 3) return "";
  const sorted = [...pace].sort((left, right) => left - right);
  return `, ${counted(Math.max(1, Math.round((looks * sorted[sorted.length >> 1]) / 60000)), "minute")} at your pace`;
}

function progressText() {
  const done = judged.filter(Boolean).length;
  const open = review.batches.filter((batch) => sampleOf(batch).left > 0).length;
  const looks = review.batches.reduce((sum, batch) => sum + looksLeft(batch), 0);
  const left = open > 0 ? ` About ${number(looks)} to see${minutes(looks)}.` : "";
  return `${number(done)} of ${counted(pairs.length, "pair")} decided, ${counted(open, "batch")} left.${left}`;
}

function show() {
  const batch = review.batches[pairs[at].batch];
  const offer = offerOf(batch);
  element("meter").max = pairs.length;
  element("meter").value = judged.filter(Boolean).length;
  element("progress").textContent = progressText();
  const count = decisions().length;
  element("save").textContent = `Save ${counted(count, "decision")}`;
  element("save").disabled = count === 0;
  element("undo").disabled = steps.length === 0;
  element("title").textContent = `Batch ${pairs[at].batch + 1} of ${review.batches.length}. ${batch.title[0].toUpperCase()}${batch.title.slice(1)}`;
  element("offer").hidden = !offer;
  if (offer) {
    element("said").textContent = fill(review.offer, offer, batch);
    element("larger").textContent = `or go on. ${largerSample(offer, batch)}`;
    element("rest").replaceChildren(`The other ${number(offer.rest)} are ${judgementText(offer.judgement)} `, make("kbd", {}, "b"));
  }
  for (const [index, button] of [...element("batches").querySelectorAll("button")].entries()) {
    const { pairs: { length } } = review.batches[index];
    button.lastChild.textContent = `${number(length - sampleOf(review.batches[index]).left)} of ${number(length)}`;
    if (index === pairs[at].batch) button.setAttribute("aria-current", "true");
    else button.removeAttribute("aria-current");
  }
  showPair();
}

function say(text) {
  element("status").textContent = text;
}

function go(index, text) {
  at = Math.min(Math.max(index, 0), pairs.length - 1);
  show();
  element("which").focus({ preventScroll: true });
  (element("offer").hidden ? element("title") : element("offer")).scrollIntoView({ block: "nearest" });
  if (text) say(text);
}

// The next pair without a decision: of the batch, then of any batch after it, then of any.
function nextOpen(from) {
  const { first, pairs: { length } } = review.batches[pairs[from].batch];
  const open = (start, end) => judged.findIndex((judgement, index) => index >= start && index < end && !judgement);
  return [[from, first + length], [first, first + length], [first + length, pairs.length], [0, first]].map(([start, end]) => open(start, end)).find((index) => index >= 0);
}

function proceed(text) {
  const next = nextOpen(at);
  if (next === undefined) {
    go(at, `${text} All pairs are decided. Save the decisions.`);
    element("save").focus();
    return;
  }
  const entered = pairs[next].batch !== pairs[at].batch ? ` Batch ${pairs[next].batch + 1}: ${review.batches[pairs[next].batch].title}.` : "";
  go(next, `${text}${entered}`);
}

function decide(judgement) {
  const others = decisions().filter(({ index }) => index !== at);
  const implied = groups(others).implied(pairs[at].groups);
  if (implied && judgement !== "unsure" && implied !== judgement) {
    say(`Not kept: other decisions say that the two are ${implied}. Take one of them back first.`);
    return;
  }
  pace = [...pace, Date.now() - last].filter((time) => time < 60000).slice(-25);
  last = Date.now();
  const batch = review.batches[pairs[at].batch];
  const before = offerOf(batch);
  steps.push({ pairs: [at], judgement, why: element("why").value });
  judge();
  const offer = offerOf(batch);
  proceed(`${judgement[0].toUpperCase()}${judgement.slice(1)}. ${offer && !before ? fill(review.offer, offer, batch) : progressText()}`);
}

// Decides the rest of the batch by its sample, but for what other decisions imply.
function decideRest() {
  const batch = review.batches[pairs[at].batch];
  const offer = offerOf(batch);
  if (!offer) {
    say("The sample of this batch does not decide the rest yet.");
    return;
  }
  const known = groups(decisions());
  const rest = [];
  let left = 0;
  for (let index = batch.first; index < batch.first + batch.pairs.length; index += 1) {
    if (judged[index]) continue;
    const implied = known.implied(pairs[index].groups);
    if (implied && implied !== offer.judgement) {
      left += 1;
    } else if (!implied) {
      known.add(pairs[index].groups, offer.judgement);
      rest.push(index);
    }
  }
  steps.push({ pairs: rest, judgement: offer.judgement, why: fill(review.reason, offer, batch), unseen: true });
  judge();
  last = Date.now();
  const implied = left > 0 ? ` ${counted(left, "pair")} would contradict them and follow from the other decisions.` : "";
  proceed(`${counted(rest.length, "pair")} decided as ${offer.judgement}.${implied}`);
}

function undo() {
  const step = steps.pop();
  if (!step) return;
  judge();
  last = Date.now();
  go(step.pairs[0] ?? at, `${counted(step.pairs.length, "decision")} taken back. ${progressText()}`);
}

function skip() {
  const { first, pairs: { length } } = review.batches[pairs[at].batch];
  const order = [...pairs.keys()].slice(first + length).concat([...pairs.keys()].slice(0, first + length));
  const next = order.find((index) => !judged[index]) ?? at;
  go(next, `Batch ${pairs[next].batch + 1}: ${review.batches[pairs[next].batch].title}.`);
}

function save() {
  const quoted = (text) => (/[",\n\r]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text);
  // What was seen comes first: if two decisions contradict each other, it counts.
  const made = decisions();
  const ordered = [...made.filter(({ unseen }) => !unseen), ...made.filter(({ unseen }) => unseen)];
  const lines = ordered.map(({ index, judgement, why }) => [pairs[index].left, pairs[index].right, judgement, review.by, review.on, why].map(quoted).join(","));
  const link = make("a", { href: URL.createObjectURL(new Blob([[review.columns, ...lines, ""].join("\n")], { type: "text/csv" })), download: "venturedex-decisions.csv" });
  link.click();
  saved = steps.length;
  say(`${counted(lines.length, "decision")} saved.`);
}

const actions = { s: () => decide("same"), d: () => decide("different"), u: () => decide("unsure"), b: decideRest, z: undo, j: () => go(at + 1), k: () => go(at - 1), n: skip };
document.addEventListener("keydown", (event) => {
  if (!element("keys").checked || event.target.id === "why" || event.ctrlKey || event.metaKey || event.altKey) return;
  const act = pairs.length > 0 && actions[event.key.toLowerCase()];
  if (!act) return;
  event.preventDefault();
  act();
});
for (const [id, act] of Object.entries({ rest: decideRest, undo, save, skip, next: actions.j, back: actions.k })) {
  element(id).addEventListener("click", act);
}
for (const batch of review.batches) {
  const button = make("button", { type: "button" }, make("span", {}, batch.title), make("span", { class: "nowrap quiet" }));
  button.addEventListener("click", () => go(judged[batch.first] ? nextOpen(batch.first) ?? batch.first : batch.first, batch.title));
  element("batches").querySelector("ol").append(make("li", {}, button));
}
addEventListener("beforeunload", (event) => {
  if (steps.length !== saved) event.preventDefault();
});
try {
  steps = JSON.parse(localStorage.getItem(kept)) ?? [];
} catch {
  steps = [];
}
judge();
if (pairs.length > 0) {
  element("review").hidden = false;
  at = nextOpen(0) ?? 0;
  show();
  if (steps.length > 0) say(`${counted(decisions().length, "decision")} made earlier in this browser.`);
}
