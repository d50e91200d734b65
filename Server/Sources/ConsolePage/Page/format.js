// Numbers, moments and words as the reader's own language writes them.

const number = new Intl.NumberFormat();
const percent = new Intl.NumberFormat(undefined, { style: "percent", maximumFractionDigits: 1 });
const dateTime = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "short" });
const timeOnly = new Intl.DateTimeFormat(undefined, { timeStyle: "medium" });
const minute = new Intl.DateTimeFormat(undefined, { timeStyle: "short" });
const day = new Intl.DateTimeFormat(undefined, { dateStyle: "full" });
const relative = new Intl.RelativeTimeFormat(undefined, { numeric: "auto" });

export const count = (value) => number.format(value);
export const share = (part, whole) => (whole ? percent.format(part / whole) : "–");
export const moment = (milliseconds) => dateTime.format(milliseconds);
export const timeOfDay = (milliseconds) => timeOnly.format(milliseconds);
export const minuteOf = (milliseconds) => minute.format(milliseconds);
export const dayOf = (milliseconds) => day.format(milliseconds);
/** A short time: "34 ms", "2.1 s", "5 min". */
export function duration(milliseconds) {
  if (milliseconds < 1_000) return `${number.format(Math.round(milliseconds))} ms`;
  return milliseconds < 120_000 ? `${number.format(Math.round(milliseconds / 100) / 10)} s` : `${number.format(Math.round(milliseconds / 60_000))} min`;
}
export const utc = (milliseconds) => `${new Date(milliseconds).toISOString().replace("T", " ").slice(0, 19)} UTC`;

const STEPS = [["day", 86_400_000], ["hour", 3_600_000], ["minute", 60_000], ["second", 1000]];

/** "3 minutes ago", "in 2 days". */
export function distance(milliseconds, now = Date.now()) {
  const difference = milliseconds - now;
  const [unit, size] = STEPS.find(([, size]) => Math.abs(difference) >= size) || STEPS[3];
  return relative.format(Math.trunc(difference / size), unit);
}

export function plural(value, one, many = `${one}s`) {
  return `${count(value)} ${value === 1 ? one : many}`;
}

/** The value of an input of type datetime-local for a moment. */
export function localInput(milliseconds) {
  const date = new Date(milliseconds);
  const two = (value) => String(value).padStart(2, "0");
  return `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())}T${two(date.getHours())}:${two(date.getMinutes())}`;
}

const BYTE_UNITS = ["B", "kB", "MB", "GB"];

export function bytes(value) {
  let [size, unit] = [value, 0];
  while (size >= 1000 && unit < BYTE_UNITS.length - 1) [size, unit] = [size / 1000, unit + 1];
  return `${new Intl.NumberFormat(undefined, { maximumFractionDigits: unit ? 1 : 0 }).format(size)} ${BYTE_UNITS[unit]}`;
}
