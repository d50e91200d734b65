// Who gets a send: people, tags or an expression, with a live count.
import { h } from "./dom.js";
import { call, may, session } from "./api.js";
import { choices } from "./choices.js";
import { field, input } from "./parts.js";
import { plural } from "./format.js";

const PAUSE_MILLISECONDS = 600;
const WAYS = [["people", "People"], ["tags", "Tags"], ["expression", "Expression"]];

/** The choice of an audience. `onChange` is called with every change. */
export function audience(start, onChange) {
  const state = { way: start ? "expression" : "people", people: "", tags: "", join: "any", without: "", expression: start || "", count: null };
  let timer = null;
  let asked = 0;

  const words = (text) => text.split(/[\s,]+/).filter(Boolean);

  function value() {
    if (state.way === "expression") return state.expression.trim() || undefined;
    if (state.way === "people") return words(state.people).map((name) => `username:${name}`).join(" || ") || undefined;
    const wanted = words(state.tags).join(state.join === "all" ? " && " : " || ");
    const without = words(state.without).map((tag) => `!${tag}`).join(" && ");
    if (wanted && without) return `(${wanted}) && ${without}`;
    return wanted || without || undefined;
  }

  function changed() {
    state.count = null;
    clearTimeout(timer);
    if (value() && may("count-an-audience")) timer = setTimeout(recount, PAUSE_MILLISECONDS);
    onChange();
  }

  async function recount() {
    asked += 1;
    const number = asked;
    const question = value();
    let count;
    try {
      count = await call("POST", "/audiences/count", { body: { audience: question } });
    } catch (error) {
      count = { error };
    }
    if (number !== asked || question !== value()) return;
    state.count = count;
    onChange();
  }

  const bind = (name) => ({
    value: state[name], name, oninput: (event) => {
      state[name] = event.target.value;
      changed();
    },
  });

  function countLine() {
    if (!value()) return "No audience yet.";
    if (!state.count) return may("count-an-audience") ? "Counting …" : "";
    if (state.count.error) return state.count.error.message;
    const reached = plural(state.count.targets, "device");
    return state.count.complete ? `Reaches ${reached} now.` : `Reaches at least ${reached} now.`;
  }

  if (start) changed();
  return {
    value,
    get count() { return state.count; },
    view: () => (may("send") ? [
      choices("How the audience is chosen", { class: "segments" }, WAYS.map(([way, label]) => ({
        key: way, isTaken: state.way === way, content: label, properties: { "data-testid": `audience-${way}` }, take: () => {
          if (way === "expression" && value()) state.expression = value();
          state.way = way;
          changed();
        },
      }))),
      state.way === "people" && field("Names", input({ ...bind("people"), key: "people" }), "Separate names with spaces."),
      state.way === "tags" && [
        field("Tags", input({ ...bind("tags"), key: "tags" }), "Separate tags with spaces."),
        choices("Which of the tags", { class: "segments small" }, [["any", "any of them"], ["all", "all of them"]].map(([join, label]) => ({
          key: join, isTaken: state.join === join, content: label, properties: {}, take: () => {
            state.join = join;
            changed();
          },
        }))),
        field("Excluded tags", input({ ...bind("without"), key: "without" })),
      ],
      state.way === "expression" && field("Tag expression", input({ ...bind("expression"), key: "expression" }), "With &&, ||, ! and brackets, such as news && !beta."),
      h("p", { class: `count ${state.count?.error ? "bad" : ""}`, role: "status", "data-testid": "count" }, countLine()),
      state.way !== "expression" && value() && h("p", { class: "hint" }, h("code", null, value())),
    ] : h("p", null, `Your role ${session.user.role} sends to your own devices.`)),
  };
}
