// The screen that "More" opens: one view for every kind of content, and for content that is not there (yet).
import { h } from "./dom.js";
import { icon, kindIcon, kindName } from "./icons.js";
import { changed } from "./state.js";
import { dateLine, hostOf } from "./format.js";
import { toast } from "./toast.js";
import { soundPlayer } from "./player.js";
import { spinner } from "./app.js";

export function contentScreen(phone, content) {
  const behind = phone.view.zoomed || phone.view.linkConfirm;
  return [
    h("header", { class: "nav-bar", key: "nav", inert: behind },
      h("button", { class: "nav-back", type: "button", onclick: () => phone.act("closeContent"), "data-testid": "content-back" },
        icon("back"), h("span", null, "Inbox")),
      h("h2", { class: "nav-title" }, kindName(content.kind))),
    h("div", { class: `content-body kind-${content.kind}`, key: content.richId, inert: behind, "data-testid": "content", "data-kind": content.kind, "data-state": content.state },
      body(phone, content)),
    linkDialog(phone, content),
    zoom(phone, content),
  ];
}

function body(phone, content) {
  switch (content.state) {
    case "loading": return [loading(content), words(content)];
    case "missing": return [missing(phone, content), words(content)];
    case "failed": return [failed(phone, content), words(content)];
    default: return [ready(phone, content), content.kind !== "text" && words(content)];
  }
}

function words(content) {
  return h("div", { class: "content-words", key: "words" },
    content.title && h("h3", { "data-testid": "content-title" }, content.title),
    subtitle(content),
    h("p", { "data-testid": "content-message" }, content.message),
    content.sealed && h("p", { class: "content-sealed", key: "sealed", "data-testid": "content-sealed" }, icon("lock"),
      "Sealed by its sender for this phone. The server keeps what it cannot read."),
    content.kind !== "text" && h("p", { class: "content-origin", key: "origin" }, icon("lock"),
      `The ${kindName(content.kind).toLowerCase()} never went through the push. The push named number `,
      h("b", null, String(content.richId)), ", and the phone fetches what that stands for itself."));
}

function subtitle(content) {
  return content.subtitle && h("p", { class: "content-subtitle", key: "subtitle", "data-testid": "content-subtitle" }, content.subtitle);
}

function loading(content) {
  return h("div", { class: "placeholder shimmer", key: "loading", role: "status", "data-testid": "content-loading" },
    spinner("Fetching"), h("p", null, `Fetching the ${kindName(content.kind).toLowerCase()}…`));
}

function missing(phone, content) {
  const offline = phone.snapshot.network === "offline";
  return h("div", { class: "placeholder", key: "missing", "data-testid": "content-missing" },
    icon("cloud"), h("h3", null, "Not downloaded yet"),
    h("p", null, offline ? "The phone is offline. It fetches the content when it has a network again." : "The phone has not fetched it so far."),
    h("button", { class: "tinted", type: "button", disabled: offline, onclick: () => phone.act("openInbox", { richId: content.richId }) }, "Fetch now"));
}

function failed(phone, content) {
  return h("div", { class: "placeholder", key: "failed", role: "alert", "data-testid": "content-failed" },
    icon("close"), h("h3", null, "It could not be fetched"), h("p", null, content.error || "The server did not give it."),
    h("button", { class: "tinted", type: "button", onclick: () => phone.act("openInbox", { richId: content.richId }) }, "Try again"));
}

function ready(phone, content) {
  const show = { img: picture, sound, video, url: link, coupon, text }[content.kind] || file;
  return show(phone, content);
}

function picture(phone, content) {
  return h("figure", { class: "picture", key: "picture" },
    h("button", {
      class: "picture-button", type: "button", "aria-label": "Look closer", "data-testid": "picture-zoom",
      onclick: () => {
        phone.view.zoomed = true;
        changed();
      },
    }, h("img", { src: phone.mediaURL(content.richId), alt: content.altText || content.message, "data-testid": "content-image" })),
    content.altText && h("figcaption", { "data-testid": "alt-text" }, h("abbr", { title: "The description that a screen reader speaks" }, "ALT"), content.altText));
}

function zoom(phone, content) {
  if (!phone.view.zoomed || content.kind !== "img" || content.state !== "ready") return null;
  const close = () => {
    phone.view.zoomed = false;
    changed();
  };
  return h("div", { class: "zoom", key: "zoom", role: "dialog", "aria-label": "Picture" },
    h("div", { class: "zoom-scroll", tabindex: "0", onclick: (event) => event.currentTarget.classList.toggle("close-up") },
      h("img", { src: phone.mediaURL(content.richId), alt: content.altText || content.message, "data-testid": "zoomed-image" })),
    h("button", {
      class: "round-glass zoom-close", type: "button", "aria-label": "Close", onclick: close, "data-testid": "zoom-close",
    }, icon("close")),
    h("p", { class: "zoom-hint", "aria-hidden": "true" }, "Press the picture to come closer"));
}

function sound(phone, content) {
  return soundPlayer(phone, content);
}

