// The languages of a send that is being written. What a language leaves out is that of the send.
import { h } from "./dom.js";
import { choices } from "./choices.js";
import { button, field, input } from "./parts.js";

export const TAG = /^[A-Za-z0-9]{1,8}(-[A-Za-z0-9]{1,8})*$/;
const COMMON = ["ar", "cs", "da", "de", "el", "en", "es", "fi", "fr", "he", "hi", "hu", "id", "it", "ja", "ko", "nb", "nl", "pl", "pt-BR", "pt-PT", "ro", "ru", "sv", "th", "tr", "uk", "vi", "zh-Hans", "zh-Hant"];

/** The name of a language in the reader's own. */
export function languageName(tag) {
  try {
    return new Intl.DisplayNames(undefined, { type: "language" }).of(tag);
  } catch {
    return tag;
  }
}

export const emptyTranslation = () => ({ title: "", subtitle: "", message: "", altText: "", link: "", coupon: { headline: "", code: "", terms: "" }, file: null, picture: null });

/** What the fields of the page change: the send, or what it is in one language. */
export const written = ({ draft, language }) => draft.translations.find((translation) => translation.language === language) || draft;

/** What devices in the language that is written get. */
export function translated(state) {
  const own = written(state);
  if (own === state.draft) return own;
  const texts = Object.fromEntries(["title", "subtitle", "message", "altText", "link", "picture"].filter((name) => own[name]).map((name) => [name, own[name]]));
  return { ...state.draft, ...texts, coupon: filled(state.draft.coupon, own.coupon) };
}

/** The one with what the other has to say in place of it. */
export const filled = (one, other) => ({ ...one, ...Object.fromEntries(Object.entries(other).filter(([, text]) => text.trim())) });

/** Which language is written, and how others come and go. */
export function languages(state) {
  const { draft, redraw } = state;
  const take = (language) => {
    state.language = language;
    redraw();
  };
  const add = (event) => {
    event?.preventDefault();
    const tag = state.newLanguage.trim().replaceAll("_", "-");
    const isKnown = draft.translations.some(({ language }) => language.toLowerCase() === tag.toLowerCase());
    state.languageError = !TAG.test(tag) ? "Write a language tag, such as sv or pt-BR." : isKnown ? "This language is there already." : null;
    if (state.languageError) return redraw();
    draft.translations.push({ ...emptyTranslation(), language: tag });
    state.newLanguage = "";
    return take(tag);
  };
  const remove = () => {
    draft.translations = draft.translations.filter(({ language }) => language !== state.language);
    take("");
  };
  // Without a language the reader opens and closes it.
  return h("details", { class: "more", key: "languages", ...(draft.translations.length > 0 && { open: true }) }, h("summary", null, "Languages"),
    draft.translations.length > 0 && choices("Language of the texts", { class: "segments" }, ["", ...draft.translations.map(({ language }) => language)].map((language) => ({
      key: language || "default", isTaken: state.language === language, content: language ? languageName(language) : "Default", properties: { "data-testid": `language-${language || "default"}` },
      take: () => take(language),
    }))),
    draft.translations.length > 0 && field("Language of the default text", input({
      name: "own-language", list: "languages", maxlength: "35", value: draft.ownLanguage, oninput: (event) => {
        draft.ownLanguage = event.target.value;
        redraw();
      },
    }), "A device whose user prefers it gets the default text, whichever other languages they speak."),
    state.language && h("p", { class: "note" }, "Fields that you leave empty are those of the default text. ", button("Remove this language", { onclick: remove })),
    h("form", { class: "test-send", onsubmit: add },
      field("Add a language", input({
        name: "language", list: "languages", maxlength: "35", value: state.newLanguage, "aria-invalid": state.languageError ? "true" : undefined, oninput: (event) => {
          state.newLanguage = event.target.value;
          redraw();
        },
      }), state.languageError || "A tag such as sv or pt-BR. A device in another language gets the default text."),
      button("Add", { onclick: add, "data-testid": "add-language" })),
    h("datalist", { id: "languages" }, COMMON.map((tag) => h("option", { value: tag, key: tag }, languageName(tag)))));
}
