// Writing a send: what, to whom, when; a test first, and a question with the number of devices before it leaves.
import { h } from "./dom.js";
import { call, may, session } from "./api.js";
import { audience } from "./audience.js";
import { choices } from "./choices.js";
import { ask } from "./dialog.js";
import { KINDS, WITH_FILE, fresh, kindName, missing, notification, repeats, timing, whenText } from "./draft.js";
import { icon } from "./icons.js";
import { languages, nameOf, texts, translated, written } from "./languages.js";
import { button, card, facts, field, heading, input, problem, select } from "./parts.js";
import { preview } from "./preview.js";
import { go } from "./route.js";
import { allWords, split } from "./split.js";
import { toast } from "./toast.js";
import { bytes, count } from "./format.js";

/** From so many devices on, the number has to be typed. */
const TYPED_FROM = 1000;

/** The draft of this page, so that a look at another screen loses nothing. */
let kept = null;

/** Writes this draft next; `template` is the one that it is to change. */
export function write(draft, template) {
  kept = draft;
  if (template) [kept.templateName, kept.templateVersion, kept.defaults] = [template.name, template.versions?.[0] ?? template.version, template.defaults];
}

export function compose(route, redraw) {
  kept = kept || fresh();
  const state = {
    draft: kept, view: "lock", error: null, isBusy: false, testName: session.user.user, idempotencyKey: crypto.randomUUID(), redraw,
    language: "", newLanguage: "", languageError: null,
  };
  const target = audience(route.query.audience, redraw);
  const startOver = () => {
    state.draft = kept = fresh();
    state.language = "";
    redraw();
  };
  return {
    title: "Compose",
    view: () => [
      heading("Compose", button("Start over", { onclick: startOver })),
      h("div", { class: "compose", key: "compose" }, h("div", { class: "compose-form" }, form(state, target)), h("div", { class: "compose-side" }, side(state, target))),
    ],
  };
}

/** The properties of a control for one part of the draft. */
const bind = ({ draft, redraw }, name, owner = draft) => ({
  value: owner[name], name, oninput: (event) => {
    owner[name] = event.target.value;
    redraw();
  },
});

function form(state, target) {
  const words = written(state);
  return [
    card("What", { key: "what" },
      choices("Kind", { class: "kinds" }, KINDS.map(([kind, label, symbol]) => ({
        key: kind, isTaken: state.draft.kind === kind, content: [icon(symbol), h("span", null, label)], properties: { class: "kind", "data-testid": `kind-${kind}` },
        take: () => takeKind(state, kind),
      }))),
      languages(state),
      split(state),
      texts(state),
      field("Title", input({ ...bind(state, "title", words), maxlength: "200" })),
      field("Subtitle", input({ ...bind(state, "subtitle", words), maxlength: "200" })),
      field("Message", h("textarea", { ...bind(state, "message", words), class: "input", rows: "3", maxlength: "2000" })),
      content(state, words)),
    card("Audience", { key: "whom" }, target.view()),
    card("When", { key: "when" }, when(state)),
    card(null, { key: "more" }, options(state)),
  ];
}

function side(state, target) {
  const show = (view) => {
    state.view = view;
    state.redraw();
  };
  const isBusy = state.isBusy || undefined;
  return [
    preview(translated(state), state.view, show),
    card(null, { class: "send-card" },
      state.error && problem(state.error),
      may("send") && h("div", { class: "test-send" },
        field("Send a test to", input(bind(state, "testName", state))),
        button("Send a test", { onclick: () => attempt(state, () => sendTest(state)), disabled: isBusy, "data-testid": "send-test" })),
      button(state.draft.when === "now" ? "Send" : "Schedule", {
        kind: "primary", symbol: "send", onclick: () => attempt(state, () => submit(state, target)), disabled: isBusy, "data-testid": "send",
      }),
      may("change-message-templates") && button("Save as a template", { onclick: () => attempt(state, () => save(state)), disabled: isBusy, "data-testid": "save-template" })),
  ];
}

function takeKind(state, kind) {
  const { draft } = state;
  if (draft.kind !== kind) for (const words of allWords(draft)) [words.file, words.picture, words.uploaded] = [null, null, null];
  draft.kind = kind;
  state.redraw();
}

function takeFile(state, words, file) {
  if (!file) return;
  if (words.picture) URL.revokeObjectURL(words.picture);
  words.file = file;
  words.picture = file.type.startsWith("image/") ? URL.createObjectURL(file) : null;
  words.uploaded = null;
  state.redraw();
}

