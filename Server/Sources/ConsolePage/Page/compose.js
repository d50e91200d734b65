// Writing a send: what, to whom, when; a test first, and a question with the number of devices before it leaves.
import { h } from "./dom.js";
import { call, may, session } from "./api.js";
import { audience } from "./audience.js";
import { choices } from "./choices.js";
import { ask } from "./dialog.js";
import { icon } from "./icons.js";
import { button, card, facts, field, heading, input, problem, select } from "./parts.js";
import { preview } from "./preview.js";
import { go } from "./route.js";
import { toast } from "./toast.js";
import { bytes, count, localInput, moment } from "./format.js";

const KINDS = [["text", "Message", "text"], ["img", "Picture", "picture"], ["url", "Link", "link"], ["coupon", "Coupon", "coupon"], ["video", "Video", "video"], ["sound", "Sound", "sound"], ["file", "File", "file"]];
const WITH_FILE = { img: "image/*", video: "video/*", sound: "audio/*", file: ".pdf,.txt" };
/** From so many devices on, the number has to be typed. */
const TYPED_FROM = 1000;
const HOUR_MILLISECONDS = 3_600_000;
const DAYS = ["SU", "MO", "TU", "WE", "TH", "FR", "SA"];

/** The words of the latest draft in this page, so that a look at another screen loses nothing. */
let kept = null;

function fresh() {
  return {
    kind: "text", title: "", subtitle: "", message: "", altText: "", link: "", coupon: { headline: "", code: "", terms: "" }, file: null,
    picture: null, style: "alert", preview: "open", badge: "", sound: "", thread: "", collapseId: "", expires: "", pace: "",
    when: "now", at: localInput(Date.now() + HOUR_MILLISECONDS), zone: Intl.DateTimeFormat().resolvedOptions().timeZone, repeat: "", rule: "",
  };
}

