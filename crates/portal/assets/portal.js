// The portal's script. Every page works without it; it adds local times, copy buttons, the search key, the live feed, the
// preview while composing and readouts of charts. It makes elements and text nodes, or reads our own pages again, and never
// makes markup from text.

document.documentElement.classList.add("js");

// Times

const PRECISIONS = {
  minute: { day: "numeric", month: "short", year: "numeric", hour: "2-digit", minute: "2-digit", hourCycle: "h23" },
  second: { day: "numeric", month: "short", hour: "2-digit", minute: "2-digit", second: "2-digit", hourCycle: "h23" },
  day: { day: "numeric", month: "short", year: "numeric" },
  clock: { hour: "2-digit", minute: "2-digit", second: "2-digit", hourCycle: "h23" },
  millisecond: { hour: "2-digit", minute: "2-digit", second: "2-digit", fractionalSecondDigits: 3, hourCycle: "h23" },
  hour: { hour: "2-digit", minute: "2-digit", hourCycle: "h23" },
};
const formats = new Map();

/** Returns a time in the reader's time zone, in the same form as the server writes UTC. */
function localTime(date, precision) {
  if (!formats.has(precision)) {
    formats.set(precision, new Intl.DateTimeFormat("en-GB", PRECISIONS[precision] ?? PRECISIONS.second));
  }
  return formats.get(precision).format(date);
}

function showLocalTimes(root) {
  for (const element of root.querySelectorAll("time[datetime]")) {
    const date = new Date(element.dateTime);
    if (Number.isNaN(date.getTime())) continue;
    element.title = element.dateTime.replace("T", " ").replace("Z", " UTC");
    element.textContent = localTime(date, element.dataset.shows);
  }
  for (const label of root.querySelectorAll("text.hour[data-ms]")) {
    label.textContent = localTime(new Date(Number(label.dataset.ms)), "hour");
  }
  const zone = document.getElementById("zone");
  if (zone) {
    const name = Intl.DateTimeFormat().resolvedOptions().timeZone;
    zone.textContent = `Times are in your time zone, ${name}. Point at a time to see UTC.`;
  }
}

// Elements

/** Makes an element with properties and children. Strings become text nodes. */
function make(name, properties = {}, ...children) {
  const element = document.createElement(name);
  for (const [key, value] of Object.entries(properties)) {
    if (key === "class") element.className = value;
    else if (key in element && typeof value !== "string") element[key] = value;
    else element.setAttribute(key, value);
  }
  element.append(...children.filter((child) => child !== null && child !== undefined));
  return element;
}

const SVG = "http://www.w3.org/2000/svg";

function icon(name) {
  const svg = document.createElementNS(SVG, "svg");
  svg.setAttribute("class", "icon");
  svg.setAttribute("aria-hidden", "true");
  const use = document.createElementNS(SVG, "use");
  use.setAttribute("href", `#i-${name}`);
  svg.append(use);
  return svg;
}

// The words and tones of message states, as Chip::of_state has them.
const STATES = {
  queued: ["waiting", "Queued"],
  submitted: ["waiting", "Submitted"],
  enroute: ["waiting", "En route"],
  delivered: ["good", "Delivered"],
  expired: ["warning", "Expired"],
  undeliverable: ["bad", "Undeliverable"],
  rejected: ["stopped", "Rejected"],
};
const ICONS = { good: "good", waiting: "clock", warning: "warning", bad: "bad", stopped: "stop", neutral: "dot" };

function chip(state) {
  const [tone, label] = STATES[state] ?? ["neutral", state];
  return make("span", { class: `chip chip-${tone}` }, icon(ICONS[tone]), label);
}

/** Says something to screen readers without moving the focus. */
function announce(text) {
  let region = document.getElementById("announcer");
  if (!region) {
    region = make("div", { id: "announcer", class: "hidden", role: "status" });
    document.body.append(region);
  }
  region.textContent = "";
  requestAnimationFrame(() => { region.textContent = text; });
}

// <hermod-copy>: a button that copies the text beside it

customElements.define("hermod-copy", class extends HTMLElement {
  connectedCallback() {
    const code = this.querySelector("code");
    if (!code || this.querySelector(".copy") || !navigator.clipboard) return;
    const button = make("button", { type: "button", class: "copy" }, "Copy");
    button.setAttribute("aria-label", this.classList.contains("block") ? "Copy the example" : `Copy ${code.textContent.slice(0, 60)}`);
    button.addEventListener("click", async () => {
      try {
        await navigator.clipboard.writeText(code.textContent);
        button.textContent = "Copied";
        announce("Copied");
      } catch {
        button.textContent = "Press Ctrl+C";
        getSelection().selectAllChildren(code);
      }
      setTimeout(() => { button.textContent = "Copy"; }, 2000);
    });
    this.append(button);
  }
});

// <hermod-flash>: the result of the last change, with a button to dismiss it

