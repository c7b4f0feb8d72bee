// Optional: every form works without this script.
"use strict";

// Sends a form, shows the answer in place, and keeps the focus and what was open. The status is announced.
const send = async (form) => {
  const focused = document.activeElement?.id;
  const open = [...document.querySelectorAll("details[open][id]")].map(({ id }) => id);
  const scrolled = [...document.querySelectorAll(".scroll")].map(({ scrollLeft }) => scrollLeft);
  const status = document.getElementById("status");
  status.textContent = "Reading the files …";
  try {
    const body = new URLSearchParams(new FormData(form));
    const response = await fetch(form.action, { method: "POST", body });
    if (!response.ok) throw new Error(await response.text());
    const answer = new DOMParser().parseFromString(await response.text(), "text/html");
    document.getElementById("content").replaceChildren(...answer.getElementById("content").childNodes);
    const said = answer.getElementById("status");
    status.className = said.className;
    status.textContent = said.textContent;
    for (const id of open) document.getElementById(id)?.setAttribute("open", "");
    document.querySelectorAll(".scroll").forEach((part, index) => { part.scrollLeft = scrolled[index] ?? 0; });
    prepare();
    (document.querySelector("[name=currency][required]") ?? document.getElementById(focused))?.focus({ preventScroll: true });
  } catch (error) {
    status.className = "error";
    status.textContent = "Not saved: " + (error instanceof TypeError ? "the server has ended" : error.message);
  }
};
const prepare = () => {
  for (const button of document.querySelectorAll("[data-without-script]")) button.hidden = true;
};
prepare();
document.addEventListener("submit", (event) => {
  if (!event.target.matches("[data-submit], [data-script]")) return;
  event.preventDefault();
  send(event.target);
});
document.addEventListener("change", ({ target }) => {
  if (target.matches("[data-submit] select")) target.form.requestSubmit();
});
