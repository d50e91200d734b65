// A push's body as text. Reading JSON and writing it again changes it: long numbers lose digits, 1.0 becomes 1, of a name that
// stands twice one is left. What a developer wrote is sent as it is written, so here nothing but text is cut and put together.
const BUNDLE_KEY = "Simulator Target Bundle";
const INDENT = "  ";

/** The body of an .apns file without the bundle id, and that id: absent when the file names none, or is no JSON object. */
export function withoutBundle(text) {
  let bundle;
  let rest = text;
  for (;;) {
    const members = membersOf(rest);
    const index = members.findIndex(({ name }) => name === BUNDLE_KEY);
    if (index < 0) return { bundle, payload: rest };
    const { begin, end, value } = members[index];
    // The last one counts, as where a name stands twice.
    bundle = value;
    const next = members[index + 1];
    const previous = members[index - 1];
    if (next) rest = rest.slice(0, begin) + rest.slice(next.begin);
    else rest = rest.slice(0, previous ? previous.end : begin) + rest.slice(end);
  }
}

/** An .apns file: the body with this bundle id as its first member; as it is when it is no JSON object. */
export function withBundle(text, bundle) {
  const { payload } = withoutBundle(text);
  if (!isObject(payload)) return text;
  const open = payload.indexOf("{") + 1;
  const [blank] = /^\s*/.exec(payload.slice(open));
  const member = `${JSON.stringify(BUNDLE_KEY)}: ${JSON.stringify(bundle)}`;
  const isEmpty = payload[open + blank.length] === "}";
  return payload.slice(0, open) + (isEmpty ? member : `${blank}${member},`) + payload.slice(open);
}

/** The body in lines, with every name, number and text as it is written; as it is when it is no JSON. */
export function inLines(text) {
  if (read(text) === undefined) return text;
  const parts = [];
  let depth = 0;
  let last = "";
  for (const [token] of text.matchAll(/"(?:[^"\\]|\\.)*"|[{}[\],:]|[^\s{}[\],:"]+/g)) {
    const isEnd = token === "}" || token === "]";
    const isFirst = last === "{" || last === "[";
    if (isEnd) depth -= 1;
    if (last === "," || isFirst !== isEnd) parts.push("\n", INDENT.repeat(depth));
    parts.push(token === ":" ? ": " : token);
    if (token === "{" || token === "[") depth += 1;
    last = token;
  }
  return parts.join("");
}

function read(text) {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function isObject(text) {
  const value = read(text);
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

// The members of the outermost object with their places: `begin` at the name, `end` behind the value. Only JSON comes as far as
// here, so commas and braces outside of strings are what they seem.
function membersOf(text) {
  if (!isObject(text)) return [];
  const members = [];
  let depth = 0;
  let name = null;
  let from = 0;
  const finish = (at) => {
    const value = text.slice(from, at).trim();
    Object.assign(name, { value: JSON.parse(value), end: from + text.slice(from, at).trimEnd().length });
    members.push(name);
    name = null;
  };
  for (let at = 0; at < text.length; at += 1) {
    const letter = text[at];
    if (letter === '"') {
      const begin = at;
      for (at += 1; text[at] !== '"'; at += 1) if (text[at] === "\\") at += 1;
      if (depth === 1 && !name) name = { begin, name: JSON.parse(text.slice(begin, at + 1)) };
    } else if (letter === "{" || letter === "[") depth += 1;
    else if (letter === ":" && depth === 1) from = at + 1;
    else if (letter === "," && depth === 1) finish(at);
    else if (letter === "}" || letter === "]") {
      depth -= 1;
      if (depth === 0 && name) finish(at);
    }
  }
  return members;
}
