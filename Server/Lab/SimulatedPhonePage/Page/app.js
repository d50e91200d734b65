// The Clarion demo app on the phone: sign-in, main screen, content, and the alert of a push that arrives while it is open.
import { h } from "./dom.js";
import { icon, kindIcon, kindName } from "./icons.js";
import { changed, phoneNow } from "./state.js";
import { ago, greeting } from "./format.js";
import { contentScreen } from "./content.js";
import { optionsSheet, optionsSummary, sendParameters } from "./options.js";

const APP_SCREENS = ["signIn", "main", "content"];

/** Whether the app is what one sees when nothing covers it. */
export function isAppOpen(snapshot) {
  return APP_SCREENS.includes(snapshot.screen);
}

export function appLayer(phone) {
  const { snapshot, view } = phone;
  const open = isAppOpen(snapshot);
  const covered = snapshot.locked || view.centreOpen || Boolean(view.expandedNotice);
  const inContent = snapshot.screen === "content" && Boolean(snapshot.content);
  // What slides away is shown until it is gone, and never to another user.
  if (view.lastUser !== snapshot.user) Object.assign(view, { lastContent: null, lastUser: snapshot.user });
  if (snapshot.content) view.lastContent = snapshot.content;
  if (!inContent) Object.assign(view, { zoomed: false, linkConfirm: false });
  return h("div", {
    class: "layer app", key: "app", "data-open": String(open), inert: !open || covered, "data-testid": "app",
  },
  snapshot.user && snapshot.screen !== "signIn" ? signedIn(phone, inContent) : signIn(phone),
  alertOf(phone));
}

function signedIn(phone, inContent) {
  const { snapshot, view } = phone;
  const content = snapshot.content || view.lastContent;
  return h("div", { class: "stack", key: "signed-in", "data-depth": inContent ? "1" : "0", inert: Boolean(snapshot.alert) },
    h("div", { class: "page main", inert: inContent || view.optionsOpen, "data-testid": "main-screen", key: "main" }, mainScreen(phone)),
    optionsSheet(phone),
    h("div", { class: "page pushed", inert: !inContent, "data-testid": inContent ? "content-screen" : undefined, key: "content" },
      content && contentScreen(phone, content)));
}

// Sign-in

function signIn(phone) {
  const { snapshot, view } = phone;
  const { busy } = snapshot.signIn;
  const error = snapshot.signIn.error || (snapshot.user && !busy ? "Your sign-in has ended. Sign in again." : "");
  const token = view.signIn.token.trim();
  const ready = token || (view.signIn.user.trim() && view.signIn.password);
  const submit = async (event) => {
    event.preventDefault();
    if (busy) return;
    const taken = token
      ? await phone.act("signInWithToken", { token })
      : await phone.act("signIn", { user: view.signIn.user.trim(), password: view.signIn.password });
    if (taken && phone.snapshot.user) {
      view.signIn = { user: phone.owner, password: phone.owner, token: "" };
      changed();
    }
  };
  const type = (field) => (event) => {
    view.signIn[field] = event.target.value;
    changed();
  };
  return h("form", { class: "page sign-in", onsubmit: submit, key: "sign-in", "data-testid": "sign-in-screen", autocomplete: "off" },
    h("img", { class: "sign-in-mark", src: "/phone/assets/clarion.svg", alt: "" }),
    h("h2", null, "Clarion"),
    h("p", { class: "sign-in-lead" }, "Pictures, sounds and links that never travel through the push."),
    h("div", { class: "field-group" },
      h("label", null, h("span", null, "Name"), h("input", {
        name: "user", type: "text", value: view.signIn.user, oninput: type("user"), placeholder: "alice", maxlength: "64",
        autocapitalize: "off", autocorrect: "off", spellcheck: "false", autocomplete: "off", "data-testid": "sign-in-user",
      })),
      h("label", null, h("span", null, "Password"), h("input", {
        name: "password", type: "password", value: view.signIn.password, oninput: type("password"), placeholder: "the same name",
        autocomplete: "off", maxlength: "256", "data-testid": "sign-in-password",
      })),
      h("label", null, h("span", null, "Or token"), h("input", {
        name: "token", type: "password", value: view.signIn.token, oninput: type("token"), placeholder: "clt_… or a JWT",
        autocomplete: "off", maxlength: "16384", "data-testid": "sign-in-token",
      }))),
    h("p", { class: "form-error", role: "alert", "data-testid": "sign-in-error" }, error),
    h("p", { class: "form-error", role: "status", "data-testid": "undelivered" }, snapshot.undelivered),
    h("button", { class: "primary", type: "submit", disabled: busy || !ready, "data-testid": "sign-in-button" },
      busy ? spinner("Signing in") : "Sign in"),
    h("p", { class: "sign-in-note" }, "In this demo any name signs in when the password is the same name."));
}

export function spinner(label) {
  return h("span", { class: "spinner", role: "img", "aria-label": label });
}

// Main screen

