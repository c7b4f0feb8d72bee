// Optional: every form works without this script.
"use strict";

const status = document.getElementById("status");
const say = (text, isError = false) => {
  status.className = isError ? "error" : "";
  status.textContent = text;
};
// A selector of the element with the focus, as long as the answer has it, too.
const place = (element) => {
  const around = element?.closest("#content [id]");
  if (!around) return null;
  return `#${CSS.escape(around.id)}` + (around === element ? "" : ` ${element.localName}`);
};

// Fields that were changed and not yet sent, with what is in them.
const isChanged = (field) => field instanceof HTMLSelectElement
  ? [...field.options].some((option) => option.selected !== option.defaultSelected)
  : field.value !== field.defaultValue;
const unsent = (form) => [...document.querySelectorAll("form[data-script] :is(input, select)[id]")]
  .filter((field) => field.form !== form && isChanged(field))
  .map(({ id, value }) => ({ id, value }));

// Sends a form, shows the answer in its place, and keeps the focus, what was open, and what is written in other forms. The
// status is announced.
const send = async (form, button) => {
  say("Reading the files …");
  try {
    const address = button?.hasAttribute("formaction") ? button.formAction : form.action;
    const response = await fetch(address, { method: "POST", body: new URLSearchParams(new FormData(form)) });
    if (!response.ok) throw new Error(await response.text());
    const answer = new DOMParser().parseFromString(await response.text(), "text/html");
    const focused = place(document.activeElement);
    const open = [...document.querySelectorAll("details[open][id]")].map(({ id }) => id);
    const written = unsent(form);
    const scrolled = [...document.querySelectorAll(".scroll")].map(({ scrollLeft }) => scrollLeft);
    document.getElementById("content").replaceChildren(...answer.getElementById("content").childNodes);
    for (const id of open) document.getElementById(id)?.setAttribute("open", "");
    for (const { id, value } of written) {
      const field = document.getElementById(id);
      if (field) field.value = value;
    }
    document.querySelectorAll(".scroll").forEach((part, index) => { part.scrollLeft = scrolled[index] ?? 0; });
    prepare();
    const wanted = document.querySelector("[name=currency][required]") ?? (focused && document.querySelector(focused));
    wanted?.focus({ preventScroll: true });
    if (button?.id === "import-button") document.getElementById("import")?.scrollIntoView();
    const said = answer.getElementById("status");
    say(said.textContent, said.className === "error");
  } catch (error) {
    say("Not saved: " + (error instanceof TypeError ? "the server has ended" : error.message), true);
  }
};
const prepare = () => {
  for (const button of document.querySelectorAll("[data-without-script]")) button.hidden = true;
};
prepare();

document.addEventListener("submit", (event) => {
  const button = event.submitter;
  if (!event.target.matches("[data-submit], [data-script]") || button?.getAttribute("formaction") === "done") return;
  event.preventDefault();
  send(event.target, button);
});

// A menu is changed at once with a pointer. With keys, which pass other choices on their way, Enter or leaving it does so.
let isByKeys = false, changed = null;
const submitChanged = () => {
  const form = changed?.form;
  changed = null;
  if (form?.isConnected) form.requestSubmit();
};
document.addEventListener("pointerdown", () => { isByKeys = false; }, true);
document.addEventListener("keydown", (event) => {
  isByKeys = true;
  if (event.key !== "Enter" || event.target !== changed) return;
  event.preventDefault();
  submitChanged();
}, true);
document.addEventListener("change", ({ target }) => {
  if (!target.matches("[data-submit] select")) return;
  changed = target;
  if (isByKeys) say(`Press Enter to set: ${target.selectedOptions[0].textContent}`);
  else submitChanged();
});
document.addEventListener("focusout", ({ target }) => {
  // The next element has the focus only then.
  if (target === changed) setTimeout(submitChanged);
});
