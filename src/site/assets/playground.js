// Sends the request of the form with the visitor's own key and shows the answer. Without this script the form shows the request
// as code. The key stays in this tab and goes only into the header of requests to this service.
"use strict";

{
  const STORED = "venturedex-key";
  const MAX_SHOWN = 200_000;
  const HEADERS = ["X-RateLimit-Limit", "X-RateLimit-Remaining", "X-RateLimit-Reset", "X-Request-Cost", "ETag", "X-Request-Id", "X-Snapshot"];
  const [form, panel, key, status, answer] = ["try", "send", "key", "sent", "answer"].map((id) => document.getElementById(id));
  panel.hidden = false;
  for (const button of form.querySelectorAll("button")) button.textContent = "Send";
  // Storage may be forbidden: then the key lasts as long as the page.
  const storage = () => { try { return sessionStorage; } catch { return null; } };
  key.value = storage()?.getItem(STORED) ?? "";
  key.addEventListener("change", () => {
    if (key.value.trim()) storage()?.setItem(STORED, key.value.trim());
    else storage()?.removeItem(STORED);
  });

  // The page with the request of the form: the server writes the code and the address.
  const showRequest = async () => {
    const values = [...new FormData(form)].filter(([, value]) => value.trim());
    const address = location.pathname + "?" + new URLSearchParams(values);
    const response = await fetch(address, { headers: { Accept: "text/html" } });
    if (!response.ok) throw new Error("The request could not be built: " + response.status);
    const page = new DOMParser().parseFromString(await response.text(), "text/html");
    const language = document.querySelector("#request [name=language]:checked").value;
    const request = document.getElementById("request");
    request.replaceChildren(...page.getElementById("request").childNodes);
    request.querySelector(`[name=language][value="${language}"]`).checked = true;
    request.dispatchEvent(new Event("content", { bubbles: true }));
    history.replaceState(null, "", address);
    panel.dataset.address = page.getElementById("send").dataset.address;
  };

  const element = (name, text) => Object.assign(document.createElement(name), { textContent: text });
  const indented = (text) => { try { return JSON.stringify(JSON.parse(text), null, 2); } catch { return text; } };

  const send = async () => {
    const began = performance.now();
    const response = await fetch(panel.dataset.address, {
      headers: { Authorization: "Bearer " + key.value.trim(), Accept: "application/json" },
      cache: "no-store", credentials: "omit", referrerPolicy: "no-referrer",
    });
    const text = await response.text();
    const duration = Math.round(performance.now() - began);
    status.textContent = `${response.status} ${response.statusText} · ${duration} ms · ${text.length.toLocaleString("en")} characters`;
    const headers = document.createElement("dl");
    for (const name of HEADERS.filter((name) => response.headers.has(name))) {
      headers.append(element("dt", name), element("dd", response.headers.get(name)));
    }
    const body = indented(text);
    const pre = element("pre", body.length > MAX_SHOWN ? body.slice(0, MAX_SHOWN) + "\n…" : body);
    pre.tabIndex = 0;
    answer.replaceChildren(headers, pre);
  };

  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    answer.replaceChildren();
    status.textContent = "Sending…";
    try {
      await showRequest();
      if (key.value.trim()) {
        await send();
      } else {
        status.textContent = "Enter your API key to send the request.";
        key.focus();
      }
    } catch (error) {
      status.textContent = `The request failed: ${error.message}`;
    }
    if (document.activeElement !== key) panel.scrollIntoView({ block: "nearest" });
  });
}
