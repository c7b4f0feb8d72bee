// Makes pages nicer; every page works without it.
"use strict";

// A button that copies, beside each text that is meant to be copied.
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
  const around = document.createElement("div");
  around.className = "copyable";
  pre.replaceWith(around);
  around.append(pre, button);
}

// A choice that takes effect when it is made.
for (const select of document.querySelectorAll("select[data-submit]")) {
  select.addEventListener("change", () => select.form.requestSubmit());
  for (const button of select.form.querySelectorAll("button[data-needless]")) button.hidden = true;
}

// Names that what is being typed may become: a combobox as the ARIA Authoring Practices describe it.
for (const input of document.querySelectorAll("input[data-suggest]")) {
  const list = document.createElement("ul");
  list.className = "suggestions";
  list.id = input.id + "-names";
  list.setAttribute("role", "listbox");
  list.setAttribute("aria-label", "Names");
  list.hidden = true;
  input.after(list);
  for (const [name, value] of [["role", "combobox"], ["aria-autocomplete", "list"], ["aria-expanded", "false"],
    ["aria-controls", list.id], ["autocomplete", "off"]]) input.setAttribute(name, value);
  let chosen = -1, asked = 0, timer = 0;
  const close = () => {
    list.hidden = true;
    chosen = -1;
    input.setAttribute("aria-expanded", "false");
    input.removeAttribute("aria-activedescendant");
  };
  const choose = (place) => {
    chosen = place;
    [...list.children].forEach((item, at) => item.setAttribute("aria-selected", String(at === place)));
    if (place < 0) input.removeAttribute("aria-activedescendant");
    else input.setAttribute("aria-activedescendant", list.children[place].id);
  };
  const show = (names) => {
    list.replaceChildren(...names.map(({ name, kind, href }, at) => {
      const item = document.createElement("li"), about = document.createElement("span");
      item.id = list.id + "-" + at;
      item.setAttribute("role", "option");
      item.setAttribute("aria-selected", "false");
      item.dataset.href = href;
      about.className = "quiet";
      about.textContent = kind;
      item.append(name, about);
      return item;
    }));
    chosen = -1;
    list.hidden = names.length === 0;
    input.setAttribute("aria-expanded", String(names.length > 0));
  };
  const ask = async () => {
    const text = input.value.trim(), turn = ++asked;
    if (!text) return close();
    try {
      const answer = await fetch("/suggest?q=" + encodeURIComponent(text), { headers: { Accept: "application/json" } });
      const names = answer.ok ? (await answer.json()).names : [];
      if (turn === asked && document.activeElement === input) show(names);
    } catch {
      close();
    }
  };
  input.addEventListener("input", () => { clearTimeout(timer); timer = setTimeout(ask, 160); });
  input.addEventListener("blur", () => setTimeout(close, 150));
  input.addEventListener("keydown", (event) => {
    const count = list.hidden ? 0 : list.children.length;
    if (event.key === "Escape") close();
    else if (event.key === "ArrowDown" && count) { choose((chosen + 1) % count); event.preventDefault(); }
    else if (event.key === "ArrowUp" && count) { choose(chosen <= 0 ? count - 1 : chosen - 1); event.preventDefault(); }
    else if (event.key === "Enter" && chosen >= 0 && count) { location.assign(list.children[chosen].dataset.href); event.preventDefault(); }
  });
  list.addEventListener("mousedown", (event) => {
    const item = event.target.closest("li");
    if (item) { location.assign(item.dataset.href); event.preventDefault(); }
  });
}
