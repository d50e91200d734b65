// The state of the page. Everything about phones comes from the server, as snapshots and as steps of their stories. The page's own
// state (the open tab, unsent input) is in `view`, and for one phone in the phone's own `view`.

export const state = {
  /** Every phone, in the server's order. */
  phones: [],
  /** The one that the controls are about. */
  selected: null,
  connection: "connecting",
  /** The start of the server that numbered the steps; another start means other stories. */
  epoch: null,
  /** The phones' clock minus this browser's, in milliseconds. */
  clockOffset: 0,
  /** Whether this page was opened for one phone alone. */
  alone: false,
  /** Whether the server has the tools beside the phones; `null` while that is not known. */
  tools: null,
};

export const view = {
  /** Whether all phones were asked to stand side by side. */
  sideBySide: false,
  /** What the panel at the side shows: story, timeline or compose. */
  tab: "story",
  /** Which part a small screen shows: phone, controls, or a tab. */
  pane: "phone",
  openSteps: new Set(),
  /** Groups of the story that the user opened or closed. */
  toggledGroups: new Map(),
};

/** A screen on which one phone stands at a time, whatever was chosen on a larger one. */
const narrow = window.matchMedia("(max-width: 759px)");
narrow.addEventListener("change", () => changed());

/** Whether all phones stand side by side now. */
export function isSideBySide() {
  return view.sideBySide && !narrow.matches;
}

const listeners = new Set();
let scheduled = false;

/** Calls `listener` after every change, at most once per frame. */
export function onChange(listener) {
  listeners.add(listener);
}

/** Says that `state` or a `view` changed. */
export function changed() {
  if (scheduled) return;
  scheduled = true;
  const run = () => {
    if (!scheduled) return;
    scheduled = false;
    for (const listener of listeners) listener();
  };
  // A hidden tab gets no frames; its story must be up to date when it is shown again.
  if (document.hidden) setTimeout(run, 0);
  else requestAnimationFrame(run);
}

/** The time on the phones. */
export function phoneNow() {
  return Date.now() + state.clockOffset;
}

/** Something that this browser keeps for the next visit; `null` where it keeps nothing. */
export function kept(name) {
  try {
    return localStorage.getItem(`clarion.${name}`);
  } catch {
    return null;
  }
}

/** Keeps something for the next visit; `null` forgets it. A browser that keeps nothing is no fault. */
export function keep(name, value) {
  try {
    if (value === null) localStorage.removeItem(`clarion.${name}`);
    else localStorage.setItem(`clarion.${name}`, value);
  } catch {
    // The next visit starts from the beginning.
  }
}
