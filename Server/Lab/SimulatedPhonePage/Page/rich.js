// A rich notification of any kind, sent as any program sends one: a form to the app backend, or sealed by a program beside it.
import { h } from "./dom.js";
import { icon, kindIcon, kindName } from "./icons.js";
import { state, changed } from "./state.js";
import { basic, call, problemOf } from "./connection.js";
import { actions, labelled, smallButton, templates } from "./compose.js";
import { RICH_TEMPLATES } from "./templates.js";
import { remember } from "./sent.js";
import { base64, copyText, shellWord } from "./save.js";
import { choices } from "./choices.js";

const KINDS = ["img", "sound", "video", "file", "url", "coupon", "text"];
const CARRIES_FILE = new Set(["img", "sound", "video", "file"]);
const ACCEPTED = { img: "image/*", sound: "audio/*", video: "video/*", file: ".pdf,.txt,image/*,audio/*,video/*" };
const STYLES = [["", "server’s choice"], ["alert", "alert"], ["silent", "silent"], ["both", "both"]];
const SEALED_LARGEST = 8 << 20;
const EMPTY = {
  from: "", to: "", expression: "", kind: "img", title: "", subtitle: "", message: "", altText: "", file: null, link: "",
  code: "", headline: "", terms: "", validUntil: "", style: "", preview: "neutral", sealed: false, collapseId: "", thread: "", badge: "",
  expires: "", delay: "0",
};
let draft = { ...EMPTY, message: RICH_TEMPLATES[0].message, title: RICH_TEMPLATES[0].title };
let samples = null;
/** Sends that wait for their moment, by number. */
const waiting = new Map();
let lastWaiting = 0;
let showRich = () => {};

/** Sets the function that brings this form to the front. */
export function onShowRich(show) {
  showRich = show;
}

/** A file as the content; what it is says its type. */
export function takeContent(file) {
  const kind = { image: "img", audio: "sound", video: "video" }[file.type.split("/")[0]] || "file";
  draft = { ...draft, kind, file: { blob: file, name: file.name, type: file.type }, altText: "" };
  showRich();
}

/** Possible senders and recipients: the signed-in user of each phone, else its owner. */
function users() {
  const names = state.phones.map(({ snapshot, owner }) => snapshot?.user || owner).filter(Boolean);
  return [...new Set(names)];
}

function audiences() {
  const names = users();
  const count = (user) => state.phones.filter(({ snapshot }) => snapshot?.user === user).length;
  const each = names.map((user) => [`username:${user}`, count(user) === 1 ? `${user}, on one phone` : `${user}, on ${count(user)} phones`]);
  const all = names.length > 1 ? [[names.map((user) => `username:${user}`).join(" || "), "everyone"]] : [];
  return [...each, ...all, ["expression", "an expression of tags"]];
}

const sender = () => draft.from || state.selected?.snapshot?.user || users()[0] || "alice";
const audience = () => (draft.to === "expression" ? draft.expression.trim() : draft.to || `username:${state.selected?.snapshot?.user || sender()}`);
const needsFile = () => CARRIES_FILE.has(draft.kind);