/** What the API gets. Uploads each file, once. */
async function request({ draft }, audienceText) {
  for (const words of allWords(draft)) {
    if (!WITH_FILE[draft.kind] || !words.file || words.uploaded) continue;
    const headers = { "Content-Type": words.file.type || "application/octet-stream", "X-File-Name": encodeURIComponent(words.file.name) };
    words.uploaded = await call("POST", "/content", { content: words.file, headers });
  }
  return notification(draft, audienceText, draft.uploaded?.id);
}

/** Does what sends, unless something is missing, and shows what goes wrong. */
async function attempt(state, work) {
  const lack = missing(state.draft);
  state.error = lack ? new Error(lack) : null;
  if (lack || state.isBusy) return state.redraw();
  state.isBusy = true;
  state.redraw();
  try {
    await work();
  } catch (error) {
    state.error = error;
  }
  state.isBusy = false;
  state.redraw();
}

async function sendTest(state) {
  const answer = await call("POST", "/notifications", { body: await request(state, `username:${state.testName.trim()}`) });
  // A content belongs to one send.
  for (const words of allWords(state.draft)) if (words.file) words.uploaded = null;
  toast(`The test is send #${answer.id}.`);
}

/** Keeps the draft under a name. Of a template that is changed the latest version has to be the one that was opened. */
async function save(state) {
  const { audience: _, expiresAt: __, ...notification } = await request(state, undefined);
  const { draft } = state;
  const form = { name: draft.templateName || "" };
  const result = await ask({
    title: "Save as a template", action: "Save",
    body: () => [
      field("Name", input({ name: "template-name", value: form.name, maxlength: "64", oninput: (event) => { form.name = event.target.value; } }), "Small letters, digits and -, such as order-shipped."),
      h("p", { class: "note" }, "In the texts, {{order}} is a place for the value order. Audience and time are not part of a template."),
    ],
    act: () => {
      const isSame = form.name === draft.templateName;
      return call("PUT", `/message-templates/${encodeURIComponent(form.name.trim())}`, { body: { notification, defaults: isSame ? draft.defaults : undefined, replaces: isSame ? draft.templateVersion : 0 } });
    },
  });
  if (!result) return;
  kept = null;
  go("templates", result.value.name);
}

async function submit(state, target) {
  const { draft } = state;
  const audienceText = target.value();
  if (may("send") && !audienceText) throw new Error("Choose an audience first.");
  const body = await request(state, audienceText);
  const number = target.count?.targets;
  const isNow = draft.when === "now";
  const headers = { "Idempotency-Key": state.idempotencyKey };
  const result = await ask({
    title: isNow ? "Send this?" : "Schedule this?", action: isNow ? "Send" : "Schedule", typed: number >= TYPED_FROM ? String(number) : undefined,
    body: () => [summary(draft, audienceText, target.count), number === 0 && h("p", { class: "note" }, "No device matches this audience now.")],
    act: async () => {
      try {
        return await (isNow
          ? call("POST", "/notifications", { body, headers })
          : call("POST", "/schedules", { body: { notification: body, ...timing(draft) }, headers }));
      } catch (error) {
        if (error.code !== "approval-required") throw error;
        return { refusal: error };
      }
    },
  });
  if (!result) return;
  if (result.value.refusal) return propose(state, body, result.value.refusal);
  kept = null;
  if (isNow) go("sends", result.value.id);
  else go("schedules");
}

/** Asks for the approval of another person. What was to leave now leaves when it is approved. */
async function propose(state, notification, refusal) {
  const { draft } = state;
  const result = await ask({
    title: "Ask for an approval?", action: "Ask for approval",
    body: () => [h("p", null, `${refusal.message}.`), h("p", { class: "note" }, "A sender or an administrator finds it on the page Schedules.")],
    act: () => call("POST", "/schedules", {
      body: { notification, ...(draft.when === "now" ? {} : timing(draft)), approval: true }, headers: { "Idempotency-Key": `${state.idempotencyKey}-approval` },
    }),
  });
  if (!result) return;
  kept = null;
  go("schedules");
}

