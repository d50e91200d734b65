"""The web library in a real Firefox, against a small mock of the app backend on another origin and the local push service.

Usage: web_library_rules.py <program clarion> <empty folder> <folder with clarion.js and worker.js>
Three origins: the page (site), the backend (mock, with CORS), and a content store to which the mock redirects with 307.
Exits with 0 when every step did what the contract says.
"""

import base64
import hashlib
import http.server
import json
import pathlib
import re
import sys
import threading
import time
import urllib.parse
import zlib

from firefox import Firefox, emulator
from web_push_reader import Server

DEADLINE = 60
# With this one Firefox shows notifications without a window too.
ALERTS = {"alerts.useSystemBackend": False}

PAGE = """<!doctype html><meta charset="utf-8"><title>Shop</title><script type="module">
const report = (kind, value) => fetch('/report', { method: 'POST', body: JSON.stringify({ kind, value }) });
addEventListener('unhandledrejection', ({ reason }) => report('unhandled', `${reason} ${reason?.code} ${reason?.stack}`));
addEventListener('error', ({ message }) => report('unhandled', message));
try {
  const { Clarion, ClarionError } = await import('/clarion.js');
  const clarion = await Clarion.start({
    server: 'BACKEND/', worker: '/worker-of-site.js', page: location.origin + '/', tags: ['news'],
    onReceive: (id) => report('received', id ?? null), onOpen: (id) => report('opened', id, clarion), onSignedOut: () => report('signedOut', 1) });
  const registration = await navigator.serviceWorker.ready;
  const stored = () => new Promise((resolve) => {
    const opening = indexedDB.open('clarion', 1);
    opening.onsuccess = () => {
      const store = opening.result.transaction('state').objectStore('state');
      store.getAll().onsuccess = ({ target }) => { resolve(target.result); opening.result.close(); };
    };
  });
  const steps = {
    ping: async () => 1,
    state: () => clarion.state(),
    signIn: (proof) => clarion.signIn(proof),
    subscribe: async () => { await clarion.subscribe(); return (await registration.pushManager.getSubscription()).toJSON(); },
    unsubscribe: () => clarion.unsubscribe(),
    signOut: () => clarion.signOut(),
    inbox: (page) => clarion.inbox(page),
    details: (id) => clarion.details(id),
    content: async (id) => { const blob = await clarion.content(id); return blob && { size: blob.size, type: blob.type }; },
    markRead: (id) => clarion.markRead(id),
    reply: (id) => clarion.reply(id, 'On my way'),
    open: (id) => clarion.open(id),
    twice: async () => { await Promise.all([clarion.subscribe(), clarion.subscribe()]); return clarion.state(); },
    stored,
    hash: async (id) => { location.hash = `clarion=${id}`; await new Promise((resolve) => setTimeout(resolve, 500)); return location.href; },
    shown: async () => (await registration.getNotifications()).map(({ tag, title, body, icon, silent, lang, data, actions }) => (
      { tag, title, body, icon: icon.slice(0, 22), silent, lang, data, actions })),
    close: async (tag) => { for (const shown of await registration.getNotifications({ tag })) shown.close(); return 1; },
    foreignKey: async (key) => {
      await (await registration.pushManager.getSubscription())?.unsubscribe();
      await registration.pushManager.subscribe({ userVisibleOnly: true, applicationServerKey: key });
      return true;
    },
    globals: async () => new Promise((resolve) => {
      const channel = new MessageChannel();
      channel.port1.onmessage = ({ data }) => resolve(data);
      registration.active.postMessage('globals', [channel.port2]);
    }),
    click: async (data) => { registration.active.postMessage({ test: 'click', ...data }); return 1; },
    reload: async () => { setTimeout(() => location.reload(), 200); return 1; },
    tapped: async (id) => {
      setTimeout(() => { history.replaceState(null, '', `#clarion=${id}`); location.reload(); }, 200);
      return 1;
    },
    missing: async () => (await Clarion.start({ server: 'BACKEND/', worker: '/missing.js' })).subscribe(),
  };
  await report('ready', await clarion.state());
  for (;;) {
    const { step, value, number } = await (await fetch('/step')).json();
    if (!step) { await new Promise((resolve) => setTimeout(resolve, 80)); continue; }
    let result;
    try { result = await steps[step](value) ?? null; } catch (error) {
      result = { failed: error.code ?? String(error), isClarion: error instanceof ClarionError, message: error.message, stack: error instanceof ClarionError ? '' : error.stack };
    }
    await report(`step ${number}`, result);
  }
} catch (error) { await report('failed', `${error} ${error.code ?? ''} ${error.stack ?? ''}`); }
</script>"""

