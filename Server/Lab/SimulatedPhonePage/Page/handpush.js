// A push by hand: every header that APNs reads, and an unchanged body.
import { h } from "./dom.js";
import { state, changed } from "./state.js";
import { call, problemOf } from "./connection.js";
import { actions, labelled, smallButton, templates } from "./compose.js";
import { PUSH_TEMPLATES } from "./templates.js";
import { remember } from "./sent.js";
import { reasonWords } from "./reasons.js";
import { copyText, saveFile, shellWord } from "./save.js";
import { inLines, withBundle, withoutBundle } from "./bodytext.js";
import { toast } from "./toast.js";

const TYPES = [
  "alert", "background", "location", "voip", "complication", "fileprovider", "mdm", "liveactivity", "pushtotalk", "widgets", "controls",
];
const REVIEW_MILLISECONDS = 180;
const LARGEST = 4096;

const first = PUSH_TEMPLATES[0];
const EMPTY = { pushType: "alert", priority: "", topic: "", expiration: "", collapseId: "", apnsId: "" };
let draft = { ...EMPTY, ...first.push, payload: first.payload };
let phoneID = null;
/** The bundle that an .apns file named, when it is another app than the phones'. */
let foreignBundle = null;
let findings = [];
let reviewed = null;
/** Whether the findings are of an older draft. */
let reviewing = false;
let reviewTimer = null;
let field = null;

/** Those that get something from APNs. */
const iPhones = () => state.phones.filter(({ isAndroid }) => !isAndroid);
const phoneOf = () => iPhones().find(({ id }) => id === phoneID) || (state.selected?.isAndroid ? iPhones()[0] : state.selected);

export function pushForm() {
  const phone = phoneOf();
  if (!phone) return h("p", { class: "panel-empty", key: "push" }, "An Android phone gets nothing from APNs.");
  review(phone);
  return h("form", { class: "tool-form", key: "push", onsubmit: (event) => send(event, phone), "data-testid": "push-form", "data-drop": "apns" },
    templates(PUSH_TEMPLATES, use, "template"),
    h("div", { class: "tool-grid" },
      labelled("To", h("select", {
        class: "box", value: phone.id, "data-testid": "push-phone", onchange: (event) => {
          phoneID = event.target.value;
          changed();
        },
      }, iPhones().map(({ id, name }) => h("option", { value: id, key: id }, name)))),
      labelled("Type", h("select", { class: "box", value: draft.pushType, onchange: set("pushType"), "data-testid": "push-type" },
        TYPES.map((type) => h("option", { value: type, key: type }, type)))),
      labelled("Priority", h("select", { class: "box", value: draft.priority, onchange: set("priority"), "data-testid": "push-priority" },
        [["", "none"], ["10", "10, now"], ["5", "5, sparing power"], ["1", "1, lowest"]].map(([value, words]) => h("option", { value, key: value }, words)))),
      labelled("Collapse id", text("collapseId", "none", "push-collapse")),
      labelled("Expires", text("expiration", "no header", "push-expiration", { inputmode: "numeric", list: "expirations" }), { hint: "s since 1970" }),
      labelled("Topic", text("topic", "the app", "push-topic"))),
    h("datalist", { id: "expirations", key: "expirations" },
      h("option", { value: "0" }, "never stored"), h("option", { value: String(Math.floor(Date.now() / 1000 / 60 + 60) * 60) }, "in an hour")),
    body(),
    foreignBundle && h("div", { class: "tool-note", key: "foreign", role: "status", "data-testid": "foreign-bundle" },
      h("p", null, "The file is for ", h("b", null, foreignBundle), ". That app is not on these phones, so APNs will refuse it."),
      h("button", { type: "button", class: "small-button", onclick: adopt, "data-testid": "push-adopt" }, "Send to Clarion instead")),
    reviewList(),
    actions(
      h("button", { type: "submit", class: "tool-send", key: "send", "data-testid": "push-send" }, "Send"),
      smallButton("Open .apns", "upload", choose, "push-open"),
      smallButton("Save .apns", "download", () => saveFile("push.apns", apnsFile(draft), "application/json"), "push-save"),
      smallButton("Copy as curl", "copy", async () => copyText(await curl(phone, draft), "curl"), "push-curl")));
}