export function richForm() {
  if (samples === null) askSamples();
  const { kind, sealed } = draft;
  return h("form", { class: "tool-form", key: "rich", onsubmit: submit, "data-testid": "rich-form" },
    templates(RICH_TEMPLATES, use, "rich-template"),
    choices("Kind", { class: "tool-kinds", key: "kinds" }, KINDS.map((each) => ({
      key: each, isTaken: each === kind, take: () => change({ kind: each, file: null, altText: "" }),
      properties: { class: "tool-kind", "data-testid": `rich-kind-${each}` }, content: [icon(kindIcon(each)), kindName(each)],
    }))),
    h("div", { class: "tool-grid", key: "users" },
      labelled("From", pick("from", users().map((user) => [user, user]), sender(), "rich-from")),
      labelled("To", pick("to", audiences(), draft.to || audience(), "rich-to")),
      draft.to === "expression" && labelled("Expression", text("expression", "username:alice && !beta", "rich-expression"), { wide: true }),
      labelled("Title", text("title", "none", "rich-title", 100)), labelled("Subtitle", text("subtitle", "none", "rich-subtitle", 100)),
      labelled("Message", h("textarea", { class: "box", rows: "2", value: draft.message, oninput: set("message"), maxlength: "2000", required: true, "data-testid": "rich-message" }), { wide: true })),
    h("div", { class: "tool-grid", key: `content ${kind}` }, content(kind)),
    h("div", { class: "tool-grid", key: "delivery" },
      labelled("Style", pick("style", STYLES, draft.style, "rich-style")),
      labelled("When", pick("delay", [["0", "now"], ["5", "in 5 seconds"], ["30", "in 30 seconds"], ["120", "in 2 minutes"]], draft.delay, "rich-delay")),
      labelled("Apple sees", pick("preview", [["neutral", "a neutral text"], ["open", "title and message"]], sealed ? "neutral" : draft.preview, "rich-preview", sealed)),
      h("label", { class: "tool-check", key: "seal" },
        h("input", { type: "checkbox", checked: sealed, onchange: (event) => change({ sealed: event.target.checked }), "data-testid": "rich-sealed" }),
        h("span", null, "Sealed ", h("small", null, "the server cannot read it")))),
    !sealed && h("details", { class: "tool-more", key: "more" }, h("summary", null, "Collapse, group, badge, expiry"),
      h("div", { class: "tool-grid" },
        labelled("Collapse id", text("collapseId", "one of its own", "rich-collapse", 64)), labelled("Thread", text("thread", "none", "rich-thread", 64)),
        labelled("Badge", text("badge", "as the inbox", "rich-badge", 5, { inputmode: "numeric" })),
        labelled("Expires after", pick("expires", [["", "never"], ["60", "a minute"], ["3600", "an hour"], ["86400", "a day"]], draft.expires, "rich-expires")))),
    actions(
      h("button", { type: "submit", class: "tool-send", key: "send", "data-testid": "rich-send" }, draft.delay === "0" ? "Send" : "Send later"),
      smallButton(sealed ? "Copy command" : "Copy as curl", "copy", () => copyText(command(draft, sender(), audience()), sealed ? "The command" : "curl"), "rich-curl")),
    waiting.size > 0 && h("ul", { class: "waiting-list", key: "waiting" }, [...waiting].map(([number, item]) => waitingLine(number, item))));
}

function waitingLine(number, { title, due, stop, now }) {
  const seconds = Math.max(0, Math.ceil((due - Date.now()) / 1000));
  return h("li", { key: number, "data-testid": "rich-waiting" }, h("span", null, h("b", null, title), ` in ${seconds} s, while this page is open`),
    h("button", { type: "button", class: "text-button", onclick: now }, "Now"), h("button", { type: "button", class: "text-button", onclick: stop, "data-testid": "rich-waiting-stop" }, "Do not send"));
}

function content(kind) {
  if (CARRIES_FILE.has(kind)) {
    const named = draft.file?.name || (sampleOf(kind) ? `${sampleOf(kind).fileName}, which comes with the page` : "nothing yet");
    return [
      h("div", { class: "tool-field wide", key: "file" },
        h("span", { id: "rich-file-name" }, kindName(kind)),
        h("div", { class: "file-choice" },
          h("span", { "data-testid": "rich-file" }, named),
          h("button", { type: "button", class: "small-button", onclick: () => choose(kind), "aria-describedby": "rich-file-name", "data-testid": "rich-choose" }, icon("upload"), "Choose"))),
      kind !== "file" && labelled("Alternative text", text("altText", sampleOf(kind) && !draft.file ? sampleOf(kind).altText : "for users who cannot see or hear it", "rich-alt", 500), { wide: true }),
    ];
  }
  if (kind === "url") return labelled("Link", text("link", "https://", "rich-link", 2000, { type: "url", required: true }), { wide: true });
  if (kind === "coupon") {
    return [
      labelled("Code", text("code", "CLARION-20", "rich-code", 64, { required: true })), labelled("Valid until", h("input", { class: "box", type: "date", value: draft.validUntil, oninput: set("validUntil"), "data-testid": "rich-valid" })),
      labelled("For what", text("headline", "20 % off your next order", "rich-headline", 200, { required: true }), { wide: true }),
      labelled("Terms", text("terms", "none", "rich-terms", 2000), { wide: true }),
    ];
  }
  return null;
}

function change(some) {
  draft = { ...draft, ...some };
  changed();
}

function set(name) {
  return (event) => change({ [name]: event.target.value });
}

function text(name, placeholder, testID, maxlength = 400, more = {}) {
  return h("input", { class: "box", type: "text", value: draft[name], placeholder, maxlength: String(maxlength), oninput: set(name), autocomplete: "off", "data-testid": testID, ...more });
}

