// Every push to every phone with its timings: a row each, a column for each station of the way.
import { h } from "./dom.js";
import { icon } from "./icons.js";
import { state, changed } from "./state.js";
import { distance, exactTime } from "./format.js";
import { STATIONS, exported, journeys } from "./journey.js";
import { saveFile } from "./save.js";

const ROWS_SHOWN = 200;
const STATES = [["", "Any end"], ["opened", "Opened"], ["shown", "Shown"], ["held", "Held back"], ["waiting", "Waiting"], ["failed", "Failed"]];
const filter = { text: "", phone: "", state: "" };
const openRows = new Set();

export function timeline() {
  const all = journeys();
  const rows = all.filter(matches);
  return [
    h("header", { class: "story-head", key: "head" },
      h("div", null, h("h2", null, "Timeline"), h("p", null, "Each push to each phone; times count from its first moment.")),
      all.length > 0 && h("button", {
        class: "quiet-button", type: "button", title: "Save as JSON", "aria-label": "Save the rows as JSON", key: "save", "data-testid": "timeline-export",
        onclick: () => saveFile("timeline.json", JSON.stringify(exported(rows), null, 2), "application/json"),
      }, icon("download"))),
    all.length === 0 ? h("p", { class: "panel-empty", key: "empty" }, "Nothing was pushed yet. Send something, from a phone or with Compose.") : [
      filters(),
      h("p", { class: "row-count", key: "count", role: "status", "data-testid": "timeline-count" },
        rows.length === all.length ? `${all.length} row${all.length === 1 ? "" : "s"}` : `${rows.length} of ${all.length} rows`),
      table(rows.slice(0, ROWS_SHOWN)),
    ],
  ];
}

function matches(row) {
  if (filter.phone && row.phone.id !== filter.phone) return false;
  if (filter.state && row.state !== filter.state) return false;
  const words = [row.id, row.message, row.phone.name, row.words, row.push].join(" ").toLowerCase();
  return filter.text.trim().toLowerCase().split(/\s+/).every((word) => words.includes(word));
}

function filters() {
  const set = (field) => (event) => {
    filter[field] = event.target.value;
    changed();
  };
  return h("div", { class: "filters", role: "search", "aria-label": "Which rows", key: "filters" },
    h("input", {
      type: "search", class: "box", placeholder: "Filter", "aria-label": "Filter text", value: filter.text, oninput: set("text"),
      autocomplete: "off", "data-testid": "timeline-filter",
    }),
    state.phones.length > 1 && h("select", { class: "box", "aria-label": "Which phone", value: filter.phone, onchange: set("phone"), "data-testid": "timeline-phone" },
      h("option", { value: "" }, "All phones"), state.phones.map(({ id, name }) => h("option", { value: id, key: id }, name))),
    h("select", { class: "box", "aria-label": "How it ended", value: filter.state, onchange: set("state"), "data-testid": "timeline-state" },
      STATES.map(([id, title]) => h("option", { value: id, key: id }, title))));
}

function table(rows) {
  return h("div", { class: "timeline-scroll", key: "table", tabindex: "0", role: "region", "aria-label": "Pushes and their timings" },
    h("table", { class: "timeline", "data-testid": "timeline" },
      h("thead", null, h("tr", null,
        h("th", { scope: "col", class: "what" }, "Push"),
        STATIONS.map(({ id, title, words }) => h("th", { scope: "col", key: id, title: words }, h("abbr", { title: words }, title))))),
      h("tbody", null, rows.flatMap((row) => [line(row), openRows.has(row.key) && details(row)]))));
}

function line(row) {
  const open = openRows.has(row.key);
  const toggle = () => {
    if (!openRows.delete(row.key)) openRows.add(row.key);
    changed();
  };
  return h("tr", {
    key: row.key, class: `journey-row ${row.state}`, "data-testid": "timeline-row", "data-rich-id": row.richID, "data-phone-id": row.phone.id,
    "data-state": row.state,
  },
  h("th", { scope: "row", class: "what" },
    h("button", { type: "button", class: "row-open", "aria-expanded": String(open), onclick: toggle, "data-testid": "timeline-open" },
      h("span", { class: "row-message" }, row.richID && h("span", { class: "story-number" }, `#${row.richID}`), h("b", null, row.message)),
      h("span", { class: "row-phone" }, row.phone.name, " · ", h("span", { class: `end-words ${row.state}`, title: row.words }, row.words)),
      wave(row))),
  STATIONS.map((station) => cell(row, station)));
}

function cell(row, { id, title, words }) {
  const at = row.at[id];
  if (at === undefined) return h("td", { key: id, class: "absent", "data-name": title }, h("span", { "aria-label": `not ${words}` }, "–"));
  const since = at - row.begin;
  return h("td", { key: id, title: `${words} ${exactTime(at)}`, "data-station": id, "data-name": title, "data-at": String(at) }, since === 0 ? "0" : short(since));
}

// Milliseconds carry no unit: they are what a cell nearly always holds.
function short(milliseconds) {
  return milliseconds < 1000 ? String(Math.round(milliseconds)) : distance(milliseconds).slice(1);
}

// The way as a line. The power of 0.4 makes the first milliseconds visible beside seconds.
function wave(row) {
  const points = STATIONS.filter(({ id }) => row.at[id] !== undefined).map(({ id, actor }) => ({ actor, since: row.at[id] - row.begin }));
  const longest = Math.max(1, ...points.map(({ since }) => since));
  const place = (since) => 3 + (Math.max(0, since) / longest) ** 0.4 * 194;
  return h("svg", { class: "wave", viewBox: "0 0 200 8", preserveAspectRatio: "xMinYMid meet", "aria-hidden": "true" },
    h("line", { x1: "3", y1: "4", x2: String(place(longest)), y2: "4", class: "wave-line" }),
    points.map(({ actor, since }, index) => h("circle", { key: index, cx: String(place(since)), cy: "4", r: "2.6", class: `actor ${actor}` })));
}

function details(row) {
  return h("tr", { key: `${row.key} details`, class: "journey-details" },
    h("td", { colspan: String(STATIONS.length + 1) },
      h("dl", null,
        row.push && pair("apns-id", row.push),
        STATIONS.filter(({ id }) => row.at[id] !== undefined)
          .map(({ id, words }) => pair(words, `${exactTime(row.at[id])}.${String(row.at[id] % 1000).padStart(3, "0")}`, distance(row.at[id] - row.begin)))),
      h("ol", { class: "journey-steps" }, row.steps.map((step) => h("li", { key: step.seq }, h("span", null, distance(step.at - row.begin)), step.title, answer(step))))));
}

function pair(name, ...values) {
  return h("div", { key: name }, h("dt", null, name), h("dd", null, values.map((value, index) => h("span", { key: index }, value))));
}

function answer({ step, detail }) {
  return step === "apns-answer" && detail?.status ? ` ${detail.status} ${detail.reason || ""}` : "";
}
