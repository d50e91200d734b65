// Human-readable times and texts.
import { phoneNow } from "./state.js";

const clock = new Intl.DateTimeFormat(undefined, { hour: "numeric", minute: "2-digit" });
const exact = new Intl.DateTimeFormat(undefined, { hour: "2-digit", minute: "2-digit", second: "2-digit", hour12: false });
const longDay = new Intl.DateTimeFormat("en", { weekday: "long", day: "numeric", month: "long" });
const date = new Intl.DateTimeFormat("en", { day: "numeric", month: "long", year: "numeric" });
const weekday = new Intl.DateTimeFormat("en", { weekday: "short" });

/** The time on a phone's screen: no AM or PM. */
export function clockTime(at) {
  return clock.formatToParts(at).filter(({ type }) => ["hour", "minute", "literal"].includes(type))
    .map(({ value }) => value).join("").trim();
}

export const exactTime = (at) => exact.format(at);
export const dayLine = (at) => longDay.format(at);
export const dateLine = (at) => date.format(at);
export const shortWeekday = (at) => weekday.format(at);

/** How long ago, in the phone's short form. */
export function ago(at) {
  const seconds = Math.max(0, Math.round((phoneNow() - at) / 1000));
  if (seconds < 60) return "now";
  if (seconds < 3600) return `${Math.floor(seconds / 60)}m ago`;
  if (seconds < 86_400) return `${Math.floor(seconds / 3600)}h ago`;
  return dateLine(at);
}

/** A distance in time: milliseconds while they matter. */
export function distance(milliseconds) {
  if (milliseconds < 1000) return `+${Math.max(0, Math.round(milliseconds))} ms`;
  if (milliseconds < 60_000) return `+${(milliseconds / 1000).toFixed(milliseconds < 10_000 ? 2 : 1)} s`;
  if (milliseconds < 3_600_000) return `+${Math.floor(milliseconds / 60_000)} min ${Math.round(milliseconds / 1000) % 60} s`;
  return `+${Math.floor(milliseconds / 3_600_000)} h`;
}

/** Minutes and seconds of a recording. */
export function duration(seconds) {
  if (!Number.isFinite(seconds)) return "0:00";
  const whole = Math.round(seconds);
  return `${Math.floor(whole / 60)}:${String(whole % 60).padStart(2, "0")}`;
}

export function greeting(at) {
  const hour = new Date(at).getHours();
  if (hour < 5) return "Good evening";
  if (hour < 12) return "Good morning";
  if (hour < 18) return "Good afternoon";
  return "Good evening";
}

/** The host of a link as it will be opened, in its unambiguous ASCII form; `null` if it is no web address. */
export function hostOf(link) {
  try {
    const { protocol, host } = new URL(link);
    return protocol === "https:" || protocol === "http:" ? host : null;
  } catch {
    return null;
  }
}
