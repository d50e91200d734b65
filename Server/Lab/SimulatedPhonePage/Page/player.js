// The sound player: the browser's own decoder behind a quiet face. The bars are the true loudness of the recording.
import { h } from "./dom.js";
import { icon } from "./icons.js";
import { changed } from "./state.js";
import { duration } from "./format.js";

const BARS = 44;
const DECODED_AT_MOST = 8_000_000;

export function soundPlayer(phone, content) {
  const address = phone.mediaURL(content.richId);
  if (phone.view.sound?.address !== address) {
    stopSound(phone);
    phone.view.sound = openSound(address);
  }
  const { audio, peaks } = phone.view.sound;
  const total = Number.isFinite(audio.duration) ? audio.duration : 0;
  const part = total ? audio.currentTime / total : 0;
  const playing = !audio.paused && !audio.ended;
  return h("div", { class: "sound", key: "sound", "data-testid": "sound-player", "data-playing": String(playing), "data-ready": String(total > 0) },
    h("svg", { class: "waves", viewBox: `0 0 ${BARS * 6} 80`, "aria-hidden": "true", preserveAspectRatio: "none" },
      peaks.map((peak, index) => h("rect", {
        key: index, x: index * 6 + 1, width: 3.4, rx: 1.7, y: 40 - Math.max(2, peak * 38), height: Math.max(4, peak * 76),
        class: index / BARS <= part && part > 0 ? "played" : "",
      }))),
    h("input", {
      class: "seek", type: "range", min: "0", max: String(total || 1), step: "0.01", value: String(audio.currentTime), "aria-label": "Position",
      oninput: (event) => { audio.currentTime = Number(event.target.value); }, disabled: !total,
      "aria-valuetext": `${duration(audio.currentTime)} of ${duration(total)}`, variables: { "--part": `${part * 100}%` },
    }),
    h("div", { class: "sound-times", "aria-hidden": "true" }, h("span", null, duration(audio.currentTime)), h("span", null, `-${duration(total - audio.currentTime)}`)),
    h("button", {
      class: "play", type: "button", "aria-label": playing ? "Pause" : "Play", onclick: () => (playing ? audio.pause() : audio.play().catch(() => {})),
      "data-testid": "sound-play",
    }, icon(playing ? "pause" : "play")));
}

function stopSound(phone) {
  phone.view.sound?.audio.pause();
}

function openSound(address) {
  const audio = new Audio();
  audio.preload = "metadata";
  audio.src = address;
  for (const event of ["loadedmetadata", "timeupdate", "play", "pause", "ended", "seeked"]) audio.addEventListener(event, changed);
  const opened = { address, audio, peaks: new Array(BARS).fill(0.06) };
  measure(address).then((peaks) => {
    opened.peaks = peaks;
    changed();
  }).catch(() => {});
  return opened;
}

async function measure(address) {
  const answer = await fetch(address);
  const bytes = await answer.arrayBuffer();
  if (bytes.byteLength > DECODED_AT_MOST) throw new Error("too long to measure");
  const samples = (await new OfflineAudioContext(1, 1, 44_100).decodeAudioData(bytes)).getChannelData(0);
  const width = Math.max(1, Math.floor(samples.length / BARS));
  const levels = Array.from({ length: BARS }, (_, bar) => {
    let sum = 0;
    for (let index = bar * width; index < (bar + 1) * width; index += 1) sum += (samples[index] || 0) ** 2;
    return Math.sqrt(sum / width);
  });
  const loudest = Math.max(...levels, 0.001);
  return levels.map((level) => level / loudest);
}
