"""A real Firefox subscribes at the local push service and gets what the server sends through it, and what pywebpush sends.

Usage: firefox.py <program clarion> <empty folder> [<pushes> [<under way at most> [<limit in ms>]]]
Firefox runs without a window. Its page subscribes by itself and posts the subscription here; its service worker posts what it reads.
Exits with 0 when every push came once, while Firefox and the server were killed in between.
"""

import http.server
import json
import os
import pathlib
import re
import subprocess
import sys
import threading
import time
import urllib.parse

from web_push_reader import DEADLINE, SUBJECT, Server

# The push service resets a browser for which more than 150 messages wait.
UNDER_WAY = 100

# A file for a picture of the screen with a notification. Firefox has a window then, on the display of the environment.
PICTURE = os.environ.get("FIREFOX_PICTURE")

PREFERENCES = {
    "dom.push.testing.allowInsecureServerURL": True, "dom.push.enabled": True, "dom.push.connection.enabled": True,
    "dom.serviceWorkers.enabled": True, "permissions.default.desktop-notification": 1, "network.manage-offline-status": False,
    "dom.push.maxQuotaPerSubscription": 1_000_000, "dom.webnotifications.requireuserinteraction": False,
    "dom.push.retryBaseInterval": 200, "browser.pagethumbnails.capturing_disabled": True,
    "browser.shell.checkDefaultBrowser": False, "datareporting.policy.dataSubmissionEnabled": False,
    "app.update.enabled": False, "browser.aboutwelcome.enabled": False, "toolkit.telemetry.reportingpolicy.firstRun": False,
    "extensions.autoDisableScopes": 15, "services.settings.server": "http://127.0.0.1:1/", "browser.safebrowsing.provider.google4.updateURL": "",
}

PAGE = """<!doctype html><meta charset="utf-8"><title>Subscribe</title><script>
// Firefox does not answer what is asked before its push service has begun.
const patiently = async (call) => {
  const late = Symbol();
  for (;;) {
    const result = await Promise.race([call(), new Promise((resolve) => setTimeout(resolve, 2000, late))]);
    if (result !== late) return result;
  }
};
const report = (kind, value) => fetch('/report', { method: 'POST', body: JSON.stringify({ kind, value }) });
try {
  const registration = await navigator.serviceWorker.register('/worker.js');
  await navigator.serviceWorker.ready;
  const known = await patiently(() => registration.pushManager.getSubscription());
  const key = new URLSearchParams(location.search).get('key');
  const options = { userVisibleOnly: true, applicationServerKey: key };
  const subscription = known ?? await registration.pushManager.subscribe(options);
  await report(known ? 'known' : 'subscribed', subscription.toJSON());
} catch (error) {
  await report('failed', String(error));
}
</script>""".replace("<script>", '<script type="module">')

WORKER = """
self.addEventListener('install', () => self.skipWaiting());
self.addEventListener('activate', (event) => event.waitUntil(self.clients.claim()));
self.addEventListener('push', (event) => {
  const value = event.data.json();
  const shown = self.registration.showNotification(value.title, { tag: 'push' }).catch(() => {});
  event.waitUntil(Promise.all([shown, fetch('/report', { method: 'POST', body: JSON.stringify({ kind: 'push', value }) })]));
});
"""


class Site:
    """The page, its worker and what they report."""

    def __init__(self, page=PAGE, worker=WORKER):
        self.reports = reports = []
        self.steps = steps = []
        self.count = 0
        files = {"/": ("text/html", page), "/worker.js": ("text/javascript", worker)}

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def answer(self, status, kind="text/plain", text=""):
                body = text.encode()
                self.send_response(status)
                self.send_header("Content-Type", kind + "; charset=utf-8")
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def do_GET(self):
                if self.path == "/step":
                    return self.answer(200, "application/json", json.dumps(steps.pop(0) if steps else {}))
                kind, text = files.get(urllib.parse.urlsplit(self.path).path, (None, None))
                self.answer(200, kind, text) if kind else self.answer(404)

            def do_POST(self):
                reports.append({**json.loads(self.rfile.read(int(self.headers["Content-Length"]))), "at": time.monotonic()})
                self.answer(204)

            def log_message(self, *_):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.address = f"http://localhost:{self.server.server_port}"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def of(self, kind):
        return [report for report in self.reports if report["kind"] == kind]

    def ask(self, step, value=None):
        """Lets the page do a step; gives back what it reports."""
        self.count += 1
        self.steps.append({"step": step, "value": value, "number": self.count})
        return self.wait(step, lambda: self.of(f"step {self.count}"))[0]["value"]

    def wait(self, what, found):
        end = time.monotonic() + DEADLINE
        while not (value := found()):
            assert not self.of("failed"), self.of("failed")
            assert time.monotonic() < end, f"{what} did not come; {len(self.of('push'))} pushes did"
            time.sleep(0.02)
        return value