# `dispatch` stands in for a tap, which nothing can make without a window.
WORKER = """const before = new Set(Object.getOwnPropertyNames(self));
importScripts('/worker.js');
const added = Object.getOwnPropertyNames(self).filter((name) => !before.has(name));
self.addEventListener('install', () => self.skipWaiting());
const report = (kind, value) => fetch('/report', { method: 'POST', body: JSON.stringify({ kind, value }) });
self.addEventListener('unhandledrejection', ({ reason }) => report('unhandled', `worker ${reason} ${reason?.stack}`));
const original = ServiceWorkerRegistration.prototype.showNotification;
ServiceWorkerRegistration.prototype.showNotification = async function (title, options) {
  const { icon, image, ...rest } = options;
  await report('shown', { title, ...rest, icon: icon?.slice(0, 22), image: image?.slice(0, 22) });
  return original.call(this, title, options).catch((error) => report('showFailed', String(error)));
};
addEventListener('push', (event) => report('event', { notification: event.notification && event.notification.title, data: event.data && event.data.text(), badge: event.appBadge ?? null }));
addEventListener('message', (event) => {
  if (event.data === 'globals') event.ports[0].postMessage(added);
  if (event.data?.test === 'click') {
    const click = new ExtendableEvent(event.data.kind);
    const notification = { tag: event.data.tag, data: event.data.data, close() {} };
    Object.defineProperties(click, { notification: { value: notification }, action: { value: event.data.action ?? '' } });
    click.waitUntil = (work) => event.waitUntil(work);
    dispatchEvent(click);
  }
});"""


class Web:
    """A small HTTP server of an origin of its own."""

    def __init__(self, react):
        self.requests = requests = []

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def react(self):
                body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
                path = urllib.parse.urlsplit(self.path)
                request = {"method": self.command, "path": path.path, "query": path.query, "headers": {k.lower(): v for k, v in self.headers.items()}, "body": body, "at": time.monotonic()}
                requests.append(request)
                found = react(request)
                if found is None:
                    self.close_connection = True
                    return self.connection.close()
                status, headers, answer = found
                self.send_response(status)
                for name, value in headers.items():
                    self.send_header(name, value)
                if status != 204:
                    self.send_header("Content-Length", str(len(answer)))
                self.end_headers()
                self.wfile.write(answer)

            do_GET = do_POST = do_PUT = do_PATCH = do_DELETE = do_OPTIONS = react

            def log_message(self, *_):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.handle_error = lambda *_: None
        self.address = f"http://localhost:{self.server.server_port}"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()


class Site(Web):
    def __init__(self, library):
        self.reports, self.steps, self.count, self.library = [], [], 0, pathlib.Path(library)
        self.page = ""
        super().__init__(self.react)

    def react(self, request):
        path = request["path"]
        if path == "/report":
            self.reports.append({**json.loads(request["body"]), "at": time.monotonic()})
            return 204, {}, b""
        if path == "/step":
            return 200, {"Content-Type": "application/json"}, json.dumps(self.steps.pop(0) if self.steps else {}).encode()
        if path == "/":
            return 200, {"Content-Type": "text/html"}, self.page.encode()
        if path == "/worker-of-site.js":
            return 200, {"Content-Type": "text/javascript"}, WORKER.encode()
        if path in ("/clarion.js", "/worker.js"):
            return 200, {"Content-Type": "text/javascript"}, (self.library / path[1:]).read_bytes()
        return 404, {}, b""

    def of(self, kind):
        return [report["value"] for report in self.reports if report["kind"] == kind]

    def wait(self, what, found, limit=DEADLINE):
        end = time.monotonic() + limit
        while not (value := found()):
            assert not self.of("failed"), self.of("failed")
            assert time.monotonic() < end, f"{what} did not come; {json.dumps(self.reports[-6:])[:3000]}"
            time.sleep(0.03)
        return value

    def ask(self, step, value=None):
        self.count += 1
        name = f"step {self.count}"
        self.steps.append({"step": step, "value": value, "number": self.count})
        found = self.wait(step, lambda: [r for r in self.reports if r["kind"] == name])[0]["value"]
        assert not (isinstance(found, dict) and "stack" in found and found["stack"]), found
        return found


