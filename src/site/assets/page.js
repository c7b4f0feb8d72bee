// Optional: every page works without this script.
"use strict";

// Adds a copy button to each block of code.
const addCopyButtons = (root) => {
  for (const pre of root.querySelectorAll("pre.copy")) {
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = "Copy";
    button.addEventListener("click", async () => {
      try {
        await navigator.clipboard.writeText(pre.textContent);
        button.textContent = "Copied";
      } catch {
        getSelection().selectAllChildren(pre);
        button.textContent = "Press Ctrl+C";
      }
      setTimeout(() => { button.textContent = "Copy"; }, 2500);
    });
    const wrapper = document.createElement("div");
    wrapper.className = "copyable";
    pre.replaceWith(wrapper);
    wrapper.append(pre, button);
  }
};
addCopyButtons(document);
// Parts of a page that another script has replaced.
document.addEventListener("content", (event) => addCopyButtons(event.target));

// Code in the language that was chosen last in this tab. Storage may be forbidden.
try {
  const chosen = sessionStorage.getItem("language");
  for (const choice of document.querySelectorAll(".tabs input")) choice.checked ||= choice.value === chosen;
  document.addEventListener("change", ({ target }) => {
    if (target.matches(".tabs input")) sessionStorage.setItem("language", target.value);
  });
} catch { /* The first language. */ }

// Submits a form when a choice changes, and comes back to the same place of the page.
for (const element of document.querySelectorAll("[data-submit]")) {
  element.addEventListener("change", ({ target }) => {
    if (!target.matches("select, [type=checkbox]")) return;
    sessionStorage.setItem("place", JSON.stringify([location.pathname, scrollY, target.name, target.value, target.type]));
    (element.form ?? element).requestSubmit();
  });
}
for (const button of document.querySelectorAll("button[data-without-script]")) button.hidden = true;
try {
  const [path, top, name, value, type] = JSON.parse(sessionStorage.getItem("place") ?? "[]");
  sessionStorage.removeItem("place");
  if (path === location.pathname) {
    const choice = type === "checkbox" ? `[type=checkbox][value="${CSS.escape(value)}"]` : "select";
    const element = document.querySelector(`${choice}[name="${CSS.escape(name)}"]`);
    for (let around = element?.closest("details"); around; around = around.parentElement.closest("details")) around.open = true;
    element?.focus({ preventScroll: true });
    scrollTo({ top, behavior: "instant" });
  }
} catch { /* Nothing is stored, or storage is blocked. */ }

// Leaves empty fields out of the address, and joins the values of a filter.
for (const form of document.querySelectorAll("form[method=get]")) {
  form.addEventListener("formdata", ({ formData }) => {
    for (const name of new Set(formData.keys())) {
      const values = formData.getAll(name).filter((value) => value !== "");
      formData.delete(name);
      const joined = values.some((value) => value.includes(",")) ? values : [values.join(",")];
      for (const value of joined.filter((value) => value !== "")) formData.append(name, value);
    }
  });
}

// Finds options of a filter while a visitor types. Enter checks the first, or adds what is not among them.
for (const input of document.querySelectorAll("input[data-find]")) {
  const { name } = input, group = input.closest("fieldset"), more = group.querySelector("details");
  const folded = (text) => text.normalize("NFD").replace(/\p{M}/gu, "").toLowerCase().trim();
  const labels = [...group.querySelectorAll("li label")].map((label) => [label, folded(label.querySelector("span").textContent)]);
  const found = () => labels.filter(([, text]) => text.includes(folded(input.value))).map(([label]) => label);
  input.removeAttribute("name");
  input.addEventListener("input", () => {
    const shown = new Set(found());
    for (const [label] of labels) label.parentElement.hidden = !shown.has(label);
    more.open = input.value.trim() !== "";
  });
  input.addEventListener("keydown", (event) => {
    if (event.key !== "Enter" || !input.value.trim()) return;
    event.preventDefault();
    const [first] = found();
    if (first) return first.querySelector("input").checked ? undefined : first.click();
    input.name = name;
    input.form.requestSubmit();
  });
}