function body() {
  const size = new TextEncoder().encode(draft.payload).length;
  return h("div", { class: "tool-body", key: "body" },
    h("div", { class: "tool-body-head" },
      h("label", { for: "push-payload" }, "Body"),
      h("button", { type: "button", class: "text-button", onclick: tidy, "data-testid": "push-format" }, "Format"),
      h("span", { class: size > LARGEST ? "byte-count over" : "byte-count", "data-testid": "push-bytes" }, `${size.toLocaleString("en")} of ${LARGEST.toLocaleString("en")} bytes`)),
    h("textarea", {
      id: "push-payload", class: "code", rows: "10", spellcheck: "false", autocapitalize: "off", autocomplete: "off", value: shown(draft.payload),
      "aria-describedby": "push-findings", "aria-invalid": String(findings.some(({ severity }) => severity === "error")), oninput: set("payload"),
      "data-testid": "push-payload", created: (node) => { field = node; },
    }));
}

// A text field has line feeds alone; what was not edited is sent with the ends of lines that it came with.
const shown = (payload) => payload.replace(/\r\n?/g, "\n");

function text(name, placeholder, testID, more = {}) {
  return h("input", { class: "box", type: "text", value: draft[name], placeholder, oninput: set(name), autocomplete: "off", spellcheck: "false", "data-testid": testID, ...more });
}

function set(name) {
  return (event) => {
    draft = { ...draft, [name]: event.target.value };
    if (name === "topic") foreignBundle = null;
    changed();
  };
}

function use(template) {
  draft = { ...EMPTY, ...template.push, payload: template.payload };
  foreignBundle = null;
  changed();
}

function tidy() {
  // What is broken stays as it is; the review below the field says where.
  draft = { ...draft, payload: inLines(draft.payload) };
  changed();
}

// The server's review before it is sent, after a short pause in typing.
function review(phone) {
  const wanted = JSON.stringify([phone.id, draft]);
  if (wanted === reviewed) return;
  reviewed = wanted;
  reviewing = true;
  clearTimeout(reviewTimer);
  reviewTimer = setTimeout(async () => {
    try {
      const answer = await fetch(`${phone.address}/pushes/review`, {
        method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(wire(draft)),
      });
      const found = answer.ok ? await answer.json() : [{ severity: "error", field: "payload", message: (await problemOf(answer)) || "It cannot be checked." }];
      if (reviewed !== wanted) return;
      findings = [...local(draft), ...found];
    } catch {
      if (reviewed !== wanted) return;
      findings = local(draft);
    }
    reviewing = false;
    changed();
  }, REVIEW_MILLISECONDS);
}

// What cannot even be put into a request.
function local({ expiration }) {
  return expiration.trim() && !/^-?\d+$/.test(expiration.trim())
    ? [{ severity: "error", field: "expiration", message: "The expiration is a whole number of seconds since 1970, or 0." }] : [];
}

function reviewList() {
  return h("ul", { class: "findings", id: "push-findings", key: "findings", "aria-live": "polite", "aria-busy": String(reviewing), "data-testid": "push-findings" },
    findings.map(({ severity, message, line, column }, index) => h("li", { class: `finding ${severity}`, key: `${index} ${message}`, "data-testid": "finding", "data-severity": severity },
      h("span", { class: "finding-mark", role: "img", "aria-label": severity === "error" ? "Error" : "Advice" }, severity === "error" ? "!" : "i"),
      h("span", null, message, line && [" ", h("button", {
        type: "button", class: "text-button", onclick: () => goTo(line, column), "data-testid": "finding-place",
      }, `line ${line}, column ${column}`)]))));
}

function goTo(line, column) {
  const lines = field.value.split("\n");
  const place = lines.slice(0, line - 1).reduce((sum, each) => sum + each.length + 1, 0) + column - 1;
  field.focus();
  field.setSelectionRange(place, Math.min(place + 1, field.value.length));
}

