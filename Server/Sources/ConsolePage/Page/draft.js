// A send that is being written: its parts, what it lacks, and what the API gets of it.
import { moment, localInput } from "./format.js";
import { TAG, emptyTranslation, filled, nameOf } from "./languages.js";
import { fault, groupsBody } from "./split.js";

export const KINDS = [["text", "Message", "text"], ["img", "Picture", "picture"], ["url", "Link", "link"], ["coupon", "Coupon", "coupon"], ["video", "Video", "video"], ["sound", "Sound", "sound"], ["file", "File", "file"]];
/** The kinds that need a file, and which files the browser offers for them. */
export const WITH_FILE = { img: "image/*", video: "video/*", sound: "audio/*", file: ".pdf,.txt" };
const HOUR_MILLISECONDS = 3_600_000;
const DAYS = ["SU", "MO", "TU", "WE", "TH", "FR", "SA"];

export function fresh() {
  return {
    kind: "text", title: "", subtitle: "", message: "", altText: "", link: "", coupon: { headline: "", code: "", terms: "" }, file: null,
    picture: null, style: "alert", preview: "open", badge: "", sound: "", thread: "", collapseId: "", expires: "", pace: "", quiet: "", cap: "", translations: [], ownLanguage: "", groups: [], splitKey: "",
    when: "now", clock: "zone", at: localInput(Date.now() + HOUR_MILLISECONDS), zone: Intl.DateTimeFormat().resolvedOptions().timeZone, repeat: "", rule: "",
  };
}

export const kindName = (draft) => KINDS.find(([kind]) => kind === draft.kind)[1];

/** What the person has to do before the draft can leave; `null` when nothing is missing. */
export function missing(draft) {
  if (!draft.message.trim()) return "Write a message first.";
  if (WITH_FILE[draft.kind] && !draft.file && !draft.uploaded) return `Choose the ${kindName(draft).toLowerCase()} first.`;
  if (draft.kind === "url" && !draft.link.trim()) return "Write the address of the link first.";
  if (draft.kind === "coupon" && !(draft.coupon.headline.trim() && draft.coupon.code.trim())) return "A coupon needs a headline and a code.";
  if (draft.translations.length && !TAG.test(draft.ownLanguage.trim())) return "Say which language the default text is in, such as en.";
  const isEmpty = (words) => !Object.keys(wordsBody(draft, words)).length;
  const empty = draft.translations.find(isEmpty);
  if (empty) return `Write the text in ${nameOf(empty)}, or remove the language.`;
  const group = draft.groups.find(({ words }) => words && isEmpty(words));
  if (group) return `Write the text of group ${group.name}, or give it the default text.`;
  return fault(draft);
}

/** What a language or a group has of its own, as `POST /api/v1/notifications` takes it. */
function wordsBody(draft, translation) {
  const body = {};
  for (const name of ["title", "subtitle", "message", "altText"]) if (translation[name].trim()) body[name] = translation[name];
  if (WITH_FILE[draft.kind] && (translation.file || translation.uploaded)) body.contentId = translation.uploaded?.id;
  if (draft.kind === "url" && translation.link.trim()) body.link = translation.link.trim();
  if (draft.kind === "coupon" && Object.values(translation.coupon).some((text) => text.trim())) body.coupon = couponBody(filled(draft.coupon, translation.coupon));
  return body;
}

const couponBody = (coupon) => Object.fromEntries(Object.entries(coupon).filter(([, text]) => text.trim()));

/** The language of the default text, as a translation in which everything is that of the send. */
function ownLanguage({ translations, ownLanguage: text }) {
  const language = text.trim();
  return translations.some((translation) => !translation.group && translation.language.toLowerCase() === language.toLowerCase()) ? [] : [{ language }];
}

