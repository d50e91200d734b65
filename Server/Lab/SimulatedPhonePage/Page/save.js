// What leaves the page: files and the clipboard.
import { toast } from "./toast.js";

/** Saves a text as a file. */
export function saveFile(name, text, type) {
  const address = URL.createObjectURL(new Blob([text], { type }));
  const link = document.createElement("a");
  link.href = address;
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(address), 10_000);
}

/** Puts a text on the clipboard and says so; where the browser allows that not, it says that. */
export async function copyText(text, what) {
  try {
    await navigator.clipboard.writeText(text);
    toast(`${what} is on the clipboard.`);
  } catch {
    toast("The browser does not let this page use the clipboard.");
  }
}

/** A text as one word of a shell's line. */
export function shellWord(text) {
  return `'${text.replaceAll("'", "'\\''")}'`;
}

/** Bytes as Base64. */
export async function base64(blob) {
  const bytes = new Uint8Array(await blob.arrayBuffer());
  let text = "";
  for (let start = 0; start < bytes.length; start += 0x8000) text += String.fromCharCode(...bytes.subarray(start, start + 0x8000));
  return btoa(text);
}
