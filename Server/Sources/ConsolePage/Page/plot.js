// Bars over time.
import { h } from "./dom.js";
import { count } from "./format.js";

const [WIDTH, HEIGHT, FOOT] = [720, 180, 22];

/** A plot of stacked bars. `bars` are `{ label, title, parts }`, each part the height of a series; `series` are `{ name, tone }`. Who cannot see
 * it gets the same numbers as a table. */
export function bars(caption, series, bars) {
  const most = Math.max(1, ...bars.map(({ parts }) => parts.reduce((sum, part) => sum + part, 0)));
  const step = WIDTH / bars.length;
  const scale = (HEIGHT - FOOT - 8) / most;
  const stack = ({ title, parts }, index) => {
    let top = HEIGHT - FOOT;
    return h("g", { key: title }, h("title", null, `${title}: ${series.map(({ name }, place) => `${name} ${count(parts[place])}`).join(", ")}`),
      h("rect", { x: index * step, y: 0, width: step, height: HEIGHT - FOOT, class: "plot-hit" }),
      parts.map((part, place) => {
        top -= part * scale;
        return part > 0 && h("rect", {
          key: series[place].name, x: (index * step + step * 0.14).toFixed(1), y: top.toFixed(1), width: (step * 0.72).toFixed(1),
          height: Math.max(1, part * scale).toFixed(1), rx: 2, class: `plot-${series[place].tone}`,
        });
      }));
  };
  return h("figure", { class: "plot" },
    h("figcaption", null, caption, h("span", { class: "plot-key" }, series.map(({ name, tone }) => h("span", { key: name, class: `key-${tone}` }, name)))),
    h("svg", { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, "aria-hidden": "true" },
      h("line", { x1: 0, x2: WIDTH, y1: HEIGHT - FOOT, y2: HEIGHT - FOOT, class: "plot-line" }),
      h("text", { x: 2, y: 12, class: "plot-text" }, count(most)),
      bars.map(stack),
      bars.map(({ label }, index) => label && h("text", { key: `label ${index}`, x: index * step + step / 2, y: HEIGHT - 6, class: "plot-text", "text-anchor": "middle" }, label))),
    h("table", { class: "unseen" }, h("caption", null, caption),
      h("thead", null, h("tr", null, h("th", { scope: "col" }, "Time"), series.map(({ name }) => h("th", { scope: "col", key: name }, name)))),
      h("tbody", null, bars.filter(({ parts }) => parts.some(Boolean)).map(({ title, parts }) => h("tr", { key: title },
        h("th", { scope: "row" }, title), parts.map((part, place) => h("td", { key: series[place].name }, count(part))))))));
}
