// The line drawings of the page, on a 24 x 24 grid.
import { h } from "./dom.js";

const strokes = {
  back: ["M14.5 5 8 12l6.5 7"],
  forward: ["M9.5 5 16 12l-6.5 7"],
  down: ["M6 9.5 12 15l6-5.5"],
  close: ["M6.5 6.5l11 11", "M17.5 6.5l-11 11"],
  check: ["M5 12.5l4.5 4.5L19 7"],
  home: ["M4 11.5 12 4.5l8 7", "M6.5 10v9h11v-9"],
  lock: ["M7 11V8a5 5 0 0 1 10 0v3", "M5.5 11h13v9h-13z"],
  unlock: ["M7 11V8a5 5 0 0 1 9.6-2", "M5.5 11h13v9h-13z"],
  open: ["M5 5h14v14H5z", "M9 15l6-6", "M10.5 9H15v4.5"],
  quit: ["M12 4v8", "M7.2 7.2a7 7 0 1 0 9.6 0"],
  bell: ["M6 16.5V11a6 6 0 0 1 12 0v5.5l1.5 1.5h-15z", "M10 20.5h4"],
  send: ["M4 12 20 4.5 15.5 20l-4-6.2z", "M11.5 13.8 20 4.5"],
  sliders: ["M4 8h9", "M17 8h3", "M4 16h3", "M11 16h9", "M15 6v4", "M9 14v4"],
  picture: ["M4 5.5h16v13H4z", "M4 16l5-5 4 4 2.5-2.5L20 17", "M15.8 9.2h.01"],
  sound: ["M9 17.5V6l10-2v11.5", "M9 17.5a2.5 2.5 0 1 1-2.5-2.5A2.5 2.5 0 0 1 9 17.5z", "M19 15.5a2.5 2.5 0 1 1-2.5-2.5 2.5 2.5 0 0 1 2.5 2.5z"],
  video: ["M4 6.5h11v11H4z", "M15 10.5l5-3v9l-5-3"],
  link: ["M10 14a4 4 0 0 0 6 .4l2.6-2.6a4 4 0 0 0-5.7-5.7L11.5 7.5", "M14 10a4 4 0 0 0-6-.4l-2.6 2.600a4 4 0 0 0 5.7 5.700l1.4-1.4"],
  coupon: ["M4 7h16v3.500a1.5 1.5 0 0 0 0 3V17H4v-3.500a1.5 1.5 0 0 0 0-3z", "M14.5 9.500v.01", "M14.5 12v.01", "M14.5 14.500v.01"],
  file: ["M7 3.500h7l4 4V20.500H7z", "M14 3.500v4h4"],
  text: ["M5 7h14", "M5 12h14", "M5 17h8"],
  cloud: ["M8 18.500a4.2 4.2 0 0 1-.6-8.360A5.5 5.5 0 0 1 18 9.500a4 4 0 0 1 .5 7.9", "M13 12v8", "M10 17.200l3 3 3-3"],
  signout: ["M10 5H5v14h5", "M14 8l4 4-4 4", "M18 12H9"],
  refresh: ["M19 12a7 7 0 1 1-2.2-5.1", "M17.5 3.500v4h-4"],
  torch: ["M8 4h8v3l-2 3v10h-4V10L8 7z", "M12 13v2"],
  camera: ["M4 8h4l1.5-2.500h5L16 8h4v11H4z", "M15.5 13.200a3.5 3.5 0 1 1-7 0 3.5 3.5 0 0 1 7 0z"],
  person: ["M15.5 8.500a3.5 3.5 0 1 1-7 0 3.5 3.5 0 0 1 7 0z", "M5 20c.6-4 3.3-6 7-6s6.4 2 7 6"],
  server: ["M5 5h14v6H5z", "M5 13h14v6H5z", "M8.5 8h.01", "M8.5 16h.01"],
  phone: ["M8 3.500h8a1.5 1.5 0 0 1 1.5 1.500v14a1.5 1.5 0 0 1-1.5 1.500H8A1.5 1.5 0 0 1 6.5 19V5A1.5 1.5 0 0 1 8 3.500z", "M11 17.500h2"],
  tower: ["M12 11v9", "M9 20h6", "M12 9h.01", "M8 13a5.5 5.5 0 0 1 0-8", "M16 13a5.5 5.5 0 0 0 0-8"],
  sun: ["M16 12a4 4 0 1 1-8 0 4 4 0 0 1 8 0z", "M12 3v2", "M12 19v2", "M3 12h2", "M19 12h2", "M5.6 5.6 7 7", "M17 17l1.4 1.4", "M5.6 18.4 7 17", "M17 7l1.4-1.4"],
  moon: ["M19.5 14.500A8 8 0 0 1 9.5 4.500a8 8 0 1 0 10 10z"],
  auto: ["M20 12a8 8 0 1 1-16 0 8 8 0 0 1 16 0z", "M12 4v16", "M12 8.500l6 0", "M12 12.500l7.5 0", "M12 16.500l6 0"],
  copy: ["M8.5 8.500h11v11h-11z", "M15.5 8.500v-4h-11v11h4"],
  up: ["M12 19V5.500", "M6 11l6-5.500 6 5.500"],
  reply: ["M10 6 4.500 11.500 10 17", "M4.500 11.500H14a5.500 5.500 0 0 1 5.500 5.500v1.500"],
  columns: ["M4 5h4.500v14H4z", "M9.750 5h4.500v14h-4.500z", "M15.500 5H20v14h-4.500z"],
  chart: ["M5 19.500V12", "M10 19.500V5", "M15 19.500v-9", "M20 19.500V8"],
  menu: ["M4 7h16", "M4 12h16", "M4 17h16"],
  calendar: ["M4.500 6h15v13.500h-15z", "M4.500 10.500h15", "M8.500 3.500v4", "M15.500 3.500v4"],
  key: ["M11 12.500a3.500 3.500 0 1 1-7 0 3.500 3.500 0 0 1 7 0z", "M11 12.500h9", "M16.500 12.500v3", "M19.500 12.500v2.500"],
  hook: ["M9 6.500a3 3 0 1 1 4.600 2.500L10 15.500", "M14 12a4 4 0 1 1-1.200 6.500", "M9.800 12.500a4 4 0 1 0 1.200 5h6"],
  pulse: ["M3.500 12.500h4l2.500-6.500 4 12 2.500-5.500h4"],
  story: ["M6 6h.01", "M10 6h9", "M6 12h.01", "M10 12h9", "M6 18h.01", "M10 18h6"],
  timeline: ["M4 6h7", "M8 12h9", "M13 18h7"],
  compose: ["M13 5H5v14h14v-8", "M10 14l1-3.500L18.500 3l2.500 2.500L13.500 13z"],
  download: ["M12 4v11", "M7 10.500l5 5 5-5", "M5 20h14"],
  upload: ["M12 16V5", "M7 9.500l5-5 5 5", "M5 20h14"],
  alone: ["M5 9V5h4", "M19 9V5h-4", "M5 15v4h4", "M19 15v4h-4"],
  trash: ["M5 7h14", "M9 7V4.500h6V7", "M7 7l1 12.500h8L17 7"],
  hand: ["M12 3.500v0", "M8.5 12V6.500a1.5 1.5 0 0 1 3 0V11", "M11.5 11V5a1.5 1.5 0 0 1 3 0v6.5", "M14.5 11.500V7.500a1.5 1.5 0 0 1 3 0V15a5.5 5.5 0 0 1-5.5 5.500c-2.5 0-3.8-1-5-3.200L5 13.700a1.5 1.5 0 0 1 2.5-1.600l1 1.4"],
};

const fills = {
  play: ["M8 5.500v13l11-6.500z"],
  pause: ["M7 5.500h3.500v13H7z", "M13.5 5.500H17v13h-3.500z"],
};

/** One of the drawings above. It carries no name of its own: the control around it does. */
export function icon(name, className = "") {
  const filled = name in fills;
  return h(
    "svg",
    {
      class: `icon ${className}`, viewBox: "0 0 24 24", "aria-hidden": "true", focusable: "false",
      fill: filled ? "currentColor" : "none", stroke: filled ? "none" : "currentColor",
      "stroke-width": "1.7", "stroke-linecap": "round", "stroke-linejoin": "round",
    },
    (fills[name] || strokes[name] || []).map((d) => h("path", { d })));
}

/** Which drawing stands for a kind of content. */
export function kindIcon(kind) {
  return { img: "picture", sound: "sound", video: "video", url: "link", coupon: "coupon", text: "text", sealed: "lock" }[kind] || "file";
}

/** The display name of a kind of content. */
export function kindName(kind) {
  return {
    img: "Picture", sound: "Sound", video: "Video", url: "Link", coupon: "Coupon", file: "File", text: "Message",
    sealed: "Sealed message",
  }[kind] || "File";
}
