// One phone as the page holds it: its state from the server, the state of its view, and its actions.
import { changed } from "./state.js";
import { call } from "./connection.js";

const STEPS_KEPT = 2000;
/** What is sent as long as nothing is chosen. */
export const UNTOUCHED = { kind: "img", style: "", message: "", title: "", audience: "" };

export class Handset {
  constructor(identity) {
    this.id = identity.id;
    this.name = identity.name;
    this.owner = identity.owner || "";
    this.isAndroid = identity.system === "android";
    this.snapshot = null;
    /** Every step of its story, by sequence number. */
    this.steps = new Map();
    /** What goes wrong for it by switch; `null` while that is not known. */
    this.faults = null;
    this.view = {
      centreOpen: false,
      expandedNotice: null,
      /** The notification whose reply field is in use, and its text. */
      replyTo: null,
      reply: "",
      openGroups: new Set(),
      /** The Live Activity with which the Dynamic Island is open, the one that alerts, and when the newest alert came. */
      islandOpen: null,
      islandAlerting: null,
      islandTimer: null,
      alertedAt: undefined,
      optionsOpen: false,
      linkConfirm: false,
      zoomed: false,
      hiddenBanner: null,
      bannerTimer: null,
      timedBanner: null,
      /** The last banner, alert and content, kept while they move out of sight. */
      lastBanner: null,
      lastAlert: null,
      lastContent: null,
      sound: null,
      signIn: { user: this.owner, password: this.owner, token: "" },
      draft: { ...UNTOUCHED },
      pending: new Set(),
      /** Inbox entries whose picture the phone does not give now. */
      pictureless: new Set(),
      /** Steps of the story up to here are not shown any more. */
      clearedBefore: 0,
      /** What each push says, kept for when the phone forgets it. */
      messages: new Map(),
    };
  }

  /** Takes its state. What one user has typed is not for the next one. */
  takeSnapshot(snapshot) {
    const former = this.snapshot?.user;
    this.snapshot = snapshot;
    if (former && snapshot.user !== former) Object.assign(this.view, { draft: { ...UNTOUCHED }, optionsOpen: false, replyTo: null, reply: "" });
  }

  keepStep(step) {
    this.steps.set(step.seq, step);
    if (this.steps.size > STEPS_KEPT) this.steps.delete(this.steps.keys().next().value);
  }

  forgetSteps() {
    this.steps.clear();
    this.view.clearedBefore = 0;
  }

  /** Does something to the phone. Resolves to whether the server took it; a refusal is shown. */
  async act(name, parameters = {}) {
    this.view.pending.add(name);
    changed();
    const answer = await call(`${this.address}/actions`, { name, ...parameters });
    this.view.pending.delete(name);
    changed();
    return answer !== null;
  }

  /**
   * Waits until the phone is in a state, for five seconds at most. Resolves to whether it came in time. Snapshots come by another
   * connection than the answers to `act`, so they may be older than an answer.
   */
  until(isReached, milliseconds = 5000) {
    const end = Date.now() + milliseconds;
    return new Promise((resolve) => {
      const look = () => {
        if (this.snapshot && isReached(this.snapshot)) resolve(true);
        else if (Date.now() > end) resolve(false);
        else setTimeout(look, 40);
      };
      look();
    });
  }

  /** The name of the service that brings its pushes. */
  get service() {
    return this.isAndroid ? "FCM" : "APNs";
  }

  /** How many notifications are unread: what the app shows while it is open, else the number on its icon, which is newer. */
  get unread() {
    if (!this.snapshot?.user) return 0;
    const { locked, process, badge, unread } = this.snapshot;
    return !locked && process === "active" ? unread : badge || unread;
  }

  get address() {
    return `/phone/${encodeURIComponent(this.id)}`;
  }

  /** Where the bytes are that the phone fetched: for what is open, or as the attachment of a notification or a Live Activity. */
  mediaURL(richID, notice = null) {
    const attachment = notice ? `?notification=${encodeURIComponent(notice.id)}` : "";
    return `${this.address}/media/${encodeURIComponent(richID)}${attachment}`;
  }
}