customElements.define("hermod-flash", class extends HTMLElement {
  connectedCallback() {
    if (this.querySelector(".dismiss")) return;
    const button = make("button", { type: "button", class: "button plain small dismiss" }, "Dismiss");
    button.addEventListener("click", () => this.remove());
    this.append(button);
  }
});

// <hermod-chart>: the numbers of the column under the pointer

customElements.define("hermod-chart", class extends HTMLElement {
  connectedCallback() {
    const readout = this.querySelector(".readout");
    if (!readout) return;
    for (const title of this.querySelectorAll(".hit > title")) title.remove();
    this.addEventListener("pointerover", (event) => {
      const column = event.target.closest?.(".hit");
      if (!column) return;
      readout.textContent = `${localTime(new Date(Number(column.dataset.ms)), "hour")}: ${column.dataset.readout}`;
    });
    this.addEventListener("pointerleave", () => { readout.textContent = ""; });
  }
});

// <hermod-live data-feed data-messages>: rows of the live feed, with pause

const LIVE_ROWS = 60;

customElements.define("hermod-live", class extends HTMLElement {
  connectedCallback() {
    this.body = this.querySelector("tbody");
    this.state = this.querySelector(".live-state");
    this.words = this.querySelector(".live-words");
    this.button = this.querySelector("[data-pause]");
    this.button.addEventListener("click", () => (this.source ? this.pause() : this.start()));
    this.start();
  }

  disconnectedCallback() {
    this.source?.close();
  }

  start() {
    this.source = new EventSource(this.dataset.feed);
    this.source.addEventListener("frame", (event) => this.show(JSON.parse(event.data)));
    this.source.addEventListener("open", () => this.say("is-on", "Connected, waiting for messages"));
    this.source.addEventListener("error", () => this.say("", "Connection lost, trying again"));
    this.button.textContent = "Pause";
    this.say("", "Connecting");
  }

  pause() {
    this.source.close();
    this.source = null;
    this.button.textContent = "Continue";
    this.say("is-paused", "Paused. Messages are still being recorded.");
    announce("Live feed paused");
  }

  say(mode, words) {
    this.state.classList.remove("is-on", "is-paused");
    if (mode) this.state.classList.add(mode);
    this.words.textContent = words;
  }

  /** Shows a frame in the shape of pages::live::LiveFrame. */
  show(frame) {
    const rate = frame.per_second === null ? "Connected" : `${frame.per_second.toLocaleString("en-GB")}/s`;
    this.say("is-on", frame.note ?? rate);
    for (const change of frame.shown) this.showMessage(change);
    while (this.body.rows.length > LIVE_ROWS) this.body.lastElementChild.remove();
    const empty = this.querySelector(".empty");
    if (empty && this.body.rows.length > 0) {
      empty.remove();
      this.querySelector(".table").hidden = false;
    }
  }

  showMessage(change) {
    this.body.querySelector(`[data-id="${CSS.escape(change.id)}"]`)?.remove();
    const link = make("a", { class: "row-link", href: `${this.dataset.messages}/${encodeURIComponent(change.id)}` }, localTime(new Date(change.accepted_at), "clock"));
    link.title = change.accepted_at;
    const cell = (label, content, name = "") => make("td", { "data-label": label, class: name }, content);
    this.body.prepend(make("tr", { class: "is-new", "data-id": change.id },
      cell("State", chip(change.state)),
      cell("Accepted", link),
      cell("From", change.from, "wrap"),
      cell("To", change.to ?? "erased", "code"),
      cell("Country", change.country),
      cell("Latest step", change.step, "text"),
    ));
  }
});

// <hermod-refresh id data-every>: a part of the page that is read again while the server says so

customElements.define("hermod-refresh", class extends HTMLElement {
  connectedCallback() {
    const every = Number(this.dataset.every);
    if (every) this.timer = setTimeout(() => this.load(), every);
  }

  disconnectedCallback() {
    clearTimeout(this.timer);
    this.request?.abort();
  }

  /** Reads the page again and puts its part in place of this one. */
  load() {
    const again = () => { if (this.isConnected) this.connectedCallback(); };
    if (document.hidden || this.contains(document.activeElement)) return again();
    this.request = new XMLHttpRequest();
    this.request.responseType = "document";
    this.request.addEventListener("error", again);
    this.request.addEventListener("load", () => {
      const fresh = this.request.response?.getElementById(this.id);
      if (this.request.status !== 200 || !fresh) return again();
      const part = document.importNode(fresh, true);
      if (part.dataset.says !== this.dataset.says) announce(part.dataset.says);
      showLocalTimes(part);
      this.replaceWith(part);
    });
    this.request.open("GET", location.href);
    this.request.send();
  }
});

// <hermod-compose data-preview>: the preview of the form, as the person types

const TYPING_PAUSE_MS = 250;

