// Scales the phone to the room it has, as a whole, so that its proportions stay a phone's.
const FRAME_WIDTH = 426;
const FRAME_HEIGHT = 880;
const SMALLEST = 0.62;
const LARGEST = 1;

export function fitPhone(stage, phone) {
  const fit = () => {
    const wide = window.matchMedia("(min-width: 760px)").matches;
    const top = stage.getBoundingClientRect().top + window.scrollY;
    const height = wide ? window.innerHeight - top - 18 : Infinity;
    const scale = Math.min(stage.clientWidth / FRAME_WIDTH, height / FRAME_HEIGHT, LARGEST);
    phone.style.setProperty("zoom", String(Math.max(SMALLEST, Math.floor(scale * 1000) / 1000)));
  };
  new ResizeObserver(fit).observe(stage);
  window.addEventListener("resize", fit);
  fit();
}
