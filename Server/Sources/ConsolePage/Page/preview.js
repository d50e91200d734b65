// How a notification looks on a phone: on the lock screen, expanded, and opened in the app.
import { h } from "./dom.js";
import { choices } from "./choices.js";
import { icon, kindIcon } from "./icons.js";
import { count } from "./format.js";

const VIEWS = [["lock", "Lock screen"], ["expanded", "Expanded"], ["opened", "Opened"]];

/** The phone. `draft` has the words and `kind`, and for a picture `picture`, an address in this browser. */
export function preview(draft, view, setView) {
  return h("div", { class: "preview" },
    choices("What is shown of the notification", { class: "segments" }, VIEWS.map(([name, label]) => ({
      key: name, isTaken: view === name, content: label, properties: { "data-testid": `preview-${name}` }, take: () => setView(name),
    }))),
    h("div", { class: `device-frame ${view}`, role: "img", "aria-label": `${VIEWS.find(([name]) => name === view)[1]}: ${spoken(draft)}` },
      h("div", { class: "screen", "aria-hidden": "true" }, view === "opened" ? opened(draft) : locked(draft, view === "expanded"))));
}

const spoken = (draft) => [draft.title, draft.subtitle, draft.message].filter(Boolean).join(". ") || "no words yet";

function locked(draft, isExpanded) {
  if (draft.style === "silent") return h("p", { class: "silent" }, "Silent: the app is woken, and nothing is shown.");
  const isNeutral = draft.preview === "neutral";
  return [
    h("p", { class: "screen-clock" }, "9:41"),
    h("div", { class: "banner" },
      isExpanded && media(draft),
      h("div", { class: "banner-body" },
        h("span", { class: "app-icon" }, icon("bell")),
        h("div", { class: "banner-words" },
          draft.title && h("strong", null, draft.title),
          draft.subtitle && h("span", { class: "banner-subtitle" }, draft.subtitle),
          h("p", null, draft.message || "Your message")),
        !isExpanded && draft.picture && h("img", { class: "banner-thumb", src: draft.picture, alt: "" })),
      isExpanded && h("div", { class: "banner-actions" }, h("span", null, "More"), draft.kind === "url" && h("span", null, "Open link"))),
    isNeutral && h("p", { class: "screen-note" }, "Apple carries the neutral text; the phone fetches these words."),
  ];
}

function media(draft) {
  if (draft.picture) return h("img", { class: "banner-picture", src: draft.picture, alt: "" });
  if (draft.kind === "coupon") return coupon(draft);
  return ["video", "sound", "file", "url"].includes(draft.kind) && h("div", { class: "banner-media" }, icon(kindIcon(draft.kind)), host(draft));
}

const coupon = ({ coupon: { headline, code } }) => h("div", { class: "coupon" }, h("strong", null, headline || "Headline"), h("code", null, code || "CODE"));

function host({ link }) {
  try {
    return h("span", null, new URL(link).host);
  } catch {
    return null;
  }
}

function opened(draft) {
  return h("article", { class: "opened" },
    draft.picture && h("img", { class: "opened-picture", src: draft.picture, alt: "" }),
    draft.kind === "coupon" && [coupon(draft), draft.coupon.terms && h("p", { class: "terms" }, draft.coupon.terms)],
    ["video", "sound", "file"].includes(draft.kind) && h("div", { class: "banner-media" }, icon(kindIcon(draft.kind)), draft.fileName),
    draft.title && h("h3", null, draft.title),
    draft.subtitle && h("p", { class: "opened-subtitle" }, draft.subtitle),
    h("p", { class: "opened-text" }, draft.message || "Your message"),
    draft.kind === "url" && h("p", { class: "opened-link" }, icon("link"), host(draft)),
    draft.badge > 0 && h("p", { class: "terms" }, `Badge: ${count(draft.badge)}`));
}
