// Calls of the server's API, signed by the cookie of the session.

const ROOT = "/api/v1";
const DEADLINE_MILLISECONDS = 30_000;
const UPLOAD_DEADLINE_MILLISECONDS = 600_000;

let onSessionEnd = () => {};

/** Who is signed in, and what they may do; `null` before that is known. */
export const session = { user: null };

/** Calls `handler` when the server no longer takes the session. */
export function whenSessionEnds(handler) {
  onSessionEnd = handler;
}

/** Whether the signed-in person may do something, such as `send`, for everything of the app. */
export function may(operation, extent = "all") {
  const granted = session.user?.operations[operation];
  return granted === "all" || (granted !== undefined && extent === "own");
}

/** An error answer of the server, or none at all. */
export class CallError extends Error {
  constructor(status, problem) {
    super(problem.detail || problem.title || "The server did not answer as expected.");
    this.status = status;
    this.code = problem.code || "";
  }
}

/** Calls the API and returns what it answers. `body` is sent as JSON; `content` is a file, sent as it is. */
export async function call(method, path, { query, body, content, headers } = {}) {
  return request(method, ROOT + path + queryText(query), { body, content, headers });
}

/** The items of a list, at most `most` pages of it. `after` names the parameter that asks for the page behind the `next` of another. */
export async function pages(path, name, { query, after = "before", most = 20 } = {}) {
  const items = [];
  let next;
  for (let page = 0; page < most; page += 1) {
    const answer = await call("GET", path, { query: { ...query, [after]: next } });
    items.push(...answer[name]);
    next = answer.next;
    if (next === undefined) break;
  }
  return { items, isCut: next !== undefined };
}

/** The address of a route of the console itself. */
export const consoleAddress = (path) => location.pathname.replace(/\/$/, "") + path;

/** Calls a route of the console itself. */
export const callConsole = (method, path, body) => request(method, consoleAddress(path), { body });

/** What a server without JSON answers, such as `/readyz`, whatever its status. */
export async function text(path) {
  const response = await attempt(path, { method: "GET" }, DEADLINE_MILLISECONDS);
  return { status: response.status, text: await response.text() };
}

async function request(method, address, { body, content, headers = {} }) {
  const options = { method, headers: { Accept: "application/json", ...headers } };
  if (content) options.body = content;
  if (body !== undefined) {
    options.headers["Content-Type"] = "application/json";
    options.body = JSON.stringify(body);
  }
  const response = await attempt(address, options, content ? UPLOAD_DEADLINE_MILLISECONDS : DEADLINE_MILLISECONDS);
  if (response.status === 204) return null;
  const answer = await response.json().catch(() => ({}));
  if (response.ok) return answer;
  if (response.status === 401 && session.user) onSessionEnd();
  throw new CallError(response.status, answer);
}

async function attempt(address, options, deadline) {
  try {
    return await fetch(address, { ...options, credentials: "same-origin", signal: AbortSignal.timeout(deadline) });
  } catch (error) {
    const detail = error.name === "TimeoutError" ? "The server did not answer in time." : "The server cannot be reached.";
    throw new CallError(0, { detail });
  }
}

function queryText(query = {}) {
  const given = Object.entries(query).filter(([, value]) => value !== undefined && value !== null && value !== "");
  return given.length ? `?${new URLSearchParams(given)}` : "";
}
