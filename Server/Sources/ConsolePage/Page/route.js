// The address of a screen, in the fragment: #/sends/42?outcome=gone. Filters are in it, so that a screen can be shared and reloaded.

/** The screen that the address names. */
export function current() {
  const [path, query = ""] = location.hash.replace(/^#\/?/, "").split("?");
  const [name, id] = path.split("/").map(decodeURIComponent);
  return { name: name || "home", id, query: Object.fromEntries(new URLSearchParams(query)) };
}

/** The address of a screen. */
export function address(name, id, query = {}) {
  const path = [name, id].filter((part) => part !== undefined).map(encodeURIComponent).join("/");
  const given = Object.entries(query).filter(([, value]) => value);
  return `#/${path}${given.length ? `?${new URLSearchParams(given)}` : ""}`;
}

/** Opens a screen. */
export function go(name, id, query) {
  location.hash = address(name, id, query);
}