function pick(name, options, value, testID, disabled = false) {
  return h("select", { class: "box", value, onchange: set(name), disabled, "data-testid": testID }, options.map(([id, words]) => h("option", { value: id, key: id }, words)));
}

function use(template) {
  const { kind, title, message, link = "", coupon = {}, sealed = false } = template;
  const { from, to, expression, delay } = draft;
  draft = {
    ...EMPTY, from, to, expression, delay, kind, title, message, link, sealed, code: coupon.code || "", headline: coupon.headline || "", terms: coupon.terms || "",
  };
  changed();
}

async function askSamples() {
  samples = [];
  samples = (await call("/phone/samples")) || [];
  changed();
}

const sampleOf = (kind) => (samples || []).find((sample) => sample.kind === kind);

function choose(kind) {
  const input = document.createElement("input");
  input.type = "file";
  input.accept = ACCEPTED[kind];
  input.addEventListener("change", () => {
    const [file] = input.files;
    if (file) change({ file: { blob: file, name: file.name, type: file.type }, altText: "" });
  });
  input.click();
}

/** The bytes that go with a draft: the chosen file, else the page's own. */
async function fileOf({ kind, file }) {
  if (!CARRIES_FILE.has(kind)) return null;
  if (file) return file;
  const sample = sampleOf(kind);
  if (!sample) return null;
  const answer = await fetch(`/phone/samples/${encodeURIComponent(kind)}`);
  return answer.ok ? { blob: await answer.blob(), name: sample.fileName, type: sample.mediaType } : null;
}

/** The notification as the app backend takes it: what is empty is left out. */
function notification(each, to) {
  const { kind, title, subtitle, message, style, preview, collapseId, thread, badge, expires } = each;
  const request = { audience: to, message: message.trim(), kind };
  const optional = { title: title.trim(), subtitle: subtitle.trim(), style, collapseId, thread, altText: words(each) };
  for (const [name, value] of Object.entries(optional)) if (value) request[name] = value;
  if (preview === "open") request.preview = preview;
  if (/^\d+$/.test(badge)) request.badge = Number(badge);
  if (expires) request.expiresAt = Date.now() + Number(expires) * 1000;
  if (kind === "url") request.link = each.link.trim();
  if (kind === "coupon") request.coupon = couponOf(each);
  return request;
}

function words({ kind, altText, file }) {
  if (!CARRIES_FILE.has(kind) || kind === "file") return "";
  return altText.trim() || (file ? "" : sampleOf(kind)?.altText || "");
}

function couponOf({ code, headline, terms, validUntil }) {
  const coupon = { code: code.trim(), headline: headline.trim() };
  if (terms.trim()) coupon.terms = terms.trim();
  if (validUntil) coupon.validUntil = new Date(`${validUntil}T23:59:59`).getTime();
  return coupon;
}

function submit(event) {
  event.preventDefault();
  plan(draft, sender(), audience());
}

// "Later" is kept by this page: time to lock the phone before the push comes.
function plan(each, from, to) {
  if (each.delay === "0") {
    deliver(each, from, to);
    return;
  }
  lastWaiting += 1;
  const number = lastWaiting;
  const due = Date.now() + Number(each.delay) * 1000;
  const stop = () => {
    clearInterval(timer);
    waiting.delete(number);
    changed();
  };
  const now = () => {
    stop();
    deliver(each, from, to);
  };
  const timer = setInterval(() => (Date.now() >= due ? now() : changed()), 250);
  waiting.set(number, { title: each.title || each.message, due, stop, now });
  changed();
}

async function deliver(each, from, to) {
  const done = remember({
    title: each.title || each.message, to: to.replaceAll("username:", "").replaceAll(" || ", ", "),
    again: () => deliver(each, from, to),
    edit: () => {
      draft = each;
      showRich();
    },
    copies: [[each.sealed ? "command" : "curl", () => command(each, from, to)]],
  });
  try {
    const file = await fileOf(each);
    if (CARRIES_FILE.has(each.kind) && !file) return done("failed", "Choose a file first.");
    const answer = each.sealed ? await sendSealed(each, file, from, to) : await sendOpen(each, file, from, to);
    const result = answer.ok ? await answer.json() : null;
    if (result) return done("accepted", `Accepted as #${result.id}`, result.warnings, () => recall(result.id, from));
    done("failed", (await problemOf(answer)) || `Refused with ${answer.status}`);
  } catch {
    done("failed", "The backend does not answer.");
  }
}

