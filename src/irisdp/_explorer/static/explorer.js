// Makes pages quicker to use: sliders, results that follow the fields, copy buttons. All works without it.
"use strict";

const form = document.querySelector("form[action]");

function standing(field) {
  return field.dataset.when.split("|").some((way) => way.split(" ").every((rule) => {
    const [name, values] = rule.split("=");
    const other = form.elements.namedItem(name);
    return other && values.split(",").includes(other.value);
  }));
}

function showFields() {
  for (const field of form.querySelectorAll("[data-when]")) {
    const stands = standing(field);
    field.hidden = !stands;
    for (const control of field.querySelectorAll("input, select, textarea")) control.disabled = !stands;
  }
}

function asNumber(text) {
  const [top, bottom] = text.split("/");
  return bottom === undefined ? Number(top) : Number(top) / Number(bottom);
}

function addSlider(input) {
  const low = Number(input.dataset.low), high = Number(input.dataset.high);
  const log = input.dataset.scale === "log", whole = "whole" in input.dataset;
  const steps = log ? 240 : whole ? Math.min(high - low, 400) : 200;
  const slider = document.createElement("input");
  slider.type = "range";
  slider.min = 0;
  slider.max = steps;
  slider.step = 1;
  slider.setAttribute("aria-label", input.labels[0].textContent + ", slider");
  const place = () => {
    const value = asNumber(input.value.trim());
    const share = log ? Math.log(value / low) / Math.log(high / low) : (value - low) / (high - low);
    if (Number.isFinite(share)) slider.value = Math.round(share * steps);
    slider.setAttribute("aria-valuetext", input.value);
  };
  slider.addEventListener("input", () => {
    const share = slider.value / steps;
    const value = log ? low * (high / low) ** share : low + (high - low) * share;
    input.value = whole ? String(Math.round(value)) : String(Number(value.toPrecision(log ? 2 : 3)));
    slider.setAttribute("aria-valuetext", input.value);
    input.dispatchEvent(new Event("input", { bubbles: true }));
  });
  input.addEventListener("input", (event) => event.isTrusted && place());
  input.insertAdjacentElement("afterend", slider);
  slider.disabled = input.disabled;
  place();
}

let pending = 0;
let asking = false, changed = false;

// One question at a time: what changes meanwhile is asked when the answer is there, and nothing piles up behind.
async function follow() {
  changed = true;
  if (asking) return;
  asking = true;
  while (changed) {
    changed = false;
    await ask();
  }
  asking = false;
}

async function ask() {
  const fields = new FormData(form), said = new URLSearchParams(fields), posts = form.method === "post";
  const result = document.getElementById("result");
  result.setAttribute("aria-busy", "true");
  try {
    const answer = posts
      ? await fetch(form.dataset.live, { method: "POST", body: fields })
      : await fetch(form.dataset.live + "?" + said);
    if (answer.redirected) return location.assign(answer.url);
    const part = await answer.text();
    if (answer.headers.get("content-type").startsWith("text/html") && !part.startsWith("<!doctype")) {
      result.innerHTML = part;
      addCopying(result);
      if (!posts) history.replaceState(null, "", form.getAttribute("action") + "?" + said);
      for (const field of form.querySelectorAll("[aria-invalid]")) field.removeAttribute("aria-invalid");
      for (const words of document.querySelectorAll(".wrong, main > .wrong-note")) words.remove();
    }
  } catch {
    // The explorer is not there any more, or was just stopped: what stands on the page stays.
  }
  result.removeAttribute("aria-busy");
}

function addCopying(where) {
  for (const block of where.querySelectorAll(".code")) {
    const button = document.createElement("button");
    button.type = "button";
    button.className = "plain";
    button.textContent = "Copy";
    button.setAttribute("aria-label", "Copy: " + block.querySelector("h4").textContent);
    button.addEventListener("click", async () => {
      await navigator.clipboard.writeText(block.querySelector("code").textContent);
      button.textContent = "Copied";
      setTimeout(() => { button.textContent = "Copy"; }, 1500);
    });
    block.insertBefore(button, block.querySelector("pre"));
  }
}

