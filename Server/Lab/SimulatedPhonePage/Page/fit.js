// Scales the phones to the room they have, each as a whole, so that their proportions stay a phone's.
const FRAME_WIDTH = 426;
const FRAME_HEIGHT = 880;
const SMALLEST = 0.4;
const LARGEST = 1;
/** Between two phones that stand side by side, and above them for their names. */
const GAP = 18;
const CAPTION = 46;

/** What the stage needs beside the phones: the bar at the foot of a small screen. */
const FOOT = 78;

export function fitPhones(stage) {
  const fit = () => {
    const count = Math.max(1, stage.querySelectorAll(".stand").length);
    const small = window.matchMedia("(max-width: 759px)").matches;
    // A stage that sticks to the top moves with the page, so what counts is where its surroundings begin.
    const around = getComputedStyle(stage.parentElement).position === "sticky" ? stage.closest("main") : stage;
    const top = around.getBoundingClientRect().top + window.scrollY;
    const room = window.innerHeight - top - (small ? FOOT : 18) - (count > 1 ? CAPTION : 0);
    const width = (stage.clientWidth - GAP * (count - 1)) / count;
    // Side by side the tools below must stay in sight; on a small screen the phone may be scrolled.
    const height = small ? Math.max(room, 560) : room;
    const scale = Math.min(width / FRAME_WIDTH, height / FRAME_HEIGHT, LARGEST);
    stage.style.setProperty("--scale", String(Math.max(SMALLEST, Math.floor(scale * 1000) / 1000)));
  };
  new ResizeObserver(fit).observe(stage);
  new MutationObserver(fit).observe(stage, { childList: true });
  window.addEventListener("resize", fit);
  fit();
}