def png(number):
    def chunk(name, data):
        return len(data).to_bytes(4, "big") + name + data + zlib.crc32(name + data).to_bytes(4, "big")
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", bytes([0, 0, 0, 1, 0, 0, 0, 1, 8, 2, 0, 0, 0])) + chunk(b"IDAT", zlib.compress(bytes([0, number & 255, number >> 8, 7]))) + chunk(b"IEND", b"")


class Backend(Web):
    """The routes of the contract. Whatever `troubles` maps a path to is answered instead: a status, or None for a lost connection."""

    def __init__(self, key, site):
        self.key, self.site, self.troubles = key, site, {}
        self.installations, self.credentials, self.receipts, self.replies, self.reads = {}, {}, [], [], []
        self.entries, self.contents, self.count = {}, {}, 0
        self.store = Web(self.stored)
        super().__init__(self.react)

    def stored(self, request):
        headers = {"Access-Control-Allow-Origin": "*"}
        if request["method"] == "OPTIONS":
            return 204, {**headers, "Access-Control-Allow-Methods": "GET"}, b""
        return 200, {**headers, "Content-Type": "image/png"}, self.contents[request["path"].split("/")[-1]]

    def add(self, id, title, number=None, **options):
        entry = {"id": id, "kind": "img", "title": title, "message": "Half price", "sentAt": 1, "read": False}
        if number is not None:
            data = png(number)
            entry["content"] = {"mediaType": "image/png", "byteCount": len(data), "sha256": hashlib.sha256(data).hexdigest()}
            self.contents[id] = data
        self.entries[id] = {**entry, **options}

    def react(self, request):
        cors = {"Vary": "Origin", "Access-Control-Allow-Origin": self.site.address, "Access-Control-Expose-Headers": "Retry-After"}
        if request["headers"].get("origin") != self.site.address:
            return 403, {}, b"{}"
        if request["method"] == "OPTIONS":
            return 204, {**cors, "Access-Control-Allow-Methods": "GET, POST, PUT, PATCH, DELETE", "Access-Control-Allow-Headers": "Authorization, Content-Type"}, b""
        path = request["path"].removeprefix("/api/v1/")
        for name, trouble in self.troubles.items():
            if re.fullmatch(name, path):
                if trouble is None:
                    return None
                return trouble, {**cors, "Content-Type": "application/problem+json"}, json.dumps({"code": {401: "unauthenticated", 404: "not-found", 400: "invalid-field"}.get(trouble, "overloaded"), "status": trouble}).encode()
        status, value = self.answer(request, path)
        if status == 307:
            return 307, {**cors, "Location": f"{self.store.address}/store/{value}"}, b""
        if isinstance(value, bytes):
            return status, {**cors, "Content-Type": "image/png"}, value
        return status, {**cors, "Content-Type": "application/json"}, json.dumps(value).encode() if value is not None else b""

    def answer(self, request, path):
        method, proof = request["method"], request["headers"].get("authorization", "")
        assert "cookie" not in request["headers"] and "referer" not in request["headers"], request["headers"]
        body = json.loads(request["body"]) if request["body"] else None
        if path == "web-push":
            assert not proof
            return 200, {"publicKey": self.key}
        user = None
        if proof.startswith("Bearer token-"):
            user = proof[13:]
        elif proof.startswith("Basic "):
            user, password = base64.b64decode(proof[6:]).decode().split(":", 1)
            if password != "pässword":
                return 401, {"code": "unauthenticated", "detail": "wrong password"}
        owner, own = self.credentials.get(proof.removeprefix("Bearer "), (None, None))
        if found := re.fullmatch(r"installations/([\w-]{1,128})", path):
            id = found[1]
            if method == "DELETE":
                if own != id:
                    return 401, {"code": "unauthenticated"}
                self.installations.pop(id, None)
                self.credentials.pop(proof.removeprefix("Bearer "))
                return 204, None
            assert set(body) <= {"platform", "handle", "tags", "topic", "locale", "languages", "timeZone", "permission", "capabilities"}, body
            assert body["platform"] == "browser" and isinstance(body["tags"], list) and "#" not in body["topic"], body
            if user:
                held = self.installations.get(id)
                if held and held["user"].lower() != user.lower():
                    return 404, {"code": "not-found"}
                self.count += 1
                credential = f"cred-{self.count}"
                self.credentials = {name: pair for name, pair in self.credentials.items() if pair[1] != id}
                self.credentials[credential] = (user, id)
                self.installations[id] = {"user": user, **body}
                return 200, {"user": user, "credential": credential}
            if own != id:
                return 401, {"code": "unauthenticated"}
            self.installations[id] = {"user": owner, **body}
            return 200, {"user": owner}
        if not owner:
            return 401, {"code": "unauthenticated"}
        if path == "receipts":
            assert all(set(each) <= {"id", "kind", "action", "at"} for each in body["receipts"]), body
            if any(each["id"] == "666" for each in body["receipts"]):
                return 400, {"code": "invalid-field"}
            self.receipts += [{**each, "user": owner} for each in body["receipts"]]
            return 204, None
        if path == "notifications":
            return 200, {"notifications": list(self.entries.values()), "unread": 1, "query": request["query"]}
        id = path.split("/")[1]
        if id not in self.entries:
            return 404, {"code": "not-found"}
        if path.endswith("/details"):
            return 200, self.entries[id]
        if path.endswith("/replies"):
            self.replies.append(body)
            return 204, None
        if method == "PATCH":
            self.reads.append((id, body["read"]))
            return 204, None
        return (307, id) if self.entries[id].get("fileName") == "elsewhere" else (200, self.contents[id])

    def kinds(self, id):
        return sorted(each["kind"] for each in self.receipts if each["id"] == id)