const summary = (draft, audienceText, found) => facts([
  ["Audience", h("code", null, audienceText || "your own devices")],
  ["Devices now", found?.targets === undefined ? undefined : `${found.complete ? "" : "at least "}${count(found.targets)}`],
  ["When", whenText(draft)], ["Kind", kindName(draft)], ["Title", draft.title], ["Message", draft.message],
  ["Also in", draft.translations.map(nameOf).join(", ")],
  ["A/B test", draft.groups.map(({ name, percent }) => `${name} ${percent} %`).join(", ")],
  ["File", WITH_FILE[draft.kind] && fileName(draft)], ["Link", draft.kind === "url" && draft.link],
]);

const fileName = ({ file }) => (file ? `${file.name}, ${bytes(file.size)}` : "that of the template");

function content(state, words) {
  const { draft } = state;
  if (draft.kind === "url") return field("Address", input({ ...bind(state, "link", words), type: "url", placeholder: "https://" }));
  if (draft.kind === "coupon") {
    return h("div", { key: "coupon" }, ["headline", "code", "terms"].map((name) => field(name[0].toUpperCase() + name.slice(1), input(bind(state, name, words.coupon)))));
  }
  if (!WITH_FILE[draft.kind]) return null;
  return h("div", { key: `${draft.kind} ${state.language}` },
    field("File", h("input", { type: "file", class: "input", accept: WITH_FILE[draft.kind], name: "file", onchange: (event) => takeFile(state, words, event.target.files[0]) }),
      words.file || words.uploaded ? fileName(words) : "Metadata such as the location of a photo is removed."),
    field("Description", input({ ...bind(state, "altText", words), maxlength: "1000" }), "For people who cannot see or hear it."));
}

const zones = Intl.supportedValuesOf ? Intl.supportedValuesOf("timeZone") : [];

function when(state) {
  const { draft } = state;
  const isRepeated = draft.when === "repeat";
  return [
    choices("When it is sent", { class: "segments" }, [["now", "Now"], ["once", "Scheduled"], ["repeat", "Recurring"]].map(([name, label]) => ({
      key: name, isTaken: draft.when === name, content: label, properties: { "data-testid": `when-${name}` }, take: () => {
        draft.when = name;
        state.redraw();
      },
    }))),
    draft.when !== "now" && field(isRepeated ? "First time" : "Time", input({ ...bind(state, "at"), type: "datetime-local" })),
    draft.when !== "now" && field("Clock", choice(state, "clock", [["zone", "of one time zone"], ["device", "of each device"]]),
      draft.clock === "device" && "Each device gets it when its own clock shows the time. Where that has passed, it gets nothing."),
    draft.when !== "now" && field(draft.clock === "device" ? "Time zone of devices that report none" : "Time zone", input({ ...bind(state, "zone"), list: "zones" }),
      "A name such as Europe/Berlin. Daylight saving time is followed."),
    isRepeated && field("Repeat", choice(state, "repeat", repeats(draft))),
    isRepeated && draft.repeat === "rule" && field("Rule", input(bind(state, "rule")), "A rule of RFC 5545, such as FREQ=MONTHLY;BYDAY=1MO."),
    h("datalist", { id: "zones" }, zones.map((zone) => h("option", { value: zone, key: zone }))),
  ];
}

function choice(state, name, options) {
  const { oninput, ...properties } = bind(state, name);
  return select({ ...properties, onchange: oninput }, options);
}

const options = (state) => h("details", { class: "more" }, h("summary", null, "More options"),
  field("Delivery", choice(state, "style", [["alert", "notification"], ["both", "notification, and wake the app"], ["silent", "silent: wake the app only"]])),
  field("Text sent through Apple", choice(state, "preview", [["open", "the message"], ["neutral", "neutral text; the phone fetches the message"]])),
  field("Expires after (hours)", input({ ...bind(state, "expires"), type: "number", min: "1", max: "8784" }), "Devices that have not received it by then do not get it."),
  field("In quiet hours", choice(state, "quiet", [["", "wait until they end"], ["ignored", "send at once: it is transactional"]]), "If the server has quiet hours."),
  field("Frequency cap", input({ ...bind(state, "cap"), maxlength: "32" }), "A name from the setting frequency-caps. Who had as many sends as it allows gets no push."),
  field("Badge", input({ ...bind(state, "badge"), type: "number", min: "0", max: "99999" })), field("Sound", input(bind(state, "sound")), "A sound file of the app."),
  field("Group", input(bind(state, "thread"))), field("Collapse key", input(bind(state, "collapseId")), "A later send with the same key replaces this one on the phone."),
  field("Pushes per second, at most", input({ ...bind(state, "pace"), type: "number", min: "1", max: "100000" }), "Limits the load of the server that the content comes from."));
