// Long lists. Pages are fetched as the reader comes near the end, and only the rows in sight are in the document.
import { h } from "./dom.js";
import { button, empty, loading, problem } from "./parts.js";
import { count } from "./format.js";

const ROW_HEIGHT = 48;
/** How many rows beside those in sight are kept in the document. */
const MARGIN_ROWS = 30;
const MOST_EMPTY_PAGES = 20;

/** A list. `load(cursor)` returns `{ items, next }`, without `next` on the last page; `columns` are `{ name, cell, size, wide, end }`,
 * where `size` is `small`, `short` or `medium`, and those that are `wide` are left out on small screens; `key` names an item; `href` is where a row
 * leads. */
export function list({ label, load, columns, key, href, none, redraw }) {
  const state = { items: [], next: undefined, isOver: false, isLoading: false, error: null, first: 0, last: 2 * MARGIN_ROWS, begun: 0 };
  const node = { body: null };

  async function more() {
    if (state.isLoading || state.isOver) return;
    state.isLoading = true;
    const { begun } = state;
    try {
      // A page may be empty while there is another one.
      for (let tries = 0; tries < MOST_EMPTY_PAGES; tries += 1) {
        const page = await load(state.next);
        // The list began anew meanwhile, and this page does not follow on what is there now.
        if (state.begun !== begun) break;
        state.items.push(...page.items);
        state.next = page.next;
        state.isOver = page.next === undefined || page.next === null;
        if (page.items.length || state.isOver) break;
      }
      state.error = null;
    } catch (error) {
      state.error = error;
    }
    state.isLoading = false;
    redraw();
    look();
  }

  function look() {
    if (!node.body?.isConnected) return;
    const top = -node.body.getBoundingClientRect().top;
    const first = Math.max(0, Math.floor(top / ROW_HEIGHT) - MARGIN_ROWS);
    const last = Math.ceil((top + innerHeight) / ROW_HEIGHT) + MARGIN_ROWS;
    if (last >= state.items.length && !state.error) more();
    if (Math.abs(first - state.first) < MARGIN_ROWS / 2 && Math.abs(last - state.last) < MARGIN_ROWS / 2) return;
    [state.first, state.last] = [first, last];
    redraw();
  }

  let frame = 0;
  const onScroll = () => {
    cancelAnimationFrame(frame);
    frame = requestAnimationFrame(look);
  };
  addEventListener("scroll", onScroll, { passive: true });
  addEventListener("resize", onScroll);
  more();

  return {
    get items() { return state.items; },
    /** Fetches the first page again, for what has come since, and keeps the others. */
    async refresh() {
      if (state.isLoading) return;
      try {
        const page = await load(undefined);
        const fresh = new Map(page.items.map((item) => [key(item), item]));
        const known = new Set(state.items.map(key));
        const added = page.items.filter((item) => !known.has(key(item)));
        if (added.length === page.items.length) {
          // Nothing of it is known, so there may be more between it and what is: the list begins anew.
          [state.items, state.next, state.isOver] = [page.items, page.next, page.next === undefined || page.next === null];
          state.begun += 1;
        } else {
          state.items = [...added, ...state.items.map((item) => fresh.get(key(item)) || item)];
        }
        state.error = null;
      } catch (error) {
        state.error = error;
      }
      redraw();
    },
    close() {
      removeEventListener("scroll", onScroll);
      removeEventListener("resize", onScroll);
    },
    view: () => [
      state.items.length > 0 && table(),
      state.error && problem(state.error, more),
      state.isLoading && loading(),
      state.isOver && !state.items.length && empty(none),
      !state.isLoading && !state.error && (state.items.length > 0 || !state.isOver) && h("p", { class: "list-end", key: "end" },
        state.isOver ? `${count(state.items.length)} total` : button("Load more", { onclick: more })),
    ],
  };

  function table() {
    const first = Math.min(state.first, Math.max(0, state.items.length - 1));
    const rows = state.items.slice(first, state.last);
    const after = Math.max(0, state.items.length - first - rows.length);
    return h("table", { class: "list", key: "table", "aria-label": label, "aria-rowcount": state.isOver ? state.items.length + 1 : -1 },
      h("thead", null, h("tr", { "aria-rowindex": 1 }, columns.map((column) => h("th", { scope: "col", key: column.name, class: classOf(column) }, column.name)))),
      h("tbody", { created: (body) => { node.body = body; }, updated: (body) => { node.body = body; } },
        first > 0 && gap("before", first),
        rows.map((item, index) => row(item, first + index)),
        after > 0 && gap("after", after)));
  }

  function gap(name, rows) {
    return h("tr", { class: "gap", key: name, "aria-hidden": "true" },
      h("td", { colspan: columns.length, variables: { "--gap": `${rows * ROW_HEIGHT}px` } }));
  }

  function row(item, index) {
    const target = href?.(item);
    return h("tr", { key: key(item), "aria-rowindex": index + 2, "data-testid": "row" }, columns.map((column, place) => h("td", { key: column.name, class: classOf(column) },
      place === 0 && target ? h("a", { class: "row-link", href: target }, column.cell(item)) : column.cell(item))));
  }
}

const classOf = (column) => [column.wide && "wide", column.end && "end", column.size].filter(Boolean).join(" ") || undefined;