/** Takes back what was sent. Resolves to `null`, or to the reason why not. */
async function recall(id, from) {
  try {
    const answer = await fetch(`/api/v1/notifications/${encodeURIComponent(id)}`, {
      method: "DELETE", credentials: "omit", headers: { Authorization: basic(from) },
    });
    return answer.ok ? null : (await problemOf(answer)) || `Not recalled: ${answer.status}`;
  } catch {
    return "Not recalled: the backend does not answer.";
  }
}

function sendOpen(each, file, from, to) {
  const headers = { Authorization: basic(from) };
  let body = JSON.stringify(notification(each, to));
  if (file) {
    const form = new FormData();
    form.append("notification", new Blob([body], { type: "application/json" }));
    form.append("content", file.blob, file.name);
    body = form;
  } else {
    headers["Content-Type"] = "application/json";
  }
  return fetch("/api/v1/notifications", { method: "POST", credentials: "omit", headers, body });
}

/** The users that an audience names, if it names only users: keys are wrapped for users, not for other tags. */
function usersOf(to) {
  const named = to.split("||").map((each) => /^\s*username:([A-Za-z0-9_@.-]+)\s*$/.exec(each)?.[1]);
  return named.every(Boolean) ? [...new Set(named)] : null;
}

const SEALED_AUDIENCE = "What is sealed names its users, as username:alice || username:bob, and no other tag.";

async function sendSealed(each, file, from, to) {
  const { kind, title, subtitle, message, style } = each;
  const users = usersOf(to);
  if (!users) return new Response(JSON.stringify({ detail: SEALED_AUDIENCE }), { status: 400 });
  const sealed = { sender: from, users, kind, message: message.trim() };
  const optional = { title: title.trim(), subtitle: subtitle.trim(), style, altText: words(each) };
  for (const [name, value] of Object.entries(optional)) if (value) sealed[name] = value;
  if (kind === "url") sealed.link = each.link.trim();
  if (kind === "coupon") sealed.coupon = couponOf(each);
  if (file) {
    if (file.blob.size > SEALED_LARGEST) return new Response('{"detail":"What is sealed here has at most 8 MB."}', { status: 413 });
    Object.assign(sealed, { fileName: file.name, content: await base64(file.blob) });
  }
  return fetch("/phone/notifications", { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(sealed) });
}

/** What sends the same from a terminal. */
function command(each, from, to) {
  const name = CARRIES_FILE.has(each.kind) ? each.file?.name || sampleOf(each.kind)?.fileName || "content" : null;
  if (each.sealed) return fetched(each, name) + sealedCommand(each, name, from, to);
  const request = JSON.stringify(notification(each, to));
  const lines = [`curl -u ${shellWord(`${from}:${from}`)}`];
  // A form takes a semicolon for the end of the value, so what it carries comes from a file of its own.
  if (name) lines.push(`-F ${shellWord("notification=<-;type=application/json")}`, `-F ${shellWord(`content=@${name}`)}`);
  else lines.push("-H 'Content-Type: application/json'", `--data-binary ${shellWord(request)}`);
  if (name) return `${fetched(each, name)}printf %s ${shellWord(request)} | ${[...lines, `${location.origin}/api/v1/notifications`].join(" \\\n  ")}`;
  return [...lines, `${location.origin}/api/v1/notifications`].join(" \\\n  ");
}

/** Gets the page's own content, which is on no other computer; a file that was chosen is where its owner has it. */
function fetched({ kind, file }, name) {
  return name && !file ? `curl -sSf -o ${shellWord(name)} ${location.origin}/phone/samples/${encodeURIComponent(kind)} &&\n` : "";
}

function sealedCommand(each, name, from, to) {
  const flag = { img: "picture", sound: "sound", video: "video", file: "file" }[each.kind];
  const users = usersOf(to);
  // Without names it would go to the sender's own devices.
  if (!users) return `# ${SEALED_AUDIENCE}`;
  const options = [
    ["server", location.origin], ["user", from], ["to", users.join(",")], ["message", each.message.trim()], ["title", each.title.trim()],
    ["subtitle", each.subtitle.trim()], ["style", each.style], [flag, flag && name], ["link", each.kind === "url" && each.link.trim()],
    ["coupon", each.kind === "coupon" && each.code.trim()], ["headline", each.kind === "coupon" && each.headline.trim()],
  ].filter(([option, value]) => option && value);
  return ["clarion send --seal", ...options.map(([option, value]) => `--${option} ${shellWord(value)}`)].join(" \\\n  ");
}
