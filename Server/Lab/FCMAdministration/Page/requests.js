// What senders asked, newest first, with the verdict; and the rules that requests are judged by.
import { h } from "./dom.js";
import { change, KEPT, problemAt, service } from "./service.js";
import { words } from "./phones.js";

export function requests() {
  const { requests: list } = service;
  return [
    h("div", { class: "phones-head" }, h("h2", null, "Requests"),
      list.length > 0 && h("button", { type: "button", class: "button", onclick: () => change("requests", "DELETE", "requests"), "data-testid": "forget" }, "Forget all")),
    problemAt("requests"),
    list.length === 0 && h("p", { class: "empty", key: "none", "data-testid": "no-requests" }, "Nothing was asked yet. Point your sender here, as written above, and send to the token of a phone."),
    h("ol", { class: "request-list", key: "list" }, list.map(line)),
    list.length === KEPT && h("p", { class: "hint", key: "end" }, `The newest ${KEPT}. GET /fcm/requests has the newest thousand.`),
  ];
}

/** The badge, and the exact code of the answer. */
function verdict({ fault, brokenRule, status, errorCode }) {
  const rule = service.rules.get(brokenRule || fault?.refusal?._0);
  const code = status === undefined ? "no answer" : [status, status >= 400 && (errorCode || rule?.errorCode || rule?.canonicalStatus)].filter(Boolean).join(" ");
  if (fault) return ["warn", `fault ${Object.keys(fault)[0]}`, code];
  return brokenRule ? ["bad", "refused", code] : ["good", "accepted", code];
}

function line(request) {
  const { number, receivedAt, path, device, project, account, message, brokenRule, field, isValidation, isHTTP2, bodySize, headers, messageID } = request;
  const [kind, text, code] = verdict(request);
  const target = device || message?.topic || message?.condition || project || account;
  const details = JSON.stringify({ message, messageID, account, field, bodySize, isHTTP2, headers }, null, 2);
  return h("li", { key: number, "data-testid": "request", "data-path": path },
    h("div", { class: "request-head" },
      h("time", null, new Date(receivedAt).toLocaleTimeString()), h("b", null, path), target && h("span", { class: "words" }, `${path === "token" ? "for" : "to"} ${target}`),
      isValidation && h("span", { class: "badge" }, "validate only"), h("span", { class: `badge ${kind}`, "data-testid": "verdict" }, text), h("code", { "data-testid": "code" }, code)),
    message && h("p", { class: "words" }, words({ notification: message.notification || message.android?.notification, data: message.data || message.android?.data })),
    brokenRule && h("p", null, field && [h("code", null, field), " "], service.rules.get(brokenRule)?.message, " ",
      h("a", { href: `#rule-${brokenRule}`, onclick: openRules, "data-testid": "rule-link" }, `Rule ${brokenRule}`)),
    h("details", { class: "fold" }, h("summary", null, "Details"), h("pre", { tabindex: "0" }, details)));
}

function openRules() {
  document.getElementById("rule-list").open = true;
}

export function rules() {
  const cells = ({ rule, status, canonicalStatus, errorCode, field, message }) => [rule, [status, errorCode || canonicalStatus].filter(Boolean).join(" "), [field && h("code", { key: "field" }, field), field && " ", message]];
  return h("details", { class: "fold", id: "rule-list" }, h("summary", null, `The ${service.rules.size} rules`),
    h("div", { class: "scrolls", tabindex: "0", role: "region", "aria-label": "Table of the rules" }, h("table", { class: "numbers" },
      h("thead", null, h("tr", null, ["Rule", "Answer", "Text"].map((title) => h("th", { scope: "col", key: title }, title)))),
      h("tbody", null, [...service.rules.values()].map((each) => {
        const [name, ...others] = cells(each);
        return h("tr", { id: `rule-${name}`, key: name, tabindex: "-1" }, h("th", { scope: "row" }, name), others.map((cell, index) => h("td", { key: index }, cell)));
      })))));
}