export function compose(route, redraw) {
  kept = kept || fresh();
  const draft = kept;
  const state = { view: "lock", error: null, uploaded: null, isBusy: false, testName: session.user.user };
  const target = audience(route.query.audience, redraw);
  const set = (name) => (event) => {
    draft[name] = event.target.value;
    redraw();
  };
  const bind = (name) => ({ value: draft[name], name, oninput: set(name) });

  function take(file) {
    if (!file) return;
    if (draft.picture) URL.revokeObjectURL(draft.picture);
    draft.file = file;
    draft.picture = file.type.startsWith("image/") ? URL.createObjectURL(file) : null;
    state.uploaded = null;
    redraw();
  }

  /** What the API gets. Uploads the file, once. */
  async function notification(audienceText) {
    if (WITH_FILE[draft.kind] && draft.file && !state.uploaded) {
      const headers = { "Content-Type": draft.file.type || "application/octet-stream", "X-File-Name": encodeURIComponent(draft.file.name) };
      state.uploaded = await call("POST", "/content", { content: draft.file, headers });
    }
    const request = { audience: audienceText, message: draft.message, style: draft.style, preview: draft.preview };
    for (const name of ["title", "subtitle", "altText", "sound", "thread", "collapseId"]) if (draft[name].trim()) request[name] = draft[name];
    if (draft.badge !== "") request.badge = Number(draft.badge);
    if (draft.pace !== "") request.pushesPerSecond = Number(draft.pace);
    if (WITH_FILE[draft.kind]) request.contentId = state.uploaded?.id;
    if (draft.kind === "url") request.link = draft.link.trim();
    if (draft.kind === "coupon") request.coupon = Object.fromEntries(Object.entries(draft.coupon).filter(([, text]) => text.trim()));
    if (draft.expires && draft.when === "now") request.expiresAt = Date.now() + Number(draft.expires) * HOUR_MILLISECONDS;
    return request;
  }

  function missing() {
    if (!draft.message.trim()) return "Write a message first.";
    if (WITH_FILE[draft.kind] && !draft.file) return `Choose the ${KINDS.find(([kind]) => kind === draft.kind)[1].toLowerCase()} first.`;
    if (draft.kind === "url" && !draft.link.trim()) return "Write the address of the link first.";
    if (draft.kind === "coupon" && !(draft.coupon.headline.trim() && draft.coupon.code.trim())) return "A coupon needs a headline and a code.";
    return null;
  }

  async function attempt(work) {
    state.error = missing() ? new Error(missing()) : null;
    if (state.error || state.isBusy) return redraw();
    state.isBusy = true;
    redraw();
    try {
      await work();
    } catch (error) {
      state.error = error;
    }
    state.isBusy = false;
    redraw();
  }

  const test = () => attempt(async () => {
    const name = state.testName.trim();
    const answer = await call("POST", "/notifications", { body: await notification(name === session.user.user && !may("send") ? undefined : `username:${name}`) });
    // Sent contents are gone from the store of waiting ones.
    state.uploaded = null;
    toast(`The test is send #${answer.id}.`);
  });

  const submit = () => attempt(async () => {
    const text = target.value();
    if (may("send") && !text) throw new Error("Choose an audience first.");
    const number = target.count?.targets;
    const request = await notification(text);
    const result = await ask({
      title: draft.when === "now" ? "Send this?" : "Schedule this?", action: draft.when === "now" ? "Send" : "Schedule",
      typed: number >= TYPED_FROM ? String(number) : undefined,
      body: () => [
        facts([
          ["Audience", h("code", null, text || "your own devices")],
          ["Devices now", number === undefined ? undefined : `${target.count.complete ? "" : "at least "}${count(number)}`],
          ["When", whenText(draft)], ["Kind", KINDS.find(([kind]) => kind === draft.kind)[1]], ["Title", draft.title], ["Message", draft.message],
          ["File", draft.file && WITH_FILE[draft.kind] && `${draft.file.name}, ${bytes(draft.file.size)}`], ["Link", draft.kind === "url" && draft.link],
        ]),
        number === 0 && h("p", { class: "note" }, "No device is in this audience now."),
      ],
      act: () => (draft.when === "now"
        ? call("POST", "/notifications", { body: request, headers: { "Idempotency-Key": idempotencyKey } })
        : call("POST", "/schedules", { body: { notification: request, ...timing(draft) }, headers: { "Idempotency-Key": idempotencyKey } })),
    });
    if (!result) return;
    kept = null;
    if (draft.when === "now") go("sends", result.value.id);
    else go("schedules");
  });
  const idempotencyKey = crypto.randomUUID();

  return {
    title: "Compose",
    view: () => [
      heading("Compose", button("Start over", {
        onclick: () => {
          kept = fresh();
          Object.assign(draft, kept);
          kept = draft;
          state.uploaded = null;
          redraw();
        },
      })),
      h("div", { class: "compose", key: "compose" },
        h("div", { class: "compose-form" },
          card("What", { key: "what" },
            choices("Kind", { class: "kinds" }, KINDS.map(([kind, label, symbol]) => ({
              key: kind, isTaken: draft.kind === kind, content: [icon(symbol), h("span", null, label)], properties: { class: "kind", "data-testid": `kind-${kind}` },
              take: () => {
                if (draft.kind !== kind) [draft.file, draft.picture, state.uploaded] = [null, null, null];
                draft.kind = kind;
                redraw();
              },
            }))),
            field("Title", input({ ...bind("title"), maxlength: "200" })),
            field("Subtitle", input({ ...bind("subtitle"), maxlength: "200" })),
            field("Message", h("textarea", { ...bind("message"), class: "input", rows: "3", maxlength: "2000" })),
            content(draft, bind, take, redraw)),
          card("To whom", { key: "whom" }, target.view()),
          card("When", { key: "when" }, when(draft, bind, redraw)),
          card(null, { key: "more" }, options(bind, draft))),
        h("div", { class: "compose-side" },
          preview(draft, state.view, (view) => {
            state.view = view;
            redraw();
          }),
          card(null, { class: "send-card" },
            state.error && problem(state.error),
            may("send") && h("div", { class: "test-send" },
              field("Send a test to", input({ value: state.testName, name: "test", oninput: (event) => { state.testName = event.target.value; } })),
              button("Send a test", { onclick: test, disabled: state.isBusy || undefined, "data-testid": "send-test" })),
            button(draft.when === "now" ? "Send" : "Schedule", { kind: "primary", symbol: "send", onclick: submit, disabled: state.isBusy || undefined, "data-testid": "send" })))),
    ],
  };
}

