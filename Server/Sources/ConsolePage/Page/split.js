// The groups of an A/B test. A group has the text of the send, or one of its own.
import { h } from "./dom.js";
import { emptyTranslation } from "./languages.js";
import { button, field, input } from "./parts.js";

const LIMIT = 10;

/** All texts of a draft: its own, and those of languages and groups. */
export const allWords = (draft) => [draft, ...draft.translations, ...draft.groups.map(({ words }) => words).filter(Boolean)];

const total = (draft) => draft.groups.reduce((sum, { percent }) => sum + Number(percent || 0), 0);

/** What is wrong with the groups; `null` for nothing. */
export function fault(draft) {
  const names = draft.groups.map(({ name }) => name.trim());
  if (!names.every((name) => /^[A-Za-z0-9_-]{1,32}$/.test(name))) return "A group has a name of letters, digits, hyphens and underscores.";
  if (new Set(names).size < names.length) return "Two groups have the same name.";
  if (!draft.groups.every(({ percent }) => /^[0-9]{1,3}$/.test(percent) && Number(percent) >= 1)) return "Each group has at least 1 percent.";
  if (total(draft) > 100) return "The groups have more than 100 percent together.";
  return null;
}

/** The groups as the API takes them. */
export const groupsBody = (draft) => ({ ...(draft.splitKey && { key: draft.splitKey }), groups: draft.groups.map(({ name, percent }) => ({ name: name.trim(), percent: Number(percent) })) });

export function split(state) {
  const { draft, redraw } = state;
  const rest = 100 - total(draft);
  const add = () => {
    if (!draft.groups.length) draft.groups.push({ name: "A", percent: "50", words: null }, { name: "B", percent: "50", words: emptyTranslation() });
    else draft.groups.push({ name: String.fromCharCode(65 + draft.groups.length), percent: String(Math.max(1, rest)), words: emptyTranslation() });
    state.language = `@${draft.groups.length - 1}`;
    redraw();
  };
  const change = (index, changes) => {
    Object.assign(draft.groups[index], changes);
    if (!draft.groups[index].words && state.language === `@${index}`) state.language = "";
    redraw();
  };
  const remove = (index) => {
    draft.groups.splice(index, 1);
    state.language = "";
    redraw();
  };
  const row = (group, index) => h("div", { class: "group-row", key: index },
    field("Group", input({ name: `group-${index}`, maxlength: "32", value: group.name, oninput: (event) => change(index, { name: event.target.value }) })),
    field("Percent of the users", input({
      name: `percent-${index}`, type: "number", min: "1", max: "100", value: group.percent, oninput: (event) => change(index, { percent: event.target.value }),
    })),
    h("label", { class: "check" }, h("input", {
      type: "checkbox", checked: Boolean(group.words), "data-testid": `own-text-${index}`, onchange: (event) => change(index, { words: event.target.checked ? emptyTranslation() : null }),
    }), h("span", null, "Own text")),
    button("Remove", { onclick: () => remove(index), "aria-label": `Remove group ${group.name}` }));
  return h("details", { class: "more", key: "split", ...(draft.groups.length > 0 && { open: true }) }, h("summary", null, "A/B test"),
    h("p", { class: "hint" }, "Chance puts each user into a group. The page of the send counts for each group how many opened it."),
    draft.groups.map(row),
    draft.groups.length > 0 && rest > 0 && h("p", { class: "note" }, `The other ${rest} percent get the default text.`),
    draft.groups.length < LIMIT && button(draft.groups.length ? "Add a group" : "Divide the users", { onclick: add, "data-testid": "add-group" }));
}
