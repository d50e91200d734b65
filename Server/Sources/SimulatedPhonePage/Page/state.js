// What the page knows. Everything about the phone comes from the server as snapshots; what only this page decides
// (which card is expanded, what is typed but not sent) stands in `view`.

export const state = {
  phones: [],
  phoneID: null,
  snapshot: null,
  connection: "connecting",
  /** Every step of the true story, by sequence number. */
  steps: new Map(),
  /** The start of the server that numbered the steps; another start means another story. */
  epoch: null,
  /** The phone's clock minus this browser's, in milliseconds. */
  clockOffset: 0,
};

export const view = {
  centreOpen: false,
  expandedNotice: null,
  openGroups: new Set(),
  optionsOpen: false,
  linkConfirm: false,
  zoomed: false,
  hiddenBanner: null,
  /** The last banner, alert and content, kept while they move out of sight. */
  lastBanner: null,
  lastAlert: null,
  lastContent: null,
  signIn: { user: "", password: "" },
  draft: { kind: "img", style: "", message: "", title: "", audience: "" },
  openSteps: new Set(),
  /** Groups of the story that somebody opened or closed. */
  toggledGroups: new Map(),
  /** What each push says, kept for when the phone forgets it. */
  messages: new Map(),
  clearedBefore: 0,
  pending: new Set(),
  /** Inbox entries whose picture the phone does not give now. */
  pictureless: new Set(),
};

const listeners = new Set();
let scheduled = false;

/** Calls `listener` after every change, at most once per frame. */
export function onChange(listener) {
  listeners.add(listener);
}

/** Says that `state` or `view` changed. */
export function changed() {
  if (scheduled) return;
  scheduled = true;
  const run = () => {
    if (!scheduled) return;
    scheduled = false;
    for (const listener of listeners) listener();
  };
  // A hidden tab gets no frames; its story must still be there when it is looked at again.
  if (document.hidden) setTimeout(run, 0);
  else requestAnimationFrame(run);
}

/** The time on the phone. */
export function phoneNow() {
  return Date.now() + state.clockOffset;
}
