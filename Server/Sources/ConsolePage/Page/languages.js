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

/** How a translation is called while it is written: by its language, and by its group if it is for one alone. */
const keyOf = ({ language, group }) => (group ? `${language}@${group}` : language);

/** The same for the reader. */
export const nameOf = ({ language, group }) => (group ? `${languageName(language)}, group ${group}` : languageName(language));

/** What the fields of the page change: the send, what it is in one language, or what one group gets. */
export function written({ draft, language }) {
  if (language.startsWith("@")) return draft.groups[Number(language.slice(1))]?.words || draft;
  return draft.translations.find((translation) => keyOf(translation) === language) || draft;
}

/** What devices in the language that is written get. */
export function translated(state) {
  const own = written(state);
  if (own === state.draft) return own;
  const texts = Object.fromEntries(["title", "subtitle", "message", "altText", "link", "picture"].filter((name) => own[name]).map((name) => [name, own[name]]));
  return { ...state.draft, ...texts, coupon: filled(state.draft.coupon, own.coupon) };
}

/** The one with what the other has to say in place of it. */
export const filled = (one, other) => ({ ...one, ...Object.fromEntries(Object.entries(other).filter(([, text]) => text.trim())) });

/** Which of several texts is written. */
export function texts(state) {
  const { draft, redraw } = state;
  const groups = draft.groups.map(({ name, words }, index) => words && { key: `@${index}`, name: `Group ${name}` }).filter(Boolean);
  const all = [{ key: "", name: "Default" }, ...draft.translations.map((translation) => ({ key: keyOf(translation), name: nameOf(translation) })), ...groups];
  if (all.length < 2) return null;
  return h("div", { key: "texts" },
    choices("Which text you write", { class: "segments" }, all.map(({ key, name }) => ({
      key: key || "default", isTaken: state.language === key, content: name, properties: { "data-testid": `language-${key || "default"}` }, take: () => {
        state.language = key;
        redraw();
      },
    }))),
    state.language && h("p", { class: "note" }, "Fields that you leave empty are those of the default text."));
}

/** How languages come and go. */
export function languages(state) {
  const { draft, redraw } = state;
  const take = (language) => {
    state.language = language;
    redraw();
  };
  const add = (event) => {
    event?.preventDefault();
    const tag = state.newLanguage.trim().replaceAll("_", "-");
    const isKnown = draft.translations.some((translation) => keyOf(translation).toLowerCase() === tag.toLowerCase());
    state.languageError = !TAG.test(tag) ? "Write a language tag, such as sv or pt-BR." : isKnown ? "This language is there already." : null;
    if (state.languageError) return redraw();
    draft.translations.push({ ...emptyTranslation(), language: tag });
    state.newLanguage = "";
    return take(tag);
  };
  const remove = () => {
    draft.translations = draft.translations.filter((translation) => keyOf(translation) !== state.language);
    take("");
  };
  // Without a language the reader opens and closes it.
  return h("details", { class: "more", key: "languages", ...(draft.translations.length > 0 && { open: true }) }, h("summary", null, "Languages"),
    draft.translations.length > 0 && field("Language of the default text", input({
      name: "own-language", list: "languages", maxlength: "35", value: draft.ownLanguage, oninput: (event) => {
        draft.ownLanguage = event.target.value;
        redraw();
      },
    }), "A device whose user prefers it gets the default text, whichever other languages they speak."),
    state.language && !state.language.startsWith("@") && button("Remove this language", { onclick: remove }),
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
