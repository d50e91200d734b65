// The service worker of the web library with small fakes of what a browser has, for what Firefox cannot be brought to do: a server that
// hangs, storage that fails, Background Sync, Declarative Web Push. Its clock runs ten times as fast.
// Usage: node web_library_worker.mjs <folder with worker.js>
import { test } from "node:test";
import assert from "node:assert/strict";
import fs from "node:fs";
import vm from "node:vm";
import { webcrypto, createHash } from "node:crypto";

const source = fs.readFileSync(`${process.argv[2]}/worker.js`, "utf8");
const speed = 10;
/** How long something takes by the clock of the worker. */
const took = async (work) => {
  const started = Date.now();
  await work();
  return (Date.now() - started) * speed;
};
const subject = (id, user) => createHash("sha256").update(`clarion subject 1\n${id}\n${user}`).digest("hex").slice(0, 16);
const later = (work) => setTimeout(work, 0);

/** A worker in surroundings of its own: `stored` is its state, `reply` the server, `screen` what is shown already. */
function worker({ stored, reply, pages = [], screen = [], brokenStorage = false } = {}) {
  const seen = { shown: [], calls: [], posted: [], opened: [], badge: [], synced: [], subscribed: [], deadlines: [] };
  const box = { value: stored && structuredClone(stored) };
  const listeners = {};
  const database = {
    createObjectStore() {}, close() {},
    transaction() {
      const get = () => {
        const request = {};
        later(() => {
          request.onsuccess({ target: { result: box.value && structuredClone(box.value) } });
          later(() => transaction.oncomplete());
        });
        return request;
      };
      const put = (value) => { box.value = structuredClone(value); };
      const transaction = { objectStore: () => ({ get, put, delete: () => put(undefined) }) };
      return transaction;
    } };
  const open = () => {
    const opening = { result: database };
    later(() => brokenStorage ? opening.onerror() : opening.onsuccess());
    return opening;
  };
  const fetch = async (url, options) => {
    const path = url.replace("https://push.example.com/api/v1/", "");
    seen.calls.push({ path, ...options, body: options.body && JSON.parse(options.body) });
    const answer = await reply(path, options);
    if (!answer) throw new TypeError("network");
    if (answer === "hangs") return new Promise((_, reject) => {
      options.signal.addEventListener("abort", () => reject(options.signal.reason));
    });
    const { status = 200, json, bytes, headers = {} } = answer;
    return {
      ok: status < 300, status, json: async () => json, arrayBuffer: async () => bytes,
      headers: { get: (name) => headers[name] ?? null } };
  };
  const timeout = (milliseconds) => {
    seen.deadlines.push(milliseconds);
    return AbortSignal.timeout(milliseconds / speed);
  };
  const context = {
    indexedDB: { open }, crypto: webcrypto, TextEncoder, AbortSignal: { timeout }, btoa, fetch,
    setTimeout: (work, milliseconds) => setTimeout(work, milliseconds / speed),
    MessageChannel: class {
      port1 = {};
      port2 = { postMessage: () => this.port1.onmessage({}) };
    },
    BroadcastChannel: class { postMessage(message) { seen.posted.push(message); } },
    navigator: { setAppBadge: async (count) => { seen.badge.push(count); } },
    ServiceWorkerGlobalScope: class {},
    registration: {
      scope: "https://shop.example/",
      showNotification: async (title, options) => { seen.shown.push({ title, ...options }); },
      getNotifications: async ({ tag } = {}) => screen.filter((one) => !tag || one.tag === tag),
      sync: { register: async (tag) => { seen.synced.push(tag); } },
      pushManager: { subscribe: async (options) => { seen.subscribed.push(options); return subscription("new"); } } },
    clients: { matchAll: async () => pages, openWindow: async (url) => { seen.opened.push(url); } },
    addEventListener: (kind, react) => { listeners[kind] = react; } };
  context.self = context;
  vm.createContext(context);
  // Waits are as long as they can be.
  vm.runInContext("Math.random = () => 0.99", context);
  const before = Object.keys(context);
  vm.runInContext(source, context);
  assert.deepEqual(Object.keys(context), before);
  /** Whether the worker took the event as its own. */
  const fire = async (kind, event = {}) => {
    let work;
    listeners[kind]({ ...event, waitUntil: (promise) => { work = promise; } });
    await work;
    return work !== undefined;
  };
  return { seen, box, fire };
}
const shown = async (seen) => { while (!seen.shown.length) await new Promise((resolve) => setTimeout(resolve, 2)); };
const subscription = (name) => ({ toJSON: () => ({ endpoint: `https://push/${name}`, keys: { p256dh: "p", auth: "a" } }) });
const session = {
  server: "https://push.example.com", page: "https://shop.example/app/", installation: "i", user: "Alice", credential: "c", key: "K",
  receipts: [], registered: { platform: "browser", handle: "old" } };