/** The draft as the server takes it: what is empty is left out. */
function wire({ pushType, priority, topic, expiration, collapseId, apnsId, payload }) {
  const push = { pushType, payload };
  if (priority) push.priority = Number(priority);
  if (topic.trim()) push.topic = topic.trim();
  if (/^-?\d+$/.test(expiration.trim())) push.expiration = Number(expiration.trim());
  if (collapseId) push.collapseId = collapseId;
  if (apnsId.trim()) push.apnsId = apnsId.trim();
  return push;
}

async function send(event, phone) {
  event.preventDefault();
  const sent = draft;
  await deliver(phone, sent);
}

async function deliver(phone, sent) {
  const done = remember({
    title: titleOf(sent), to: phone.name,
    again: () => deliver(phone, sent),
    edit: () => {
      draft = sent;
      phoneID = phone.id;
      showPush();
    },
    copies: [["curl", () => curl(phone, sent)], [".apns", () => apnsFile(sent)]],
  });
  const answer = await call(`${phone.address}/pushes`, wire(sent));
  if (answer === null) done("failed", "It was not sent.");
  else if (answer.status === 200) done("accepted", "200, accepted");
  else done("failed", [answer.status, answer.reason].filter(Boolean).join(" ") + (reasonWords(answer.reason) && `. ${reasonWords(answer.reason)}`));
}

function titleOf({ pushType, payload }) {
  try {
    const { alert } = JSON.parse(payload).aps;
    return (typeof alert === "string" ? alert : alert?.title || alert?.body) || `${pushType} push`;
  } catch {
    return `${pushType} push`;
  }
}

// Files

let showPush = () => {};

/** Sets the function that brings this form to the front. */
export function onShowPush(show) {
  showPush = show;
}

/** Reads an .apns file as Xcode's simulator does: the body, with the app's bundle id in it. Nothing else of it is changed. */
export async function openFile(file) {
  let content;
  try {
    content = new TextDecoder("utf-8", { fatal: true }).decode(await file.arrayBuffer());
  } catch {
    toast(`${file.name} is no text in UTF-8, so it is no .apns file.`);
    return;
  }
  const { bundle, payload } = withoutBundle(content);
  draft = { ...EMPTY, payload, ...(isSilent(payload) ? { pushType: "background", priority: "5" } : { priority: "10" }) };
  foreignBundle = null;
  if (typeof bundle === "string" && bundle) {
    const target = await call(`${phoneOf().address}/target`);
    if (target && target.topic !== bundle) {
      foreignBundle = bundle;
      draft.topic = bundle;
    }
  }
  showPush();
}

function isSilent(payload) {
  try {
    const { aps } = JSON.parse(payload);
    return aps["content-available"] === 1 && !aps.alert && !aps.sound && aps.badge === undefined;
  } catch {
    // Broken JSON, or no object 'aps': the review says so.
    return false;
  }
}

function adopt() {
  draft = { ...draft, topic: "" };
  foreignBundle = null;
  changed();
}

function choose() {
  const input = document.createElement("input");
  input.type = "file";
  input.accept = ".apns,.json,application/json";
  input.addEventListener("change", () => input.files[0] && openFile(input.files[0]));
  input.click();
}

// For elsewhere

function apnsFile({ topic, payload }) {
  return withBundle(payload, topic.trim() || "org.clarion.demo");
}

async function curl(phone, push) {
  const target = await call(`${phone.address}/target`);
  if (target === null) return "";
  const { pushType, priority, topic, expiration, collapseId, apnsId, payload } = wire(push);
  const headers = [
    ["authorization", target.authorization], ["apns-topic", topic ?? target.topic], ["apns-push-type", pushType], ["apns-priority", priority],
    ["apns-expiration", expiration], ["apns-collapse-id", collapseId], ["apns-id", apnsId],
  ].filter(([, value]) => value !== undefined);
  return [
    `curl --http2 --cacert ${shellWord(target.authorityPath)}`,
    ...headers.map(([name, value]) => `-H ${shellWord(`${name}: ${value}`)}`),
    `--data-binary ${shellWord(payload)}`,
    `-i https://${target.host}:${target.port}/3/device/${target.deviceToken}`,
  ].join(" \\\n  ");
}
