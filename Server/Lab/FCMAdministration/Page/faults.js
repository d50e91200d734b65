// What can go wrong on demand: the form, the faults that wait, and the end of access tokens.
import { h } from "./dom.js";
import { change, field, problemAt, redraw, service } from "./service.js";

const KINDS = {
  tooManyRequests: ["429 QUOTA_EXCEEDED", "seconds"], serverError: ["500 INTERNAL"], badGateway: ["502, a page of HTML"],
  unavailable: ["503 UNAVAILABLE", "seconds"], goAway: ["GOAWAY", "processed"], loseAnswer: ["The answer is lost"],
  revokeTokens: ["The access token is revoked"], refusal: ["The answer of a rule", "rule"], delay: ["A late answer", "milliseconds"],
  halfAnswer: ["Half of an answer"], resetStream: ["RST_STREAM"], stall: ["Silence"],
};
const NOTES = {
  goAway: "The connection ends; without the mark below, before the request is processed.", loseAnswer: "The message is delivered, and the connection ends: sent again, it is delivered twice.",
  revokeTokens: "401, until the sender fetches another access token.",
};
let kind = "tooManyRequests";

const number = (name, value, least = 0) => h("input", { class: "input", type: "number", name, min: String(least), max: "600000", created: (node) => { node.value = value; }, "data-testid": `fault-${name}` });

export function faults() {
  const { faults: planned, projects } = service.state;
  return [
    h("h2", null, "Faults"),
    planned.length === 0
      ? h("p", { class: "empty", key: "none" }, "No fault is planned. One strikes requests that pass every check.")
      : h("div", { key: "planned" }, h("ul", { class: "bullets" }, planned.map((each, index) => h("li", { key: index, "data-testid": "planned" }, plan(each)))),
        h("p", { class: "actions" }, h("button", { type: "button", class: "button", onclick: () => change("clear", "DELETE", "faults"), "data-testid": "fault-clear" }, "Forget all faults")), problemAt("clear")),
    form(),
    h("h3", { key: "tokens" }, "Access tokens"),
    projects.map(({ id }) => h("p", { class: "actions", key: `tokens ${id}` }, projects.length > 1 && h("code", null, id),
      [["revoke", "Revoke"], ["expire", "Let expire"]].map(([action, title]) => h("button", {
        type: "button", class: "button", key: action, "aria-label": `${title} the access tokens of ${id}`, onclick: () => change("tokens", "POST", `projects/${encodeURIComponent(id)}/access-tokens`, { action }),
      }, title)))),
    problemAt("tokens"),
  ];
}

function plan({ fault, endpoint, every, left, skipped }) {
  const [name] = Object.keys(fault);
  const { _0: value, milliseconds, processed } = fault[name];
  const pause = value?.seconds ? `Retry-After ${value.seconds._0}` : value?.date ? `Retry-After in ${value.date.inSeconds} s, as a date` : typeof value === "string" && value;
  const more = [pause, milliseconds !== undefined && `${milliseconds} ms`, processed && "after the answer"].filter(Boolean).join(", ");
  const which = every ? `every ${every}th request` : `the next ${left === 1 ? "request" : `${left} requests`}${skipped ? ` after ${skipped}` : ""}`;
  return `${KINDS[name][0]}${more ? ` (${more})` : ""}: ${which} at ${endpoint}`;
}

function form() {
  const [, extra] = KINDS[kind];
  return h("form", { class: "fault-form", key: "form", onsubmit: plant, "aria-label": "Plan a fault" },
    field("What happens", h("select", { class: "input", name: "kind", onchange: (event) => { kind = event.target.value; redraw(); }, "data-testid": "fault-kind" },
      Object.entries(KINDS).map(([name, [title]]) => h("option", { value: name, key: name }, title))), NOTES[kind]),
    extra === "seconds" && [
      field("Retry-After in seconds", number("seconds", ""), "Empty: the answer has no Retry-After."),
      h("label", { class: "check", key: "date" }, h("input", { type: "checkbox", name: "date" }), "as a date")],
    extra === "milliseconds" && field("Milliseconds", number("milliseconds", "2000")),
    extra === "processed" && h("label", { class: "check", key: "processed" }, h("input", { type: "checkbox", name: "processed" }), "after the request was processed and answered"),
    extra === "rule" && field("Rule", h("select", { class: "input", name: "rule" }, [...service.rules.values()].map(({ rule, status }) => h("option", { value: rule, key: rule }, `${rule} (${status})`)))),
    h("div", { class: "row" },
      field("At", h("select", { class: "input", name: "endpoint" }, ["send", "token", "topics"].map((name) => h("option", { value: name, key: name }, name)))),
      field("How many requests", number("times", "1", 1)), field("After how many", number("after", "0"))),
    h("p", { class: "actions" }, h("button", { class: "button primary", "data-testid": "fault-plan" }, "Plan the fault")),
    problemAt("fault"));
}

function plant(event) {
  event.preventDefault();
  const body = Object.fromEntries([...new FormData(event.target)].filter(([, value]) => value !== ""));
  for (const name of ["seconds", "milliseconds", "times", "after"]) if (name in body) body[name] = Number(body[name]);
  for (const name of ["date", "processed"]) if (name in body) body[name] = true;
  change("fault", "POST", "faults", body);
}
