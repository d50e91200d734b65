// Notifications as the system shows them: the card in a list, the banner at the top, and the card held open.
import { h } from "./dom.js";
import { icon } from "./icons.js";
import { changed } from "./state.js";
import { ago } from "./format.js";
import { longPress, swipe } from "./gestures.js";
import { isCovered } from "./cover.js";

const BANNER_MILLISECONDS = 9000;

/** A notification in the list of the lock screen or of the notification centre. */
export function noticeCard(phone, notice, { key, banner: isBanner = false }) {
  return h("article", { class: "notice", key, "data-testid": isBanner ? "banner-card" : "notice", "data-rich-id": notice.richId },
    h("button", {
      class: "notice-main", type: "button", "data-testid": isBanner ? "banner-open" : "notice-open",
      onclick: () => open(phone, notice), created: (node) => {
        longPress(node, () => expand(phone, notice));
        if (isBanner) swipe(node, -1, () => hideBanner(phone));
      },
    }, face(notice), thumbnail(phone, notice)),
    !notice.previewHidden && h("button", {
      class: "notice-expand", type: "button", "aria-label": "Show the actions of this notification", title: "Hold, or press here, for More",
      "data-testid": isBanner ? "banner-expand" : "notice-expand", onclick: () => expand(phone, notice),
    }, icon("down")));
}

function face(notice) {
  return [
    h("img", { class: "notice-icon", src: "/phone/assets/clarion.svg", alt: "", draggable: "false" }),
    h("span", { class: "notice-words" },
      h("span", { class: "notice-line" },
        h("span", { class: "notice-title" }, notice.title || "Clarion"), h("time", { class: "notice-time" }, ago(notice.at))),
      notice.subtitle && h("span", { class: "notice-subtitle" }, notice.subtitle),
      h("span", { class: "notice-body" }, notice.previewHidden && icon("lock", "notice-lock"), notice.body)),
  ];
}

function thumbnail(phone, notice) {
  if (!notice.hasAttachment) return null;
  if (notice.richId && (notice.mediaType || "").startsWith("image/")) {
    return h("img", {
      class: "notice-thumb", key: "thumb", src: phone.mediaURL(notice.richId, notice), alt: notice.altText || "", draggable: "false",
      "data-testid": "notice-thumb",
    });
  }
  const kind = (notice.mediaType || "").split("/")[0];
  return h("span", { class: "notice-thumb drawn", key: "thumb" }, icon({ audio: "sound", video: "video" }[kind] || "file"));
}

function open(phone, notice) {
  phone.view.centreOpen = false;
  phone.view.expandedNotice = null;
  phone.act("tapNotification", { id: notice.id });
}

function expand(phone, notice) {
  // What a locked phone hides has no actions either.
  if (notice.previewHidden) return;
  phone.view.expandedNotice = notice.id;
  changed();
}

function hideBanner(phone) {
  phone.view.hiddenBanner = bannerKey(phone.snapshot.banner);
  changed();
}

const bannerKey = (notice) => (notice ? `${notice.id} ${notice.at}` : null);

/** The banner over the home screen or over an app. */
export function banner(phone) {
  const { snapshot, view } = phone;
  const current = isCovered(phone) || bannerKey(snapshot.banner) === view.hiddenBanner ? null : snapshot.banner;
  if (current) view.lastBanner = current;
  timeBanner(phone, current);
  const shown = current || view.lastBanner;
  return h("div", {
    class: "banner", key: "banner", "data-shown": String(Boolean(current)), "data-testid": current ? "banner" : undefined,
    inert: !current, role: "alert",
  }, shown && noticeCard(phone, shown, { key: bannerKey(shown), banner: true }));
}