function content(draft, bind, take, redraw) {
  const coupon = (name) => ({
    value: draft.coupon[name], name: `coupon-${name}`, oninput: (event) => {
      draft.coupon[name] = event.target.value;
      redraw();
    },
  });
  if (draft.kind === "url") return field("Address", input({ ...bind("link"), type: "url", placeholder: "https://" }));
  if (draft.kind === "coupon") {
    return h("div", { key: "coupon" }, field("Headline", input(coupon("headline"))), field("Code", input(coupon("code"))), field("Terms", input(coupon("terms"))));
  }
  if (!WITH_FILE[draft.kind]) return null;
  return h("div", { key: draft.kind },
    field("File", h("input", { type: "file", class: "input", accept: WITH_FILE[draft.kind], name: "file", onchange: (event) => take(event.target.files[0]) }),
      draft.file ? `${draft.file.name}, ${bytes(draft.file.size)}` : "Metadata such as the place of a photo is removed."),
    field("Description", input({ ...bind("altText"), maxlength: "1000" }), "For people who cannot see or hear it."));
}

function when(draft, bind, redraw) {
  const take = (name) => () => {
    draft.when = name;
    redraw();
  };
  return [
    choices("When it is sent", { class: "segments" }, [["now", "Now"], ["once", "At a time"], ["repeat", "Again and again"]].map(([name, label]) => ({
      key: name, isTaken: draft.when === name, content: label, properties: { "data-testid": `when-${name}` }, take: take(name),
    }))),
    draft.when !== "now" && field(draft.when === "repeat" ? "First time" : "Time", input({ ...bind("at"), type: "datetime-local" })),
    draft.when !== "now" && field("Time zone", input({ ...bind("zone"), list: "zones" }), "A name such as Europe/Berlin. Clocks that are set are followed."),
    draft.when === "repeat" && field("Repeat", select({ ...bind("repeat"), onchange: bind("repeat").oninput }, repeats(draft))),
    draft.when === "repeat" && draft.repeat === "rule" && field("Rule", input(bind("rule")), "A rule of RFC 5545, such as FREQ=MONTHLY;BYDAY=1MO."),
    h("datalist", { id: "zones" }, zones.map((zone) => h("option", { value: zone, key: zone }))),
  ];
}

const zones = Intl.supportedValuesOf ? Intl.supportedValuesOf("timeZone") : [];

function repeats(draft) {
  const date = new Date(draft.at);
  const day = DAYS[Number.isNaN(date.getDay()) ? 1 : date.getDay()];
  return [["", "every day"], [`FREQ=WEEKLY;BYDAY=MO,TU,WE,TH,FR`, "every day from Monday to Friday"], [`FREQ=WEEKLY;BYDAY=${day}`, "every week on this day"],
    [`FREQ=MONTHLY;BYMONTHDAY=${date.getDate() || 1}`, "every month on this date"], ["rule", "by a rule"]];
}

function timing(draft) {
  const timing = { localTime: draft.at, timeZone: draft.zone };
  if (draft.when === "repeat") timing.repeat = draft.repeat === "rule" ? draft.rule.trim() : draft.repeat || "FREQ=DAILY";
  if (draft.expires) timing.expiresAfterSeconds = Number(draft.expires) * 3600;
  return timing;
}

function whenText(draft) {
  if (draft.when === "now") return "now";
  const { localTime, timeZone, repeat } = timing(draft);
  return `${moment(new Date(localTime))} on the clocks of ${timeZone}${repeat ? `, ${repeat}` : ""}`;
}

const options = (bind, draft) => h("details", { class: "more" }, h("summary", null, "More options"),
  field("Delivery", select({ value: draft.style, name: "style", onchange: bind("style").oninput }, [["alert", "shown"], ["both", "shown, and the app is woken"], ["silent", "silent: the app alone is woken"]])),
  field("Words on the way", select({ value: draft.preview, name: "preview", onchange: bind("preview").oninput }, [["open", "Apple carries the words"], ["neutral", "neutral text; the phone fetches the words"]])),
  field("Ends after hours", input({ ...bind("expires"), type: "number", min: "1", max: "8784" }), "Who has not got it by then does not get it."),
  field("Badge", input({ ...bind("badge"), type: "number", min: "0", max: "99999" })), field("Sound", input(bind("sound")), "A sound file of the app."),
  field("Group", input(bind("thread"))), field("Replaces sends with this key", input(bind("collapseId"))),
  field("At most pushes a second", input({ ...bind("pace"), type: "number", min: "1", max: "100000" }), "To protect what the audience fetches its content from."));
