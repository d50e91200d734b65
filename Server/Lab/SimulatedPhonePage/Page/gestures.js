// Swipes and long presses, always beside a button that does the same.
const SWIPE_POINTS = 28;
const LONG_PRESS_MILLISECONDS = 450;

/** Calls `onSwipe` when a finger or the mouse moves up (`-1`) or down (`1`) from the element. */
export function swipe(node, direction, onSwipe) {
  let start = null;
  let swiped = false;
  node.addEventListener("pointerdown", (event) => {
    start = event.button === 0 ? event.clientY : null;
    swiped = false;
  });
  node.addEventListener("pointermove", (event) => {
    if (start === null || (event.clientY - start) * direction < SWIPE_POINTS) return;
    start = null;
    swiped = true;
    onSwipe();
  });
  for (const end of ["pointerup", "pointercancel", "pointerleave"]) node.addEventListener(end, () => { start = null; });
  swallowClick(node, () => swiped, () => { swiped = false; });
}

/** Calls `onLongPress` when the pointer rests on the element, and on the context-menu key or click. */
export function longPress(node, onLongPress) {
  let timer = null;
  let pressed = false;
  const stop = () => {
    clearTimeout(timer);
    timer = null;
  };
  node.addEventListener("pointerdown", (event) => {
    if (event.button !== 0) return;
    pressed = false;
    timer = setTimeout(() => {
      pressed = true;
      onLongPress();
    }, LONG_PRESS_MILLISECONDS);
  });
  for (const end of ["pointerup", "pointercancel", "pointerleave"]) node.addEventListener(end, stop);
  node.addEventListener("contextmenu", (event) => {
    event.preventDefault();
    stop();
    onLongPress();
  });
  swallowClick(node, () => pressed, () => { pressed = false; });
}

// The click that ends a gesture is not a click on what lies below it.
function swallowClick(node, isGesture, reset) {
  node.addEventListener("click", (event) => {
    if (!isGesture()) return;
    reset();
    event.stopImmediatePropagation();
    event.preventDefault();
  }, { capture: true });
}