def subject(id, user):
    return hashlib.sha256(f"clarion subject 1\n{id}\n{user.lower()}".encode()).hexdigest()[:16]


def main(program, folder, library):
    service, _, socket = emulator(program, folder + "/emulator")
    site = Site(library)
    server = Server(program, folder + "/server")
    backend = Backend(server.public_key, site)
    site.page = PAGE.replace("BACKEND", backend.address)
    firefox = Firefox(folder + "/profile", socket, site.address + "/", **ALERTS)
    results = []

    def check(name, condition, found=None):
        results.append((name, bool(condition)))
        print("ok  " if condition else "FAIL", name, "" if condition else json.dumps(found, default=str)[:1500], flush=True)

    def push(value, id=None, body="From the push", **data):
        if id:
            value = {"web_push": 8030, "mutable": True, "app_badge": 3, "notification": {"title": value, "body": body, "navigate": f"{site.address}/#clarion={id}", "tag": f"clarion-{id}", "lang": "sv", "data": {"richId": id, "richType": "img", **data}}}
        before = len(site.of("shown"))
        if isinstance(value, str):
            server.call("POST", "messages", {"ServiceBusNotification-Format": "browser", "Content-Type": "text/plain"}, value)
        else:
            server.send(value)
        shown = site.wait("what is shown", lambda: site.of("shown")[before:])
        time.sleep(0.5)
        assert len(site.of("shown")) == before + 1, site.of("shown")[before:]
        return shown[0]

    def eventually(found, limit=15):
        end = time.monotonic() + limit
        while not (value := found()) and time.monotonic() < end:
            time.sleep(0.05)
        return value

    def reloaded():
        before = len(site.of("ready"))
        site.ask("reload")
        site.wait("the page", lambda: site.of("ready")[before:])

    try:
        state = site.wait("the page", lambda: site.of("ready"))[0]
        check("starts signed out", state["user"] is None and state["isSupported"] and not state["isSubscribed"] and not state["needsHomeScreen"], state)
        check("leaks no global names", site.ask("globals") == [], site.ask("globals"))
        found = site.ask("missing")
        check("a service worker that is not there is named", found.get("failed") == "unsupported" and "missing.js" in found["message"], found)
        found = site.ask("inbox")
        check("signed-out calls fail with a code", found.get("failed") == "signed-out" and found["isClarion"], found)
        found = site.ask("signIn", {"name": "Alice", "password": "wrong"})
        check("a wrong password has the server's code", found.get("failed") == "unauthenticated" and "wrong password" in found["message"], found)
        found = site.ask("signIn", {"name": "Alice", "password": "pässword"})
        check("signs in with a password in UTF-8", found == "Alice", found)
        subscription = site.ask("subscribe")
        server.register("firefox", subscription)
        (installation, row), = backend.installations.items()
        check("registers the handle", row.get("handle") == f"{subscription['endpoint']} {subscription['keys']['p256dh']} {subscription['keys']['auth']}" and row["permission"] == "granted" and row["topic"] == site.address + "/" and row["tags"] == ["news"], row)
        state = site.ask("twice")
        check("subscribing twice is harmless", state["isSubscribed"] and state["user"] == "Alice", state)
        puts = lambda: [r for r in backend.requests if r["method"] == "PUT"]
        before = len(puts())
        reloaded()
        time.sleep(1)
        check("an unchanged page load registers nothing", len(puts()) == before, [p["body"].decode() for p in puts()[before:]])

        backend.add("42", "Titel", 1, language="sv")
        shown = push("Push", "42", richFor=subject("42", "alice"))
        check("shows the server's texts and the picture", shown["title"] == "Titel" and shown["body"] == "Half price" and shown["icon"] == "data:image/png;base64," and shown["tag"] == "clarion-42" and shown["data"] == {"richId": "42", "user": "Alice"} and "renotify" not in shown, shown)
        check("reports delivered and fetched", eventually(lambda: backend.kinds("42") == ["delivered", "fetched"]), backend.kinds("42"))
        check("the page hears of it", eventually(lambda: "42" in site.of("received")), site.of("received"))
        shown = site.ask("shown")
        check("Firefox has the notification", [s["tag"] for s in shown] == ["clarion-42"], shown)
        push("Push", "42", richFor=subject("42", "alice"))
        check("a repeat takes its place", [s["tag"] for s in site.ask("shown")] == ["clarion-42"], site.ask("shown"))
        shown = push("Push", "42", richFor=subject("42", "alice"))
        check("and so does one more", shown["title"] == "Titel" and "dismissed" not in backend.kinds("42"), (shown, backend.kinds("42")))

        backend.add("43", "Elsewhere", 2)
        backend.entries["43"]["content"]["fileName"] = backend.entries["43"]["fileName"] = "elsewhere"
        shown = push("Push", "43")
        check("a redirect to the store is followed", shown.get("icon") == "data:image/png;base64,", shown)
        gets = [r for r in backend.store.requests]
        check("the store gets no credential", gets and all("authorization" not in r["headers"] for r in gets), [(r["method"], r["headers"]) for r in gets])
        print("     the store saw:", [(r["method"], r["headers"].get("origin"), r["headers"].get("access-control-request-headers")) for r in gets])
        found = site.ask("content", "43")
        check("the page's content follows too", found == {"size": len(png(2)), "type": "image/png"}, found)
        check("the store gets no credential from the page", all("authorization" not in r["headers"] for r in backend.store.requests), None)

        backend.add("44", "Damaged", 3)
        backend.contents["44"] = png(4)
        shown = push("Push", "44")
        check("damaged bytes are dropped, texts stay", shown["title"] == "Damaged" and not shown.get("icon"), shown)
        found = site.ask("content", "44")
        check("the page refuses them", found.get("failed") == "damaged" and found["isClarion"], found)
        backend.add("45", "Page", 3)
        backend.entries["45"]["content"]["mediaType"] = "text/html"
        found = site.ask("content", "45")
        check("HTML has no type", found == {"size": len(png(3)), "type": ""}, found)

        shown = push("Secret", "42", richFor=subject("42", "bob"))
        requests = len(backend.requests)
        check("another user's push is neutral", shown["title"] == "New notification" and "Secret" not in json.dumps(shown) and shown["silent"] and shown["tag"] == "clarion", shown)
        check("and fetches nothing", not [r for r in backend.requests[requests:] if "details" in r["path"]], None)
        shown = push("Gone", "99")
        check("what the server does not know is neutral", shown["title"] == "New notification", shown)
        shown = push("not JSON at all")
        check("what is no JSON shows something", shown["title"] == "New notification", shown)
        shown = push({"notification": {"title": "Plain", "body": "Words", "data": {}}})
        check("a plain text", shown["title"] == "Plain" and shown["body"] == "Words" and shown["actions"] == [], shown)
        shown = push({"other": 1})
        check("strange JSON", shown["title"] == "New notification", shown)

        backend.troubles = {".*": None}
        backend.add("46", "Never seen", 5)
        started = time.monotonic()
        shown = push("Offline", "46")
        check("without a network the push's own texts", shown["title"] == "Offline" and shown["body"] == "From the push" and time.monotonic() - started < 10.5, (shown, time.monotonic() - started))
        site.ask("open", "46")
        check("a receipt is kept", any(each["kind"] == "opened" for each in site.ask("stored")[0]["receipts"]), site.ask("stored"))
        backend.troubles = {}
        reloaded()
        check("and delivered at the next load", eventually(lambda: {"delivered", "opened", "failed"} <= set(backend.kinds("46"))), backend.kinds("46"))
        check("nothing waits then", eventually(lambda: site.ask("stored")[0]["receipts"] == []), site.ask("stored"))
        site.ask("open", "666")
        site.ask("open", "47")
        check("a refused receipt is dropped", eventually(lambda: site.ask("stored")[0]["receipts"] == []), site.ask("stored"))
        check("without the others", "opened" in backend.kinds("47"), backend.kinds("47"))
        backend.troubles = {"receipts": 503}
        site.ask("open", "42")
        check("503 keeps it", "opened" in [each["kind"] for each in site.ask("stored")[0]["receipts"]], site.ask("stored"))
        backend.troubles = {}

        found = site.ask("hash", "42")
        check("an open from the fragment", found == site.address + "/" and site.of("opened") == ["42"], (found, site.of("opened")))
        site.ask("click", {"kind": "notificationclick", "tag": "clarion-43", "data": {"richId": "43", "user": "Alice"}, "action": "richPushMore"})
        check("a tap reaches the open page", eventually(lambda: "43" in site.of("opened")), site.of("opened"))
        check("and is reported", eventually(lambda: {"opened", "action"} <= set(backend.kinds("43"))), backend.kinds("43"))
        before = len(site.of("ready"))
        site.ask("tapped", "49")
        site.wait("the page that a tap has opened", lambda: site.of("ready")[before:])
        check("a tap that opens the page reaches code that uses the library", eventually(lambda: "49" in site.of("opened")), site.of("opened"))
        site.ask("click", {"kind": "notificationclose", "tag": "clarion-44", "data": {"richId": "44", "user": "Alice"}})
        check("a dismissal is reported", eventually(lambda: "dismissed" in backend.kinds("44")), backend.kinds("44"))
        def repeated(id):
            shown = push("Again", id)
            return shown["title"] == "New notification" and shown["silent"] and f"clarion-{id}" not in [s["tag"] for s in site.ask("shown")]

        # Firefox reports what a page closes as it reports what the user dismisses.
        backend.add("48", "Once", 6)
        shown = push("Push", "48")
        site.ask("close", "clarion-48")
        check("Firefox reports that it was closed", shown["title"] == "Once" and eventually(lambda: "dismissed" in backend.kinds("48")), (shown, backend.kinds("48")))
        check("what was dismissed is not shown again", repeated("48"), site.ask("shown"))
        check("nor what was tapped", repeated("43"), site.ask("shown"))
        check("something is", "clarion" in [s["tag"] for s in site.ask("shown")], site.ask("shown"))
        found = site.ask("inbox", {"limit": 2})
        check("the inbox", found["query"] == "limit=2" and len(found["notifications"]) > 3, found)
        backend.entries["42"]["link"] = "javascript:alert(1)"
        check("a bad link is left out", "link" not in site.ask("details", "42"), None)
        backend.entries["42"]["link"] = "https://example.com/"
        check("a good one stays", site.ask("details", "42")["link"] == "https://example.com/", None)
        site.ask("markRead", "42")
        site.ask("reply", "42")
        check("read mark and reply", backend.reads == [("42", True)] and [r["text"] for r in backend.replies] == ["On my way"], (backend.reads, backend.replies))

        found = site.ask("signIn", {"token": "token-bob"})
        check("another user", found == "bob" and site.ask("shown") == [], (found, site.ask("shown")))
        check("one installation each, the former's ended", eventually(lambda: [row["user"] for row in backend.installations.values()] == ["bob"]), backend.installations)
        check("no receipts of the former user", all(each["user"] == "Alice" for each in backend.receipts if each["id"] in ("42", "43")), None)
        shown = push("Push", "48")
        check("another user sees what the former one has dismissed", shown["title"] == "Once", shown)
        check("still subscribed", list(backend.installations.values())[0].get("handle", "").startswith("http"), backend.installations)

        reloaded()
        backend.troubles = {"web-push": None}
        reloaded()
        backend.troubles = {}
        other = Server(program, folder + "/other")
        other.end()
        before = len(puts())
        backend.key = other.public_key
        reloaded()
        check("another key of the server makes another subscription", eventually(lambda: puts()[before:]), None)
        renewed = site.ask("state")
        check("and is stored", renewed["isSubscribed"] and site.ask("stored")[0]["key"] == other.public_key, renewed)
        backend.key = server.public_key
        subscription = site.ask("subscribe")
        server.register("firefox", subscription)

        credential = next(iter(backend.credentials))
        backend.credentials.clear()
        found = site.ask("inbox")
        check("401 ends the session", found.get("failed") == "unauthenticated" and eventually(lambda: site.of("signedOut")) and site.ask("state")["user"] is None, found)
        check("without the credential", credential not in json.dumps(site.ask("stored")) and credential not in json.dumps(found), site.ask("stored"))
        shown = push("Secret", "42")
        check("then pushes are neutral", shown["title"] == "New notification" and "Secret" not in json.dumps(shown), shown)
        check("what was shown before is still there", "clarion-48" in [s["tag"] for s in site.ask("shown")], site.ask("shown"))
        reloaded()
        check("until a page loads", site.ask("shown") == [], site.ask("shown"))
        found = site.ask("signIn", {"token": "token-bob"})
        check("signs in again at the same installation", found == "bob" and len(backend.installations) == 1, backend.installations)
        backend.credentials.clear()
        shown = push("Secret", "42")
        check("401 in the worker: neutral, and the page hears", shown["title"] == "New notification" and eventually(lambda: len(site.of("signedOut")) == 2), (shown, site.of("signedOut")))
        site.ask("signIn", {"token": "token-bob"})
        site.ask("unsubscribe")
        check("unsubscribes", not site.ask("state")["isSubscribed"] and site.ask("state")["user"] == "bob" and not list(backend.installations.values())[0].get("handle"), backend.installations)
        site.ask("foreignKey", other.public_key)
        check("a subscription of another service is not ours", not site.ask("state")["isSubscribed"], site.ask("state"))
        subscription = site.ask("subscribe")
        server.register("firefox", subscription)
        push("Push", "42")
        site.ask("signOut")
        check("signs out", site.ask("stored") == [] and site.ask("shown") == [] and not site.ask("state")["isSubscribed"] and not backend.installations, (site.ask("stored"), site.ask("shown"), backend.installations))
        site.ask("signIn", {"token": "token-bob"})
        site.ask("open", "42")
        backend.troubles = {".*": None}
        started = time.monotonic()
        site.ask("signOut")
        took = time.monotonic() - started
        kept = site.ask("stored")
        check("signs out without a network", len(kept) == 1 and set(kept[0]) == {"leaving"} and set(kept[0]["leaving"][0]) == {"server", "installation", "credential"} and took < 12, (kept, took))
        backend.troubles = {}
        reloaded()
        check("and the server hears later", eventually(lambda: not backend.installations and site.ask("stored") == []), (backend.installations, site.ask("stored")))
        site.ask("signOut")
        check("signing out twice is harmless", site.ask("stored") == [], None)
        check("no unhandled errors", not site.of("unhandled") and not site.of("showFailed"), (site.of("unhandled"), site.of("showFailed")))
        print("     events:", {json.dumps({"notification": bool(e.get("notification")), "data": bool(e.get("data"))}) for e in site.of("event")})
    finally:
        firefox.kill()
        server.kill()
        service.terminate()
        service.wait(DEADLINE)
        pathlib.Path(folder, "reports.json").write_text(json.dumps(site.reports))
    bad = [name for name, isGood in results if not isGood]
    print(f"{len(results) - len(bad)} passed, {len(bad)} failed")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