function mainScreen(phone) {
  const { snapshot, view } = phone;
  const { busy, error } = snapshot.sending;
  return h("div", { class: "scroll" },
    h("header", { class: "main-head" },
      h("div", null,
        h("p", { class: "eyebrow" }, greeting(phoneNow())),
        h("h2", { "data-testid": "greeting" }, snapshot.user)),
      h("button", {
        class: "circle", type: "button", "aria-label": "Sign out", title: "Sign out", onclick: () => phone.act("signOut"), "data-testid": "sign-out",
      }, icon("signout"))),
    h("div", { class: "send-card" },
      h("button", {
        class: "send", type: "button", disabled: busy, onclick: () => phone.act("sendPush", sendParameters(phone)), "data-testid": "send-push",
      }, busy ? spinner("Sending") : icon("send"), h("span", null, busy ? "Sending…" : "Send push")),
      h("div", { class: "send-foot" },
        h("p", null, optionsSummary(phone)),
        h("button", {
          class: "link-button", type: "button", "aria-expanded": String(view.optionsOpen), "data-testid": "options-open",
          onclick: () => {
            view.optionsOpen = true;
            changed();
          },
        }, icon("sliders"), "Options"))),
    h("p", { class: "form-error", role: "alert", "data-testid": "send-error" }, error),
    inbox(phone));
}

function inbox(phone) {
  const { snapshot, view } = phone;
  return h("section", { class: "inbox", "aria-label": "Inbox" },
    h("div", { class: "section-head" },
      h("h3", null, "Inbox", snapshot.unread > 0 && h("span", { class: "count", "aria-label": `${snapshot.unread} unread` }, String(snapshot.unread))),
      h("button", {
        class: "circle small", type: "button", "aria-label": "Ask the server for the inbox", title: "Refresh",
        onclick: () => phone.act("refreshInbox"), "data-testid": "refresh-inbox", "data-busy": String(view.pending.has("refreshInbox")),
      }, icon("refresh"))),
    snapshot.inbox.length === 0
      ? h("div", { class: "inbox-empty", key: "empty" }, icon("picture"), h("p", null, "Nothing yet. Press Send push."))
      : h("ul", { class: "inbox-list", key: "list" }, snapshot.inbox.map((entry) => inboxRow(phone, entry))));
}

function inboxRow(phone, entry) {
  const title = entry.title || entry.message;
  return h("li", { key: entry.id },
    h("button", {
      class: "row", type: "button", onclick: () => phone.act("openInbox", { richId: entry.id }), "data-testid": "inbox-row",
      "data-rich-id": entry.id, "data-read": String(Boolean(entry.read)),
    },
    h("span", { class: "unread-dot", role: "img", "aria-label": entry.read ? "read" : "unread" }),
    rowPicture(phone, entry),
    h("span", { class: "row-words" },
      h("span", { class: "row-title" }, title),
      h("span", { class: "row-line" },
        [kindName(entry.kind), entry.sender && `from ${entry.sender}`, ago(entry.sentAt)].filter(Boolean).join(" · "))),
    entry.downloaded || entry.kind === "text" ? icon("forward", "row-end")
      : h("span", { class: "row-cloud", role: "img", "aria-label": "Not downloaded yet", title: "Not downloaded yet" }, icon("cloud"))));
}

function rowPicture(phone, entry) {
  const { view } = phone;
  if (entry.kind === "img" && entry.downloaded && !view.pictureless.has(entry.id)) {
    const drawInstead = () => {
      view.pictureless.add(entry.id);
      changed();
    };
    return h("img", { class: "row-thumb", key: "picture", src: phone.mediaURL(entry.id), alt: "", loading: "lazy", onerror: drawInstead });
  }
  return h("span", { class: `row-thumb drawn kind-${entry.kind}`, key: "drawn" }, icon(kindIcon(entry.kind)));
}

// The alert in the foreground

function alertOf(phone) {
  const { snapshot, view } = phone;
  const { alert } = snapshot;
  if (alert) view.lastAlert = alert;
  const shown = alert || view.lastAlert;
  if (!shown) return null;
  return h("div", { class: "alert-layer", key: "alert", "data-shown": String(Boolean(alert)), inert: !alert },
    h("div", {
      class: "alert", role: "alertdialog", "aria-labelledby": `alert-title-${phone.id}`, "aria-describedby": `alert-message-${phone.id}`,
      "data-testid": alert ? "alert" : undefined, key: shown.richId,
    },
    h("h2", { id: `alert-title-${phone.id}`, "data-testid": "alert-title" }, shown.title || "New notification"),
    shown.subtitle && h("p", { class: "alert-subtitle", key: "subtitle", "data-testid": "alert-subtitle" }, shown.subtitle),
    h("p", { id: `alert-message-${phone.id}`, "data-testid": "alert-message" }, shown.message || "Something new is there for you."),
    h("div", { class: "alert-buttons" },
      h("button", { type: "button", onclick: () => phone.act("alertOK"), "data-testid": "alert-ok" }, "OK"),
      h("button", {
        type: "button", class: "preferred", onclick: () => phone.act("alertMore"), "data-testid": "alert-more",
      }, "More"))));
}