// One stop for the keyboard in each chart or group of links: the arrow keys go on from there, in a table also up and down.
for (const group of document.querySelectorAll("[data-arrows]")) {
  const links = [...group.querySelectorAll("a[href]:not(svg *), summary")];
  const isShown = (link) => link.checkVisibility?.() ?? (link.matches("summary") || !link.closest("details:not([open])"));
  const shown = () => links.filter(isShown);
  const choose = (chosen) => { for (const link of links) link.tabIndex = link === chosen ? 0 : -1; };
  const beyond = (link, step) => {
    const cell = link.closest("td, th");
    for (let row = cell?.parentElement; (row = step > 0 ? row?.nextElementSibling : row?.previousElementSibling);) {
      const next = row.cells[cell.cellIndex]?.querySelector("a[href]");
      if (next) return next;
    }
    const rest = shown(), table = cell?.closest("table"), is = (side) => (other) => table.compareDocumentPosition(other) === side;
    if (!table) return rest[rest.indexOf(link) + step];
    return step > 0 ? rest.find(is(Node.DOCUMENT_POSITION_FOLLOWING)) : rest.findLast(is(Node.DOCUMENT_POSITION_PRECEDING));
  };
  choose(shown()[0]);
  // What was chosen may be in a table that was closed, or that shows on narrow screens only.
  group.addEventListener("toggle", ({ target }) => choose(target.querySelector("summary")), true);
  addEventListener("resize", () => { if (!shown().some((link) => link.tabIndex === 0)) choose(shown()[0]); });
  group.addEventListener("focusin", ({ target }) => { if (links.includes(target)) choose(target); });
  group.addEventListener("keydown", (event) => {
    const link = event.target.closest("a[href], summary"), open = shown(), at = open.indexOf(link);
    if (at < 0 || event.ctrlKey || event.metaKey || event.altKey || event.shiftKey) return;
    const next = { ArrowRight: open[at + 1], ArrowLeft: open[at - 1], Home: open[0], End: open.at(-1) }[event.key]
      ?? (event.key === "ArrowDown" ? beyond(link, 1) : event.key === "ArrowUp" ? beyond(link, -1) : undefined);
    if (next) { next.focus(); event.preventDefault(); }
  });
}

// A table is a stop only while it can be scrolled.
const sized = new ResizeObserver((entries) => {
  for (const { target } of entries) target.tabIndex = target.scrollWidth > target.clientWidth ? 0 : -1;
});
for (const scroll of document.querySelectorAll(".scroll[tabindex]")) sized.observe(scroll);

