// What was sent from beside the phones: again, edited, or as a command for elsewhere.
import { h } from "./dom.js";
import { icon } from "./icons.js";
import { changed } from "./state.js";
import { exactTime } from "./format.js";
import { copyText } from "./save.js";

const KEPT = 20;
let entries = [];
let last = 0;

/**
 * Begins an entry for something that is sent now. `again` sends it once more, `edit` puts it back into the form, and `copies` are
 * pairs of a name and a function that makes the text.
 */
export function remember({ title, to, again, edit, copies }) {
  last += 1;
  const entry = { number: last, at: Date.now(), title, to, again, edit, copies, state: "sending", words: "Sending…", warnings: [], recall: null };
  entries = [entry, ...entries].slice(0, KEPT);
  changed();
  return (state, words, warnings = [], recall = null) => {
    Object.assign(entry, { state, words, warnings, recall });
    changed();
  };
}

/** What became of the entry that was sent last; nothing before the first. */
export function lastAnswer() {
  const [entry] = entries;
  return entry && h("p", { class: `tool-answer sent-state ${entry.state}`, key: "answer", role: "status", "data-testid": "sent-answer" },
    h("b", null, entry.title), " ", entry.words);
}

async function recall(entry) {
  const take = entry.recall;
  Object.assign(entry, { recall: null, words: "Recalling…" });
  changed();
  const problem = await take();
  if (problem === null) Object.assign(entry, { state: "recalled", words: "Recalled. Its content is gone, and it leaves every inbox." });
  else Object.assign(entry, { recall: take, words: problem });
  changed();
}

export function sentList() {
  if (entries.length === 0) return null;
  return h("section", { class: "sent", key: "sent", "aria-label": "Sent from here" },
    h("h3", null, "Sent from here"),
    h("ol", null, entries.map(line)));
}

function line(entry) {
  return h("li", { class: "sent-line", key: entry.number, "data-testid": "sent-line", "data-state": entry.state, "data-number": String(entry.number) },
    h("div", { class: "sent-words" },
      h("b", null, entry.title), " ", h("span", null, `${exactTime(entry.at)} · to ${entry.to}`), " ",
      h("span", { class: `sent-state ${entry.state}` }, entry.words),
      entry.warnings.map((words) => h("span", { class: "sent-warning", role: "status", key: words, "data-testid": "sent-warning" }, words))),
    h("div", { class: "sent-actions" },
      tool("Send again", "refresh", entry.again, "sent-again"),
      entry.recall && tool("Recall", "trash", () => recall(entry), "sent-recall"),
      tool("Edit", "compose", entry.edit, "sent-edit"),
      entry.copies.map(([name, make]) => h("button", {
        type: "button", class: "text-button", key: name, onclick: async () => copyText(await make(), name), "aria-label": `Copy as ${name}`,
        "data-testid": `sent-copy-${name.replace(".", "")}`,
      }, name))));
}

function tool(title, drawing, run, testID) {
  return h("button", { type: "button", class: "round-button", "aria-label": title, title, onclick: run, key: testID, "data-testid": testID }, icon(drawing));
}