const push = (value) => ({ data: { json: () => value } });
const rich = (more = {}) => ({
  app_badge: 3,
  notification: { title: "T", body: "B", data: { user: "Alice", richId: "42", richFor: subject("42", "alice"), ...more } } });
const own = (id, more) => ({
  action: "", notification: { tag: `clarion-${id}`, data: { user: "Alice", richId: id }, close() {}, ...more } });
const isReceipts = (path) => path === "receipts" && { status: 204 };
const works = (path) => isReceipts(path) || (path.endsWith("/details")
  ? { json: { message: "M" } } : { status: 404, json: { code: "not-found" } });

test("reads the form of Declarative Web Push, without data", async () => {
  const { seen, fire, box } = worker({ stored: session, reply: works });
  const { data } = rich().notification;
  await fire("push", { data: null, appBadge: 0, notification: { title: "T", body: "B", tag: "x", lang: "", data } });
  assert.equal(seen.shown[0].title, "M");
  assert.equal(seen.shown[0].tag, "clarion-42");
  assert.deepEqual(seen.badge, [0]);
  assert.deepEqual(box.value.receipts, []);
});
test("a notification of the push event is not taken for one that was tapped", async () => {
  const { seen, fire } = worker({ stored: session, reply: works });
  await fire("push", { data: null, notification: { title: "T", tag: "foreign", data: null } });
  assert.equal(seen.shown[0].title, "T");
});
test("a push without data shows something", async () => {
  const { seen, fire } = worker({ stored: session, reply: works });
  await fire("push", { data: null });
  assert.deepEqual(seen.shown.map(({ title }) => title), ["New notification"]);
});
test("shows a neutral notification without storage", async () => {
  const { seen, fire } = worker({ brokenStorage: true, reply: works });
  await fire("push", push(rich()));
  assert.deepEqual(seen.shown.map(({ title, tag }) => [title, tag]), [["New notification", "clarion"]]);
  assert.deepEqual(seen.calls, []);
});
test("a server that hangs leaves the texts of the push, after eight seconds", async () => {
  const { seen, fire, box } = worker({ stored: session, reply: (path) => path === "receipts" ? null : "hangs" });
  const done = fire("push", push(rich()));
  await shown(seen);
  assert.equal(seen.deadlines[0], 8000);
  assert.deepEqual([seen.shown[0].title, seen.shown[0].body], ["T", "B"]);
  await done;
  assert.deepEqual(box.value.receipts.map(({ kind }) => kind), ["delivered", "failed"]);
  assert.deepEqual(seen.synced, ["clarion"]);
});
test("waiting for a repeat ends with the deadline", async () => {
  const reply = (path) => isReceipts(path) || { status: 503, json: {}, headers: { "retry-after": "5" } };
  const { seen, fire } = worker({ stored: session, reply });
  const done = fire("push", push(rich()));
  assert.ok(await took(() => shown(seen)) < 15_000);
  await done;
});
test("a long Retry-After is not waited for", async () => {
  const reply = (path) => isReceipts(path) || { status: 429, json: {}, headers: { "retry-after": "60" } };
  const { seen, fire } = worker({ stored: session, reply });
  await fire("push", push(rich()));
  assert.equal(seen.calls.filter(({ path }) => path !== "receipts").length, 1);
});
test("a badge of another user's push is not set", async () => {
  const { seen, fire } = worker({ stored: session, reply: works });
  await fire("push", push(rich({ richFor: subject("42", "bob") })));
  assert.deepEqual(seen.badge, []);
  assert.deepEqual(seen.calls, []);
});
test("a user change during the fetch makes it neutral", async () => {
  const parts = worker({ stored: session, reply: (path) => {
    if (path.endsWith("/details")) parts.box.value = { ...session, user: "Bob", credential: "d" };
    return works(path);
  } });
  await parts.fire("push", push(rich()));
  assert.equal(parts.seen.shown[0].title, "New notification");
  assert.deepEqual(parts.box.value.receipts, []);
});
test("a tap without a page opens the stored page alone", async () => {
  const { seen, fire } = worker({ stored: session, reply: works });
  let isClosed = false;
  const data = { user: "Alice", richId: "42", navigate: "https://evil.example/" };
  await fire("notificationclick", own("42", { data, close() { isClosed = true; } }));
  assert.deepEqual(seen.opened, ["https://shop.example/app/#clarion=42"]);
  assert.ok(isClosed);
});
test("a tap goes to the first page that listens", async () => {
  const page = (url, isAwake) => ({
    url, heard: [], isFocused: false,
    async focus() { this.isFocused = true; },
    postMessage(message, ports) {
      this.heard.push(message);
      if (ports && isAwake) ports[0].postMessage(0);
    } });
  const pages = [["other", false], ["app/", true], ["third", true]].map(([path, isAwake]) => page(`https://shop.example/${path}`, isAwake));
  const { seen, fire } = worker({ stored: session, reply: works, pages });
  await fire("notificationclick", own("42"));
  assert.deepEqual(pages.map(({ isFocused }) => isFocused), [false, true, false]);
  assert.deepEqual(pages.map(({ heard }) => heard.length), [1, 2, 1]);
  assert.deepEqual(seen.opened, []);
});
test("a notification of the site is left alone", async () => {
  const { seen, fire } = worker({ stored: session, reply: works });
  assert.equal(await fire("notificationclick", { notification: { tag: "site", data: {}, close: assert.fail } }), false);
  assert.deepEqual(seen.opened, []);
});
test("another subscription is registered, with newSubscription and without", async () => {
  for (const newSubscription of [subscription("given"), null]) {
    const { seen, fire, box } = worker({ stored: session, reply: () => ({ json: { user: "Alice" } }) });
    await fire("pushsubscriptionchange", { newSubscription });
    const name = newSubscription ? "given" : "new";
    const [{ method, path, body }] = seen.calls;
    assert.deepEqual([method, path, body], ["PUT", "installations/i", { platform: "browser", handle: `https://push/${name} p a` }]);
    assert.equal(seen.subscribed.length, newSubscription ? 0 : 1);
    assert.equal(box.value.registered.handle, `https://push/${name} p a`);
  }
});
test("sync repeats what failed, and fails while it cannot", async () => {
  const receipts = [{ id: "1", kind: "opened", at: 1 }];
  let isUp = false;
  const { fire, box } = worker({ stored: { ...session, receipts }, reply: () => isUp ? { status: 204 } : null });
  await assert.rejects(fire("sync", { tag: "clarion" }), { code: "network" });
  isUp = true;
  await fire("sync", { tag: "clarion" });
  assert.deepEqual(box.value.receipts, []);
});
test("a notification of a former user is not reported", async () => {
  const { seen, fire, box } = worker({ stored: session, reply: works });
  const data = { richId: "42", user: "Bob" };
  await fire("notificationclose", own("42", { data }));
  await fire("notificationclick", own("42", { data }));
  assert.deepEqual([box.value.receipts, box.value.done, seen.opened], [[], undefined, ["https://shop.example/app/"]]);
});
test("what was dismissed or tapped is not shown again, and yet something is", async () => {
  for (const kind of ["notificationclose", "notificationclick"]) {
    const { seen, fire, box } = worker({ stored: session, reply: works });
    await fire("push", push(rich()));
    await fire("push", push(rich()));
    await fire(kind, own("42"));
    assert.deepEqual(box.value.done, ["42"]);
    await fire("push", push(rich()));
    const texts = seen.shown.map(({ title, tag, silent }) => [title, tag, silent]);
    assert.deepEqual(texts, [["M", "clarion-42", undefined], ["M", "clarion-42", undefined], ["New notification", "clarion", true]]);
    assert.equal(seen.calls.filter(({ path }) => path.endsWith("/details")).length, 2);
  }
});
test("remembers a hundred dismissals, the newest, each once", async () => {
  const done = Array.from({ length: 100 }, (_, at) => String(at + 1000));
  const { fire, box } = worker({ stored: { ...session, done }, reply: works });
  for (const id of ["1001", "42"]) await fire("notificationclose", own(id));
  assert.equal(box.value.done.length, 100);
  assert.deepEqual([box.value.done[0], ...box.value.done.slice(-3)], ["1002", "1099", "1001", "42"]);
});
test("a notification that another one has replaced was not dismissed", async () => {
  for (const tag of ["clarion-42", "clarion-43"]) {
    const { seen, fire, box } = worker({ stored: session, reply: works, screen: [{ tag }] });
    await fire("notificationclose", own("42"));
    assert.equal(seen.calls.length, tag === "clarion-42" ? 0 : 1);
    assert.deepEqual(box.value.done, tag === "clarion-42" ? undefined : ["42"]);
  }
});
test("keeps a hundred receipts, the newest", async () => {
  const receipts = Array.from({ length: 100 }, (_, at) => ({ id: String(at + 1000), kind: "opened", at }));
  const { fire, box } = worker({ stored: { ...session, receipts }, reply: () => null });
  await fire("notificationclose", own("42"));
  assert.equal(box.value.receipts.length, 100);
  assert.deepEqual([box.value.receipts[0].id, box.value.receipts[99].kind], ["1001", "dismissed"]);
});
test("an id that is no number is not fetched", async () => {
  const { seen, fire } = worker({ stored: session, reply: works });
  await fire("push", push(rich({ richId: "../../users", richFor: undefined })));
  assert.deepEqual(seen.calls, []);
  assert.equal(seen.shown[0].title, "T");
});
test("the credential goes in Authorization alone", async () => {
  const { seen, fire } = worker({ stored: session, reply: works });
  await fire("push", push(rich()));
  for (const call of seen.calls) {
    assert.equal(call.headers.authorization, "Bearer c");
    assert.deepEqual([call.credentials, call.referrerPolicy, call.path.includes("Bearer")], ["omit", "no-referrer", false]);
  }
});