// Suggests names while a visitor types: a combobox according to the ARIA Authoring Practices.
for (const input of document.querySelectorAll("input[data-suggest]")) {
  const list = document.createElement("ul");
  list.className = "suggestions";
  list.id = input.id + "-names";
  list.setAttribute("role", "listbox");
  list.setAttribute("aria-label", "Suggestions");
  list.hidden = true;
  input.after(list);
  for (const [name, value] of [["role", "combobox"], ["aria-autocomplete", "list"], ["aria-expanded", "false"],
    ["aria-controls", list.id], ["autocomplete", "off"]]) input.setAttribute(name, value);
  let selected = -1, requests = 0, timer = 0;
  const close = () => {
    list.hidden = true;
    selected = -1;
    input.setAttribute("aria-expanded", "false");
    input.removeAttribute("aria-activedescendant");
  };
  const select = (index) => {
    selected = index;
    [...list.children].forEach((item, at) => item.setAttribute("aria-selected", String(at === index)));
    if (index < 0) input.removeAttribute("aria-activedescendant");
    else input.setAttribute("aria-activedescendant", list.children[index].id);
  };
  const option = (at) => {
    const item = document.createElement("li");
    item.id = list.id + "-" + at;
    item.setAttribute("role", "option");
    item.setAttribute("aria-selected", "false");
    return item;
  };
  // A text with the part that was typed in bold; its ends count characters, not code units.
  const marked = (text, matched) => {
    const label = document.createElement("span"), part = document.createElement("b"), [start, end] = matched ?? [0, 0];
    const letters = Array.from(text);
    part.textContent = letters.slice(start, end).join("");
    label.append(letters.slice(0, start).join(""), part, letters.slice(end).join(""));
    return label;
  };
  const show = (names) => {
    const items = names.map(({ name, kind, note, alias, matched, href }, at) => {
      const item = option(at), detail = document.createElement("span");
      item.dataset.href = href;
      const label = marked(name, alias ? null : matched);
      if (alias) label.append(" (", marked(alias, matched), ")");
      detail.className = "quiet";
      detail.textContent = note ? kind + " · " + note : kind;
      item.append(label, detail);
      return item;
    });
    if (!names.length) {
      const nothing = option(0);
      nothing.setAttribute("aria-disabled", "true");
      nothing.className = "quiet";
      nothing.textContent = "Nothing found";
      items.push(nothing);
    }
    list.replaceChildren(...items);
    selected = -1;
    list.hidden = false;
    input.setAttribute("aria-expanded", "true");
  };
  const suggest = async () => {
    const text = input.value.trim(), request = ++requests;
    if (!text) return close();
    try {
      const response = await fetch("/suggest?q=" + encodeURIComponent(text), { headers: { Accept: "application/json" } });
      if (!response.ok) return close();
      const { names } = await response.json();
      if (request === requests && document.activeElement === input) show(names);
    } catch {
      close();
    }
  };
  input.addEventListener("input", () => { clearTimeout(timer); timer = setTimeout(suggest, 160); });
  input.addEventListener("blur", () => setTimeout(close, 150));
  input.addEventListener("keydown", (event) => {
    const count = list.hidden ? 0 : list.querySelectorAll("[data-href]").length;
    if (event.key === "Escape") close();
    else if (event.key === "ArrowDown" && count) { select((selected + 1) % count); event.preventDefault(); }
    else if (event.key === "ArrowUp" && count) { select(selected <= 0 ? count - 1 : selected - 1); event.preventDefault(); }
    else if (event.key === "Enter" && selected >= 0 && count) { location.assign(list.children[selected].dataset.href); event.preventDefault(); }
  });
  list.addEventListener("mousedown", (event) => {
    const item = event.target.closest("[data-href]");
    if (item) { location.assign(item.dataset.href); event.preventDefault(); }
  });
}

// `/` and Ctrl+K go to the search field.
document.addEventListener("keydown", (event) => {
  const isTyping = /^(INPUT|TEXTAREA|SELECT)$/.test(event.target.tagName) || event.target.isContentEditable;
  const isSlash = event.key === "/" && !isTyping && !event.ctrlKey && !event.metaKey && !event.altKey;
  const isPalette = event.key.toLowerCase() === "k" && (event.ctrlKey || event.metaKey) && !event.altKey && !event.shiftKey;
  const field = document.querySelector("input[data-suggest]");
  if (field && (isSlash || isPalette)) { event.preventDefault(); field.focus(); field.select(); }
});

// Keys of a page of decisions: a link or button is pressed, after the field that it needs has a text.
const keyed = new Map([...document.querySelectorAll("[data-key]")].map((element) => [element.dataset.key, element]));
if (keyed.size > 0) document.addEventListener("keydown", (event) => {
  const isTyping = event.target.matches("input:not([type=checkbox]), select, textarea");
  if (event.key === "Escape" && isTyping) event.target.blur();
  const element = keyed.get(event.key);
  if (isTyping || !element || event.ctrlKey || event.metaKey || event.altKey) return;
  event.preventDefault();
  const needed = document.getElementById(element.dataset.needs);
  if (needed && needed.value.trim() === "") needed.focus();
  else element.click();
});
