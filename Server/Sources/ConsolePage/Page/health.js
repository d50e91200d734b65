// Whether the server can do its work.
import { h } from "./dom.js";
import { call, may, text } from "./api.js";
import { badge, card, heading, repeatedly, resource, time } from "./parts.js";
import { timeOfDay } from "./format.js";

/** The lines of `/readyz`: "ok storage", "failed apns: reason", "note text", and at the end "ready". */
export function readiness({ status, text: answer }) {
  const lines = answer.trim().split("\n").map((line) => {
    const [word, ...rest] = line.split(" ");
    const [name, ...reason] = rest.join(" ").split(": ");
    return { word, name, reason: reason.join(": "), text: rest.join(" ") };
  });
  return {
    isReady: status === 200, at: Date.now(),
    checks: lines.filter(({ word, name }) => ["ok", "failed"].includes(word) && name), notes: lines.filter(({ word, name }) => word === "note" && name),
  };
}

/** What there is to do now; `null` with a hub elsewhere, which does not say. */
export const workload = () => call("GET", "/workload").catch((error) => {
  if (error.status === 404) return null;
  throw error;
});

export function health(route, redraw) {
  const found = resource(async () => readiness(await text("/readyz")), redraw);
  const load = may("read-the-settings") ? resource(workload, redraw) : null;
  const stops = [repeatedly(found.reload, 5000), load && repeatedly(load.reload, 5000)].filter(Boolean);
  return {
    title: "Health", close: () => stops.forEach((stop) => stop()),
    view: () => [
      heading("Health"),
      found.view(({ isReady, checks, notes, at }) => [
        card(null, { key: "state" },
          h("p", { class: "state-line", role: "status" }, isReady ? badge("ready", "good") : badge("not ready", "bad"), " This node, checked at ", time(at, timeOfDay), ".")),
        card("Checks", { key: "checks" }, h("table", { class: "numbers", "aria-label": "Checks" },
          h("thead", null, h("tr", null, h("th", { scope: "col" }, "Part"), h("th", { scope: "col" }, "State"), h("th", { scope: "col" }, "Reason"))),
          h("tbody", null, checks.map(({ word, name, reason }) => h("tr", { key: name },
            h("th", { scope: "row" }, name), h("td", null, badge(word, word === "ok" ? "good" : "bad")), h("td", null, reason || "–")))))),
        notes.length > 0 && card("Notes", { key: "notes" }, h("ul", { class: "bullets" }, notes.map((note) => h("li", { key: note.text }, note.text)))),
        load?.value?.nodes && nodeCard(load.value.nodes),
        card("More", { key: "links" }, h("ul", { class: "bullets" },
          h("li", null, h("a", { href: "/docs/errors" }, "What errors mean")), h("li", null, h("a", { href: "/docs/outcomes" }, "What became of a push")),
          h("li", null, h("a", { href: "/docs/api" }, "The API, to read and to try")),
          h("li", null, "Metrics for Prometheus are on a listener of their own; the command ", h("code", null, "clarion doctor"), " looks at settings and storage."))),
      ]),
    ],
  };
}

const nodeCard = (nodes) => card(`Nodes (${nodes.length})`, { key: "nodes" }, h("table", { class: "numbers", "aria-label": "Nodes" },
  h("thead", null, h("tr", null, ["Name", "Role", "Version", "Running since"].map((name) => h("th", { scope: "col", key: name }, name)))),
  h("tbody", null, nodes.map((node) => h("tr", { key: node.name },
    h("th", { scope: "row" }, node.name), h("td", null, node.role), h("td", null, node.version), h("td", null, time(node.startedAt)))))));