/** The body of `POST /api/v1/notifications`. */
export function notification(draft, audience, contentId) {
  const body = { audience, message: draft.message, style: draft.style, preview: draft.preview };
  for (const name of ["title", "subtitle", "altText", "sound", "thread", "collapseId"]) if (draft[name].trim()) body[name] = draft[name];
  if (draft.badge !== "") body.badge = Number(draft.badge);
  if (draft.pace !== "") body.pushesPerSecond = Number(draft.pace);
  if (draft.quiet === "ignored") body.transactional = true;
  if (draft.cap.trim()) body.frequencyCap = draft.cap.trim();
  if (WITH_FILE[draft.kind]) body.contentId = contentId;
  if (draft.kind === "url") body.link = draft.link.trim();
  if (draft.kind === "coupon") body.coupon = couponBody(draft.coupon);
  if (draft.groups.length) body.split = groupsBody(draft);
  const translations = [
    ...draft.translations.map((translation) => ({ language: translation.language, ...(translation.group && { group: translation.group }), ...wordsBody(draft, translation) })),
    ...(draft.translations.length ? ownLanguage(draft) : []),
    ...draft.groups.filter(({ words }) => words).map(({ name, words }) => ({ group: name.trim(), ...wordsBody(draft, words) })),
  ];
  if (translations.length) body.translations = translations;
  if (draft.expires && draft.when === "now") body.expiresAt = Date.now() + Number(draft.expires) * HOUR_MILLISECONDS;
  return body;
}

/** The draft that a notification was made of. Its contents are at the server already. */
export function fromNotification(notification) {
  const draft = fresh();
  const texts = (from, into) => {
    for (const name of ["title", "subtitle", "message", "altText", "link"]) into[name] = from[name] ?? "";
    for (const name of Object.keys(into.coupon)) into.coupon[name] = from.coupon?.[name] ?? "";
    into.uploaded = from.contentId ? { id: from.contentId } : null;
    return into;
  };
  texts(notification, draft);
  draft.kind = notification.kind || (notification.link ? "url" : notification.coupon ? "coupon" : notification.contentId ? "img" : "text");
  for (const name of ["style", "preview", "sound", "thread", "collapseId"]) if (notification[name]) draft[name] = notification[name];
  if (!notification.preview) draft.preview = "neutral";
  if (notification.badge !== undefined) draft.badge = String(notification.badge);
  if (notification.pushesPerSecond) draft.pace = String(notification.pushesPerSecond);
  if (notification.transactional) draft.quiet = "ignored";
  draft.cap = notification.frequencyCap ?? "";
  const all = notification.translations || [];
  const own = all.find((translation) => translation.language && Object.keys(translation).length === 1);
  draft.ownLanguage = own?.language ?? "";
  draft.translations = all.filter((translation) => translation.language && translation !== own)
    .map((translation) => texts(translation, { ...emptyTranslation(), language: translation.language, group: translation.group }));
  draft.splitKey = notification.split?.key ?? "";
  draft.groups = (notification.split?.groups || []).map(({ name, percent }) => {
    const translation = all.find(({ language, group }) => group === name && !language);
    return { name, percent: String(percent), words: translation ? texts(translation, emptyTranslation()) : null };
  });
  return draft;
}

/** Its rules of repetition, by the day and date of the first time. */
export function repeats(draft) {
  const date = new Date(draft.at);
  const day = DAYS[Number.isNaN(date.getDay()) ? 1 : date.getDay()];
  return [["", "every day"], ["FREQ=WEEKLY;BYDAY=MO,TU,WE,TH,FR", "every day from Monday to Friday"], [`FREQ=WEEKLY;BYDAY=${day}`, "every week on this day"],
    [`FREQ=MONTHLY;BYMONTHDAY=${date.getDate() || 1}`, "every month on this date"], ["rule", "custom rule"]];
}

/** When it is due, as `POST /api/v1/schedules` takes it. */
export function timing(draft) {
  const timing = draft.clock === "device" ? { localTime: draft.at, timeZone: "device", fallbackTimeZone: draft.zone } : { localTime: draft.at, timeZone: draft.zone };
  if (draft.when === "repeat") timing.repeat = draft.repeat === "rule" ? draft.rule.trim() : draft.repeat || "FREQ=DAILY";
  if (draft.expires) timing.expiresAfterSeconds = Number(draft.expires) * 3600;
  return timing;
}

export function whenText(draft) {
  if (draft.when === "now") return "now";
  const { localTime, timeZone, repeat } = timing(draft);
  return `${moment(new Date(localTime))} ${timeZone === "device" ? "on the clock of each device" : `on the clocks of ${timeZone}`}${repeat ? `, ${repeat}` : ""}`;
}