customElements.define("hermod-compose", class extends HTMLElement {
  connectedCallback() {
    this.form = this.querySelector("form");
    this.output = this.querySelector("[data-output]");
    this.send = this.querySelector("[data-send]");
    this.form.addEventListener("input", () => {
      clearTimeout(this.timer);
      this.timer = setTimeout(() => this.refresh(), TYPING_PAUSE_MS);
    });
    this.output.addEventListener("click", (event) => {
      const button = event.target.closest("[data-replace]");
      if (button) this.replace(button.dataset.replace, button.dataset.with);
    });
  }

  replace(character, replacement) {
    const field = this.form.elements.text;
    field.value = field.value.replaceAll(character, replacement);
    field.focus();
    this.refresh();
  }

  async refresh() {
    this.request?.abort();
    this.request = new AbortController();
    try {
      const response = await fetch(this.dataset.preview, {
        method: "POST",
        body: new URLSearchParams(new FormData(this.form)),
        headers: { Accept: "application/json" },
        signal: this.request.signal,
      });
      if (response.ok) this.show(await response.json());
    } catch (error) {
      if (error.name !== "AbortError") this.output.replaceChildren(make("p", { class: "muted" }, "The preview is not available at the moment. Sending still works."));
    }
  }

  /** Shows a preview in the shape of pages::compose::Preview. */
  show(preview) {
    const parts = preview.parts.map((part, index) => make("li", {},
      make("p", { class: "segment-text" }, ...part.runs.map((run) => (run.is_marked ? make("mark", {}, run.text) : run.text))),
      make("p", { class: "segment-used" }, preview.parts.length > 1 ? `Part ${index + 1} · ${part.used}` : part.used),
    ));
    const facts = preview.facts.map((fact) => make("div", {}, make("dt", {}, fact.name), make("dd", {}, fact.value)));
    this.output.replaceChildren(
      make("div", { class: "rejections" }, ...preview.rejections.map(rejection)),
      parts.length ? make("ol", { class: "preview-boxes" }, ...parts) : make("p", { class: "muted" }, "Write a text to see its parts."),
      preview.forced.length ? forced(preview) : null,
      make("dl", { class: "facts" }, ...facts),
    );
    if (this.send) {
      this.send.textContent = preview.send_label;
      this.send.disabled = !preview.can_send;
      this.form.elements.confirmed_price.value = preview.price;
    }
    announce(preview.summary);
  }
});

function rejection({ code, text, href }) {
  const link = href ? make("a", { href }, "What to do") : null;
  return make("div", { class: "notice notice-bad" }, icon("bad"), make("p", {}, make("code", {}, code), ` ${text} `, link));
}

function forced(preview) {
  const rows = preview.forced.map(({ character, name, count, replacement }) => make("tr", {},
    make("td", {}, make("mark", {}, character)),
    make("td", {}, `${name}, ${count}×`),
    make("td", { class: "row-actions" }, replacement === null ? "no replacement" : make("button", { type: "button", class: "button small", "data-replace": character, "data-with": replacement }, `Replace with ${replacement === "" ? "nothing" : replacement}`)),
  ));
  return make("div", { class: "forced" }, make("h3", {}, preview.forced_words), make("table", {}, make("tbody", {}, ...rows)));
}

// Search key, filters, menus

function onKey(event) {
  if (event.key.toLowerCase() === "k" && (event.ctrlKey || event.metaKey) && !event.altKey) {
    const field = document.getElementById("find");
    if (!field) return;
    event.preventDefault();
    field.focus();
    field.select();
  }
  if (event.key === "Escape") {
    for (const menu of document.querySelectorAll("details[open]:is(.menu, .accounts, .user)")) {
      menu.open = false;
      if (menu.contains(document.activeElement)) menu.querySelector("summary").focus();
    }
  }
}

function onChange(event) {
  const form = event.target.closest("form[data-autosubmit]");
  if (form && event.target.matches("select")) form.requestSubmit();
}

/** Leaves empty filters out of the URL, so that it stays short enough to share. */
function onFormData(event) {
  if (!event.target.matches("form[data-autosubmit]")) return;
  for (const [name, value] of [...event.formData]) {
    if (value === "") event.formData.delete(name);
  }
}

function onPointerDown(event) {
  for (const menu of document.querySelectorAll("details[open]:is(.accounts, .user)")) {
    if (!menu.contains(event.target)) menu.open = false;
  }
}

document.addEventListener("keydown", onKey);
document.addEventListener("change", onChange);
document.addEventListener("formdata", onFormData);
document.addEventListener("pointerdown", onPointerDown);
for (const form of document.querySelectorAll("form[data-once]")) {
  form.addEventListener("submit", () => {
    for (const button of form.querySelectorAll("button[type=submit]")) button.disabled = true;
  });
}
// A page that comes back from the browser's cache can be submitted again.
addEventListener("pageshow", (event) => {
  if (event.persisted) for (const button of document.querySelectorAll("form[data-once] button[type=submit]")) button.disabled = false;
});
showLocalTimes(document);
