// What pages do beyond HTML: refresh, keys, the palette. Everything can be read and done without it.
"use strict";

const REFRESH_MS = 2000;

document.cookie = `tickwork-zone=${Intl.DateTimeFormat().resolvedOptions().timeZone}; path=/; max-age=31536000; samesite=strict`;

// Refresh: not while the page is hidden, somebody types, marks text, or has a menu or a form open.
function isBusy(part) {
  const active = document.activeElement;
  const types = active && active.matches("input, select, textarea");
  const opened = document.querySelector("dialog[open]") || part.querySelector("details.change[open]");
  return document.hidden || types || opened || !document.getSelection().isCollapsed || part.querySelector("input:checked");
}

function refresh(force) {
  for (const part of document.querySelectorAll(".live")) {
    // One at a time: a second answer would find the part already replaced.
    if (part.classList.contains("htmx-request")) continue;
    if (force || !isBusy(part)) htmx.trigger(part, "refresh", { force });
  }
}

// Somebody may have begun to type, or opened a form, while the answer was on its way.
document.addEventListener("htmx:before:swap", (event) => {
  const part = event.target;
  if (part.matches(".live") && isBusy(part) && !event.detail.ctx.sourceEvent.detail.force) event.preventDefault();
});

setInterval(() => refresh(false), REFRESH_MS);

// Keys: none of them while somebody types.
let row = -1;

function rows() {
  return [...document.querySelectorAll("main tbody tr")];
}

function move(step) {
  const all = rows();
  if (!all.length) return;
  row = Math.min(Math.max(row + step, 0), all.length - 1);
  all.forEach((each, place) => each.classList.toggle("at", place === row));
  const link = all[row].querySelector("a");
  if (link) link.focus();
  all[row].scrollIntoView({ block: "nearest" });
}

function mark() {
  const box = rows()[row] && rows()[row].querySelector("input[type=checkbox]");
  if (box) box.click();
}

function openPalette() {
  const palette = document.getElementById("palette");
  if (!palette) return;
  palette.showModal();
  palette.querySelector("input").value = "";
  narrow(palette, "");
}

function narrow(palette, text) {
  for (const item of palette.querySelectorAll("li")) item.hidden = !item.textContent.toLowerCase().includes(text);
}

const ACTIONS = {
  "/": () => (document.querySelector("main input[type=search]") || { focus: openPalette }).focus(),
  j: () => move(1),
  k: () => move(-1),
  x: mark,
  r: () => refresh(true),
  g: openPalette,
  "?": () => document.getElementById("keys").showModal(),
};

document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.target.matches("input, select, textarea") || document.querySelector("dialog[open]")) return;
  const action = ACTIONS[event.key];
  if (!action || !document.getElementById("palette")) return;
  event.preventDefault();
  action();
});

const palette = document.getElementById("palette");
if (palette) {
  const field = palette.querySelector("input");
  field.addEventListener("input", () => narrow(palette, field.value.trim().toLowerCase()));
  field.addEventListener("keydown", (event) => {
    const typed = field.value.trim();
    const byKey = palette.querySelector(`a[data-key="${CSS.escape(event.key)}"]`);
    if (!typed && byKey) {
      event.preventDefault();
      byKey.click();
    } else if (event.key === "Enter") {
      const id = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(typed);
      const jobs = palette.querySelector('a[href*="/jobs"]');
      const first = palette.querySelector("li:not([hidden]) a");
      if (id && jobs) location.assign(jobs.pathname + "/" + typed.toLowerCase());
      else if (first) first.click();
    }
  });
}

// A menu closes by Escape, and by a click elsewhere.
function closeMenus(except) {
  for (const menu of document.querySelectorAll("header .menu[open]")) if (menu !== except) menu.open = false;
}

document.addEventListener("click", (event) => closeMenus(event.target.closest(".menu")));
document.addEventListener("keydown", (event) => {
  const menu = event.key === "Escape" && document.querySelector("header .menu[open]");
  if (!menu) return;
  menu.open = false;
  menu.querySelector("summary").focus();
});

// A choice that applies at once; the button beside it is for those without scripts.
document.addEventListener("change", (event) => {
  if (event.target.matches("select[data-submit], header .tenant select")) event.target.form.requestSubmit();
});

// Copy buttons name the element whose text they copy.
document.addEventListener("click", async (event) => {
  const button = event.target.closest("button[data-copy]");
  if (!button) return;
  await navigator.clipboard.writeText(document.getElementById(button.dataset.copy).textContent);
  button.dataset.done = "true";
});

// Files go one after the other, each as the body of a request, since only that tells how far it is.
function send(file, address, bar) {
  return new Promise((resolve) => {
    const request = new XMLHttpRequest();
    request.open("POST", `${address}&name=${encodeURIComponent(file.name)}`);
    request.setRequestHeader("Content-Type", "application/octet-stream");
    request.upload.addEventListener("progress", (event) => (bar.value = event.loaded / event.total));
    request.addEventListener("loadend", () => resolve(request));
    request.send(file);
  });
}

for (const place of document.querySelectorAll(".upload")) {
  place.hidden = false;
  const [field, bar, said] = ["input", "progress", "output"].map((name) => place.querySelector(name));
  field.addEventListener("change", async () => {
    for (const file of field.files) {
      said.textContent = file.name;
      const request = await send(file, field.dataset.upload, bar);
      if (request.status !== 200) {
        said.textContent = `${file.name}: ${request.status || "–"}`;
        return;
      }
    }
    location.reload();
  });
}
