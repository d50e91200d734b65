// The sheet in front of everything: the lock screen, and the same sheet pulled down as the notification centre.
import { h } from "./dom.js";
import { icon } from "./icons.js";
import { changed, phoneNow } from "./state.js";
import { clockTime, dayLine } from "./format.js";
import { swipe } from "./gestures.js";
import { noticeCard } from "./notices.js";
import { activityCards } from "./activities.js";

/** Whether the lock screen or the notification centre is in front. */
export function isCovered({ snapshot, view }) {
  return snapshot.locked || view.centreOpen;
}

export function cover(phone) {
  const { snapshot, view } = phone;
  const covered = isCovered(phone);
  const notices = snapshot.notifications;
  return h("div", {
    class: "layer cover", key: "cover", inert: !covered || Boolean(view.expandedNotice), "data-covered": String(covered),
    "data-mode": snapshot.locked ? "lock" : "centre", "data-testid": snapshot.locked ? "lock-screen" : "notification-centre",
  },
  h("div", { class: "wallpaper", "aria-hidden": "true" }),
  h("div", { class: "cover-top" },
    h("p", { class: "cover-date" }, dayLine(phoneNow())),
    h("p", { class: "cover-clock" }, clockTime(phoneNow()))),
  h("div", { class: "notice-list", tabindex: "-1" },
    !snapshot.locked && h("div", { class: "centre-head", key: "head" },
      h("h2", null, phone.isAndroid ? "Notifications" : "Notification Centre"),
      notices.length > 0 && h("button", {
        class: "round-glass", type: "button", "aria-label": "Clear all notifications", onclick: () => phone.act("clearNotifications"),
        "data-testid": "clear-notifications", key: "clear",
      }, icon("close"))),
    activityCards(phone),
    !snapshot.locked && notices.length === 0 && h("p", { class: "centre-empty", key: "empty" }, "No notifications"),
    groups(notices).map((group) => noticeGroup(phone, group))),
  h("div", { class: "cover-foot", "aria-hidden": "true" },
    h("span", { class: "round-glass" }, icon("torch")), h("span", { class: "round-glass" }, icon("camera"))),
  h("button", {
    class: "cover-leave", type: "button", "data-testid": "cover-leave",
    onclick: () => leave(phone), created: (node) => swipe(node, -1, () => leave(phone)),
  }, snapshot.locked ? "Swipe up or press here to unlock" : "Close"));
}

function leave(phone) {
  if (phone.snapshot.locked) phone.act("unlock");
  phone.view.centreOpen = false;
  changed();
}

function groups(notices) {
  const byThread = new Map();
  for (const notice of notices) {
    const thread = notice.thread || "";
    if (!byThread.has(thread)) byThread.set(thread, []);
    byThread.get(thread).push(notice);
  }
  const list = [...byThread].map(([thread, members]) => ({ thread, members: members.sort((a, b) => b.at - a.at) }));
  return list.sort((a, b) => b.members[0].at - a.members[0].at);
}

function noticeGroup(phone, { thread, members }) {
  const open = members.length === 1 || phone.view.openGroups.has(thread);
  if (open) {
    return h("div", { class: "notice-group open", key: `group ${thread}` },
      members.length > 1 && h("div", { class: "group-head", key: "head" },
        h("span", null, "Clarion"),
        h("button", {
          class: "glass-pill", type: "button", onclick: () => toggle(phone, thread), "data-testid": "group-less",
        }, "Show less")),
      members.map((notice) => noticeCard(phone, notice, { key: notice.id })));
  }
  const count = members.length - 1;
  return h("div", { class: "notice-group stacked", key: `group ${thread}`, "data-depth": String(Math.min(count, 2)) },
    noticeCard(phone, members[0], { key: members[0].id }),
    h("span", { class: "stack-card one", "aria-hidden": "true" }),
    count > 1 && h("span", { class: "stack-card two", "aria-hidden": "true" }),
    h("button", {
      class: "stack-open", type: "button", onclick: () => toggle(phone, thread), "data-testid": "group-more",
    }, `${count} more notification${count > 1 ? "s" : ""}`));
}

function toggle({ view }, thread) {
  if (!view.openGroups.delete(thread)) view.openGroups.add(thread);
  changed();
}