function readFile(input) {
  const area = form.elements.namedItem(input.dataset.fills);
  const file = input.files[0];
  if (!file || !(area || input.multiple)) return;
  if ([...input.files].reduce((size, one) => size + one.size, 0) > 1048576) {
    input.setCustomValidity("files have at most 1 MiB here; use the command line for larger ones");
    input.reportValidity();
    input.value = "";
    return;
  }
  input.setCustomValidity("");
  // Several files are told apart by the server, which answers with the form filled in.
  if (input.multiple) return form.requestSubmit();
  if (!form.dataset.live) return;
  // The result follows the text, which may be edited afterwards: the file has said all it had to say.
  file.text().then((text) => {
    area.value = text;
    input.value = "";
    area.dispatchEvent(new Event("input", { bubbles: true }));
  });
}

if (form) {
  for (const input of form.querySelectorAll("input[data-low]")) addSlider(input);
  showFields();
  form.addEventListener("input", () => {
    showFields();
    if (form.dataset.live) {
      clearTimeout(pending);
      pending = setTimeout(follow, 60);
    }
  });
  for (const input of form.querySelectorAll("input[type=file]")) input.addEventListener("change", () => readFile(input));
}
addCopying(document);

// A link to a part of this page stays on it, though the address has changed with the fields since.
document.addEventListener("click", (event) => {
  const link = event.target.closest("a[href*='#']");
  const part = link && link.pathname === location.pathname && document.getElementById(link.hash.slice(1));
  if (!part) return;
  event.preventDefault();
  location.hash = link.hash;
  part.focus();
});

// Files may be dropped anywhere on a page that takes files: they go into its first field of files that stands.
for (const kind of ["dragover", "dragleave", "drop"]) {
  document.addEventListener(kind, (event) => {
    const input = form && form.querySelector("input[type=file]:enabled");
    if (!input || !event.dataTransfer || !event.dataTransfer.types.includes("Files")) return;
    event.preventDefault();
    document.body.classList.toggle("dropping", kind === "dragover");
    if (kind !== "drop") return;
    input.files = event.dataTransfer.files;
    input.dispatchEvent(new Event("change", { bubbles: true }));
  });
}

// A press anywhere on a row of answers chooses it, and is answered in place.
document.addEventListener("click", async (event) => {
  const row = event.target.closest("tr"), button = row && row.querySelector("button.row");
  if (!button) return;
  const field = form && form.dataset.live && form.querySelector(`input[name="${button.name}"]`);
  if (!field) return button.contains(event.target) || button.click();
  event.preventDefault();
  field.value = button.value;
  await follow();
  const chosen = document.querySelector(`button.row[value="${button.value}"]`);
  if (chosen) chosen.focus({ preventScroll: true });
  const said = document.querySelector("#result .headline");
  if (said) said.scrollIntoView({ block: "nearest" });
});

async function watch(job) {
  const answer = await fetch(job.dataset.job).catch(() => null);
  if (answer) {
    const said = document.createElement("div");
    said.innerHTML = await answer.text();
    if (!answer.ok || said.querySelector("[data-over]")) return location.reload();
    // Only what changed is put in place: the rest is not read aloud again.
    const [before, now] = [job, said].map((part) => part.querySelector("[role=status]"));
    if (before.textContent !== now.textContent) before.textContent = now.textContent;
    job.querySelector(".elapsed").textContent = said.querySelector(".elapsed").textContent;
  }
  setTimeout(watch, 1000, job);
}

for (const job of document.querySelectorAll("[data-job]")) watch(job);

// A form that is sent once: a second press of its button would lead to the same place.
for (const once of document.querySelectorAll("form[data-once]")) {
  once.addEventListener("submit", () => { for (const button of once.querySelectorAll("button")) button.disabled = true; });
  addEventListener("pageshow", () => { for (const button of once.querySelectorAll("button")) button.disabled = false; });
}
