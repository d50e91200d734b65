// Notifications as the system shows them: the card in a list, the banner at the top, and the card held open.
import { h } from "./dom.js";
import { icon } from "./icons.js";
import { state, view, changed } from "./state.js";
import { act, mediaURL } from "./connection.js";
import { ago } from "./format.js";
import { longPress, swipe } from "./gestures.js";
import { isCovered } from "./cover.js";

const BANNER_MILLISECONDS = 9000;
let bannerTimer = null;
let timedBanner = null;

/** A notification in the list of the lock screen or of the notification centre. */
export function noticeCard(notice, { key, banner: isBanner = false }) {
  return h("article", { class: "notice", key, "data-testid": isBanner ? "banner-card" : "notice", "data-rich-id": notice.richId },
    h("button", {
      class: "notice-main", type: "button", "data-testid": isBanner ? "banner-open" : "notice-open",
      onclick: () => open(notice), created: (node) => {
        longPress(node, () => expand(notice.id));
        if (isBanner) swipe(node, -1, hideBanner);
      },
    }, face(notice), thumbnail(notice)),
    h("button", {
      class: "notice-expand", type: "button", "aria-label": "Show the actions of this notification", title: "Hold, or press here, for More",
      "data-testid": isBanner ? "banner-expand" : "notice-expand", onclick: () => expand(notice.id),
    }, icon("down")));
}

function face(notice) {
  return [
    h("img", { class: "notice-icon", src: "/phone/assets/clarion.svg", alt: "", draggable: "false" }),
    h("span", { class: "notice-words" },
      h("span", { class: "notice-line" },
        h("span", { class: "notice-title" }, notice.title || "Clarion"), h("time", { class: "notice-time" }, ago(notice.at))),
      notice.subtitle && h("span", { class: "notice-subtitle" }, notice.subtitle),
      h("span", { class: "notice-body" }, notice.body)),
  ];
}

function thumbnail(notice) {
  if (!notice.hasAttachment) return null;
  if (notice.richId && (notice.mediaType || "").startsWith("image/")) {
    return h("img", {
      class: "notice-thumb", key: "thumb", src: mediaURL(notice.richId, notice), alt: notice.altText || "", draggable: "false",
      "data-testid": "notice-thumb",
    });
  }
  const kind = (notice.mediaType || "").split("/")[0];
  return h("span", { class: "notice-thumb drawn", key: "thumb" }, icon({ audio: "sound", video: "video" }[kind] || "file"));
}

function open(notice) {
  view.centreOpen = false;
  view.expandedNotice = null;
  act("tapNotification", { id: notice.id });
}

function expand(id) {
  view.expandedNotice = id;
  changed();
}

function hideBanner() {
  view.hiddenBanner = bannerKey(state.snapshot.banner);
  changed();
}

const bannerKey = (notice) => (notice ? `${notice.id} ${notice.at}` : null);

/** The banner over the home screen or over an app. */
export function banner(snapshot) {
  const current = isCovered(snapshot) || bannerKey(snapshot.banner) === view.hiddenBanner ? null : snapshot.banner;
  if (current) view.lastBanner = current;
  timeBanner(current);
  const shown = current || view.lastBanner;
  return h("div", {
    class: "banner", key: "banner", "data-shown": String(Boolean(current)), "data-testid": current ? "banner" : undefined,
    inert: !current, role: "alert",
  }, shown && noticeCard(shown, { key: bannerKey(shown), banner: true }));
}

// A banner leaves by itself, but never from under the pointer or the keyboard focus.
function timeBanner(current) {
  const key = bannerKey(current);
  if (key === timedBanner) return;
  timedBanner = key;
  clearTimeout(bannerTimer);
  if (!current) return;
  const leave = () => {
    if (view.expandedNotice || document.querySelector(".banner:hover, .banner:focus-within")) {
      bannerTimer = setTimeout(leave, 1000);
    } else if (bannerKey(state.snapshot?.banner) === key) {
      view.hiddenBanner = key;
      changed();
    }
  };
  bannerTimer = setTimeout(leave, BANNER_MILLISECONDS);
}

/** A notification held open, with its attachment at full width and its actions. */
export function expandedNotice(snapshot) {
  if (!view.expandedNotice) return null;
  const notice = [...snapshot.notifications, snapshot.banner, view.lastBanner].find((each) => each?.id === view.expandedNotice);
  if (!notice) {
    view.expandedNotice = null;
    return null;
  }
  const close = () => {
    view.expandedNotice = null;
    changed();
  };
  const escape = (event) => event.key === "Escape" && close();
  return h("div", { class: "layer expanded", key: "expanded", "data-testid": "expanded-notice", onkeydown: escape },
    h("button", { class: "expanded-back", type: "button", "aria-label": "Close", onclick: close, tabindex: "-1" }),
    h("div", { class: "expanded-stack", role: "dialog", "aria-modal": "true", "aria-label": notice.title || "Notification" },
      h("button", { class: "expanded-card", type: "button", onclick: () => open(notice) },
        largePicture(notice), h("span", { class: "expanded-words" }, face(notice))),
      h("div", { class: "expanded-actions" },
        notice.actions.filter(({ id }) => id === "richPushMore").map((action, index) => h("button", {
          type: "button", key: action.id, "data-testid": "notice-more", onclick: () => more(notice),
          created: (node) => index === 0 && node.focus({ preventScroll: true }),
        }, action.title, icon("open"))),
        h("button", { type: "button", class: "destructive", onclick: () => dismiss(notice), "data-testid": "notice-dismiss", key: "clear" },
          "Clear", icon("trash")))));
}

function largePicture(notice) {
  if (!notice.hasAttachment || !notice.richId || !(notice.mediaType || "").startsWith("image/")) return null;
  return h("img", { class: "expanded-picture", key: "picture", src: mediaURL(notice.richId, notice), alt: notice.altText || "" });
}

function more(notice) {
  view.centreOpen = false;
  view.expandedNotice = null;
  act("moreNotification", { id: notice.id });
}

function dismiss(notice) {
  view.expandedNotice = null;
  act("dismissNotification", { id: notice.id });
}