// A banner leaves by itself, but never from under the pointer or the keyboard focus.
function timeBanner(phone, current) {
  const { view } = phone;
  const key = bannerKey(current);
  if (key === view.timedBanner) return;
  view.timedBanner = key;
  clearTimeout(view.bannerTimer);
  if (!current) return;
  const held = `[data-phone="${CSS.escape(phone.id)}"] .banner:is(:hover, :focus-within)`;
  const leave = () => {
    if (view.expandedNotice || document.querySelector(held)) {
      view.bannerTimer = setTimeout(leave, 1000);
    } else if (bannerKey(phone.snapshot?.banner) === key) {
      view.hiddenBanner = key;
      changed();
    }
  };
  view.bannerTimer = setTimeout(leave, BANNER_MILLISECONDS);
}

/** A notification held open, with its attachment at full width, its actions, and its field for an answer. */
export function expandedNotice(phone) {
  const { snapshot, view } = phone;
  if (!view.expandedNotice) return null;
  const notice = [...snapshot.notifications, snapshot.banner, view.lastBanner].find((each) => each?.id === view.expandedNotice);
  if (!notice) {
    closeNotice(phone);
    return null;
  }
  return h("div", { class: "layer expanded", key: "expanded", "data-testid": "expanded-notice" },
    h("button", { class: "expanded-back", type: "button", "aria-label": "Close", onclick: () => closeNotice(phone), tabindex: "-1" }),
    h("div", { class: "expanded-stack", role: "dialog", "aria-label": notice.title || "Notification" },
      h("button", { class: "expanded-card", type: "button", onclick: () => open(phone, notice) },
        largePicture(phone, notice), h("span", { class: "expanded-words" }, face(notice))),
      view.replyTo === notice.id ? replyField(phone, notice) : actions(phone, notice)));
}

function actions(phone, notice) {
  return h("div", { class: "expanded-actions", key: "actions" },
    notice.actions.map((action) => h("button", {
      type: "button", key: action.id, "data-testid": action.takesText ? "notice-reply" : "notice-more",
      onclick: () => (action.takesText ? startReply(phone, notice) : more(phone, notice)),
    }, action.title, icon(action.takesText ? "reply" : "open"))),
    h("button", {
      type: "button", class: "destructive", onclick: () => dismiss(phone, notice), "data-testid": "notice-dismiss", key: "clear",
    }, "Clear", icon("trash")));
}

function startReply(phone, notice) {
  Object.assign(phone.view, { replyTo: notice.id, reply: "" });
  changed();
}

function replyField(phone, notice) {
  const { view } = phone;
  const send = async (event) => {
    event.preventDefault();
    if (!view.reply.trim()) return;
    const taken = await phone.act("replyNotification", { id: notice.id, text: view.reply });
    if (taken) closeNotice(phone);
  };
  return h("form", { class: "expanded-reply", key: "reply", onsubmit: send },
    h("input", {
      type: "text", value: view.reply, maxlength: "2000", placeholder: "Your answer", "aria-label": "Your answer", autocomplete: "off",
      "data-testid": "reply-text",
      oninput: (event) => {
        view.reply = event.target.value;
        changed();
      },
    }),
    h("button", { type: "submit", "aria-label": "Send the answer", disabled: !view.reply.trim(), "data-testid": "reply-send" }, icon("up")));
}

/** Lets go of the notification that is held open. */
export function closeNotice({ view }) {
  Object.assign(view, { expandedNotice: null, replyTo: null, reply: "" });
  changed();
}

function largePicture(phone, notice) {
  if (!notice.hasAttachment || !notice.richId || !(notice.mediaType || "").startsWith("image/")) return null;
  return h("img", { class: "expanded-picture", key: "picture", src: phone.mediaURL(notice.richId, notice), alt: notice.altText || "" });
}

function more(phone, notice) {
  phone.view.centreOpen = false;
  closeNotice(phone);
  phone.act("moreNotification", { id: notice.id });
}

function dismiss(phone, notice) {
  closeNotice(phone);
  phone.act("dismissNotification", { id: notice.id });
}