def photograph():
    """Takes the picture of the screen that the environment asks for."""
    if PICTURE:
        time.sleep(3)
        subprocess.run(["import", "-window", "root", PICTURE], check=True)


class Firefox:
    def __init__(self, folder, push_address, page, **preferences):
        self.profile, self.page = folder, page
        os.makedirs(folder)
        values = {**PREFERENCES, "dom.push.serverURL": push_address, **preferences}
        lines = [f"user_pref({json.dumps(name)}, {json.dumps(value)});" for name, value in values.items()]
        pathlib.Path(folder, "user.js").write_text("\n".join(lines) + "\n")
        self.start()

    def start(self):
        # Firefox cannot make its sandbox without the privileges that tests do not have, and the only page is the one above.
        sandboxes = {f"MOZ_DISABLE_{name}_SANDBOX": "1" for name in ("CONTENT", "GMP", "RDD", "SOCKET_PROCESS", "UTILITY")}
        environment = {**os.environ, **sandboxes, "HOME": self.profile, "MOZ_CRASHREPORTER_DISABLE": "1"}
        with open(self.profile + ".log", "a") as log:
            self.process = subprocess.Popen(
                ["firefox-esr", *([] if PICTURE else ["--headless"]), "--no-remote", "--profile", self.profile, self.page], env=environment, stdout=log,
                stderr=log, start_new_session=True)

    def kill(self):
        os.killpg(self.process.pid, 9)
        self.process.wait()


def emulator(program, folder, port=0):
    """Starts the push service; gives back the process and the two addresses."""
    words = [
        "emulator", "--port", "0", "--management-port", "0", "--admin-port", "0", "--web-push-port", str(port), "--directory", folder]
    process = subprocess.Popen(["stdbuf", "-oL", program, *words], stdout=subprocess.PIPE, text=True)
    for line in process.stdout:
        if found := re.search(r"on (http://\S+), for Firefox (ws://\S+)", line):
            threading.Thread(target=process.stdout.read, daemon=True).start()
            return process, *found.groups()
    raise AssertionError("the push service ended before it listened")


def send_as_others(subscription, key, value):
    """Sends with a library that shares no code with the server."""
    from pywebpush import webpush

    answer = webpush(subscription, json.dumps(value), key, {"sub": SUBJECT}, ttl=60, timeout=DEADLINE)
    assert answer.status_code == 201, answer.text


def main(program, folder, count=100, under_way=UNDER_WAY, limit=None):
    service, origin, socket = emulator(program, folder + "/emulator")
    site = Site()
    server = Server(program, folder + "/server")
    firefox = Firefox(folder + "/profile", socket, f"{site.address}/?key={server.public_key}")
    sent = {}

    def send(numbers, under_way=UNDER_WAY):
        for number in numbers:
            site.wait("the pushes before", lambda: len(sent) - len(site.of("push")) < under_way)
            sent[number] = time.monotonic()
            server.send({"title": f"Push {number}", "number": number})

    def wait(what):
        site.wait(what, lambda: set(sent) <= {report["value"]["number"] for report in site.of("push")})

    try:
        subscription = site.wait("the subscription", lambda: site.of("subscribed"))[0]["value"]
        assert subscription["endpoint"].startswith(origin), subscription["endpoint"]
        send_as_others(subscription, server.key, {"title": "Push of pywebpush", "number": -1})
        site.wait("the push of pywebpush", lambda: site.of("push"))
        site.reports.clear()
        server.register("firefox", subscription)
        send(range(count), under_way)
        wait("every push")
        assert len(site.of("push")) == count, "a push came twice although nothing broke"
        waits = sorted(report["at"] - sent[report["value"]["number"]] for report in site.of("push"))
        firefox.kill()
        # Firefox ends a subscription after 16 pushes that show nothing, and here it shows nothing.
        send(range(count, count + 10))
        firefox.start()
        wait("what was sent while Firefox was away")
        found = site.wait("the page after the restart", lambda: site.of("known") + site.of("subscribed"))[0]["value"]
        assert found == subscription, "the browser has another subscription after a restart"
        send(range(count + 10, count + 20))
        server.kill()
        server.start()
        wait("what the server had accepted before it was killed")
        numbers = [report["value"]["number"] for report in site.of("push")]
        # The server sends once more what it had not counted when it was killed.
        twice = sorted(number for number in set(numbers) if numbers.count(number) > 1)
        assert all(numbers.count(number) == 2 and number >= count + 10 for number in twice), f"{twice} came more than once"
        late = waits[count * 99 // 100] * 1000
        print(
            f"Firefox got {len(set(numbers))} of {len(sent)} pushes, {len(twice)} of them twice; of the first {count} half came within "
            f"{waits[count // 2] * 1000:.0f} ms, 99 % within {late:.0f} ms")
        assert limit is None or late <= limit, f"the limit is {limit} ms"
    finally:
        firefox.kill()
        server.end()
        service.terminate()
        service.wait(DEADLINE)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], *map(int, sys.argv[3:]))
