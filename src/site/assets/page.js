// Optional: every page works without this script.
"use strict";

// Adds a copy button to each block of code.
for (const pre of document.querySelectorAll("pre.copy")) {
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

// Submits a form when a choice changes.
for (const select of document.querySelectorAll("select[data-submit]")) {
  select.addEventListener("change", () => select.form.requestSubmit());
  for (const button of select.form.querySelectorAll("button[data-without-script]")) button.hidden = true;
}

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
  const show = (names) => {
    list.replaceChildren(...names.map(({ name, kind, href }, at) => {
      const item = document.createElement("li"), label = document.createElement("span");
      item.id = list.id + "-" + at;
      item.setAttribute("role", "option");
      item.setAttribute("aria-selected", "false");
      item.dataset.href = href;
      label.className = "quiet";
      label.textContent = kind;
      item.append(name, label);
      return item;
    }));
    selected = -1;
    list.hidden = names.length === 0;
    input.setAttribute("aria-expanded", String(names.length > 0));
  };
  const suggest = async () => {
    const text = input.value.trim(), request = ++requests;
    if (!text) return close();
    try {
      const response = await fetch("/suggest?q=" + encodeURIComponent(text), { headers: { Accept: "application/json" } });
      const names = response.ok ? (await response.json()).names : [];
      if (request === requests && document.activeElement === input) show(names);
    } catch {
      close();
    }
  };
  input.addEventListener("input", () => { clearTimeout(timer); timer = setTimeout(suggest, 160); });
  input.addEventListener("blur", () => setTimeout(close, 150));
  input.addEventListener("keydown", (event) => {
    const count = list.hidden ? 0 : list.children.length;
    if (event.key === "Escape") close();
    else if (event.key === "ArrowDown" && count) { select((selected + 1) % count); event.preventDefault(); }
    else if (event.key === "ArrowUp" && count) { select(selected <= 0 ? count - 1 : selected - 1); event.preventDefault(); }
    else if (event.key === "Enter" && selected >= 0 && count) { location.assign(list.children[selected].dataset.href); event.preventDefault(); }
  });
  list.addEventListener("mousedown", (event) => {
    const item = event.target.closest("li");
    if (item) { location.assign(item.dataset.href); event.preventDefault(); }
  });
}