function video(phone, content) {
  return h("div", { class: "video", key: "video" }, h("video", {
    src: phone.mediaURL(content.richId), controls: true, playsinline: true, preload: "metadata", "data-testid": "content-video",
    "aria-label": content.altText || content.message,
  }));
}

function text(phone, content) {
  return h("div", { class: "text-card", key: "text" },
    content.title && h("h3", { "data-testid": "content-title" }, content.title), subtitle(content),
    h("p", { "data-testid": "content-message" }, content.message));
}

function file(phone, content) {
  return h("div", { class: "file-card", key: "file" },
    h("span", { class: "file-sheet", "aria-hidden": "true" }, icon("file"), h("b", null, shortType(content.mediaType))),
    h("div", null,
      h("h3", { "data-testid": "file-name" }, content.fileName || "File without a name"),
      h("p", null, typeName(content.mediaType)),
      content.hasMedia && h("a", { class: "tinted", href: phone.mediaURL(content.richId), download: true, "data-testid": "content-download" }, "Save")));
}

// Display names of the types that the server stores, and the letters for the drawing of the sheet.
const TYPES = {
  "application/pdf": ["PDF document", "PDF"], "text/plain": ["Plain text", "TXT"],
  "image/png": ["PNG picture", "PNG"], "image/jpeg": ["JPEG picture", "JPG"], "image/gif": ["GIF picture", "GIF"],
  "image/webp": ["WebP picture", "WEBP"], "image/heic": ["HEIC picture", "HEIC"],
  "audio/mpeg": ["MP3 sound", "MP3"], "audio/mp4": ["AAC sound", "M4A"], "audio/wav": ["WAV sound", "WAV"],
  "audio/aiff": ["AIFF sound", "AIFF"], "audio/x-caf": ["Core Audio sound", "CAF"],
  "video/mp4": ["MP4 video", "MP4"], "video/quicktime": ["QuickTime video", "MOV"], "video/mpeg": ["MPEG video", "MPEG"],
};
const essence = (mediaType) => (mediaType || "").split(";")[0].trim().toLowerCase();
const typeName = (mediaType) => TYPES[essence(mediaType)]?.[0] || mediaType || "Unknown type";
const shortType = (mediaType) => TYPES[essence(mediaType)]?.[1] || "FILE";

function coupon(phone, content) {
  const card = content.coupon;
  if (!card) return file(phone, content);
  const expired = card.validUntil && card.validUntil < Date.now();
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(card.code);
      toast("The code is on the clipboard.");
    } catch {
      toast(`The code is ${card.code}.`);
    }
  };
  return h("div", { class: "coupon", key: "coupon", "data-expired": String(Boolean(expired)), "data-testid": "coupon" },
    h("div", { class: "coupon-top" }, h("p", { class: "eyebrow" }, "Coupon"), h("h3", null, card.headline), card.terms && h("p", null, card.terms)),
    h("div", { class: "coupon-bottom" },
      h("button", { class: "coupon-code", type: "button", onclick: copy, "aria-label": `Copy the code ${card.code}`, "data-testid": "coupon-code" },
        card.code, icon("copy")),
      h("p", { class: "coupon-validity" }, card.validUntil
        ? `${expired ? "Expired on" : "Valid until"} ${dateLine(card.validUntil)}` : "No end date")));
}

function link(phone, content) {
  const host = hostOf(content.link);
  return h("div", { class: "link-card", key: "link", "data-testid": "link-card" },
    h("span", { class: "link-mark", "aria-hidden": "true" }, icon("link")),
    h("p", { class: "link-host", "data-testid": "link-host" }, host || "Not a web address"),
    h("p", { class: "link-address" }, content.link || ""),
    h("button", {
      class: "primary", type: "button", disabled: !host, "data-testid": "link-open",
      onclick: () => {
        phone.view.linkConfirm = true;
        changed();
      },
    }, "Open link"));
}

function linkDialog(phone, content) {
  const host = content.kind === "url" && hostOf(content.link);
  if (!phone.view.linkConfirm || !host) return null;
  const close = () => {
    phone.view.linkConfirm = false;
    changed();
  };
  const follow = () => {
    window.open(content.link, "_blank", "noopener,noreferrer");
    phone.act("openLink");
    close();
  };
  return h("div", { class: "alert-layer", key: "link-dialog", "data-shown": "true" },
    h("div", { class: "alert", role: "alertdialog", "aria-labelledby": `link-title-${phone.id}`, "aria-describedby": `link-text-${phone.id}`, "data-testid": "link-dialog" },
      h("h2", { id: `link-title-${phone.id}` }, "Leave Clarion?"),
      h("p", { id: `link-text-${phone.id}` }, "This opens ", h("b", { "data-testid": "link-dialog-host" }, host), " in a new tab of your browser."),
      h("div", { class: "alert-buttons" },
        h("button", { type: "button", onclick: close, "data-testid": "link-cancel" }, "Cancel"),
        h("button", { type: "button", class: "preferred", onclick: follow, "data-testid": "link-confirm" }, "Open"))));
}
