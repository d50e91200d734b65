"""A page with the web library in a real Firefox gets rich notifications of the app backend.

Usage: web_library.py <program clarion> <empty folder> [<notifications>]
The page is of another origin than the server. Exits with 0 when every notification came with its content and was reported, while
Firefox, the server and the push service were killed in between, and when nothing was left after the sign-out.
"""

import base64
import json
import pathlib
import socket
import sys
import time
import urllib.request
import zlib

from firefox import Firefox, Site, emulator, photograph
from web_push_reader import DEADLINE, Server

PASSWORD = "lantern tuba granite 42"

PAGE = """<!doctype html><meta charset="utf-8"><title>Shop</title><script type="module">
import { Clarion } from 'SERVER/web/v1/clarion.js';
const report = (kind, value) => fetch('/report', { method: 'POST', body: JSON.stringify({ kind, value }) });
try {
  const clarion = await Clarion.start({
    server: 'SERVER', worker: '/worker.js', onReceive: (id) => report('received', id), onOpen: (id) => report('opened', id) });
  const { user, isSubscribed } = await clarion.state();
  if (!user) await clarion.signIn({ name: 'alice', password: 'PASSWORD' });
  if (!isSubscribed) await clarion.subscribe();
  await report('ready', await clarion.state());
  const steps = {
    content: async (id) => (await clarion.content(id)).size,
    reply: async (id) => clarion.reply(id, 'Yes, please.'),
    shown: async () => (await (await navigator.serviceWorker.ready).getNotifications()).map(({ tag, title, body, icon }) => (
      { tag, title, body, icon: icon.slice(0, 15) })),
    signOut: async () => {
      await clarion.signOut();
      const { result } = await new Promise((resolve) => {
        const opening = indexedDB.open('clarion', 1);
        opening.onsuccess = () => {
          const keys = opening.result.transaction('state').objectStore('state').getAllKeys();
          keys.onsuccess = () => resolve(keys);
        };
      });
      return { ...await clarion.state(), keys: result };
    },
  };
  for (;;) {
    const { step, value, number } = await (await fetch('/step')).json();
    if (!step) await new Promise((resolve) => setTimeout(resolve, 100));
    else await report(`step ${number}`, await steps[step](value) ?? null);
  }
} catch (error) {
  await report('failed', `${error} ${error.code ?? ''} ${error.stack ?? ''}`);
}
</script>"""


def picture(number):
    """A picture of its own: a square with a blend of colors."""

    def chunk(name, data):
        return len(data).to_bytes(4, "big") + name + data + zlib.crc32(name + data).to_bytes(4, "big")

    head = chunk(b"IHDR", bytes([0, 0, 0, 64, 0, 0, 0, 64, 8, 2, 0, 0, 0]))
    rows = b"".join(b"\0" + b"".join(bytes([255 - number, 3 * row, 3 * column]) for column in range(64)) for row in range(64))
    return b"\x89PNG\r\n\x1a\n" + head + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b"")


class Backend:
    """Calls of the app backend as one user."""

    def __init__(self, server):
        self.server = server
        self.authorization = "Basic " + base64.b64encode(f"alice:{PASSWORD}".encode()).decode()

    def call(self, method, path, body=None, kind="application/json"):
        data = body if body is None or isinstance(body, bytes) else json.dumps(body).encode()
        headers = {"Authorization": self.authorization, **({"Content-Type": kind} if data else {})}
        request = urllib.request.Request(f"{self.server.address}/api/v1/{path}", data, headers, method=method)
        with urllib.request.urlopen(request, timeout=30) as answer:
            return json.loads(answer.read() or "null")

    def send(self, number):
        content = self.call("POST", "content", picture(number), "image/png")["id"]
        return self.call("POST", "notifications", {"title": f"Offer {number}", "message": "Half price", "contentId": content})["id"]

    def receipts(self, id):
        return self.call("GET", f"notifications/{id}/status").get("receipts", {})


def free_port():
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


def main(program, folder, count=30):
    push_port = free_port()
    service, _, push_socket = emulator(program, folder + "/emulator", push_port)
    port = free_port()
    address = f"http://localhost:{port}"
    page = PAGE.replace("SERVER", address).replace("PASSWORD", PASSWORD)
    site = Site(page, f"importScripts('{address}/web/v1/worker.js');")
    server = Server(
        program, folder + "/server", CLARION_LISTEN_PORT=str(port), CLARION_WEB_ORIGINS=site.address)
    server.command("user", "add", "alice", "--role", "sender", input=PASSWORD)
    backend = Backend(server)
    # With this one Firefox shows notifications without a window too.
    firefox = Firefox(folder + "/profile", push_socket, site.address, **{"alerts.useSystemBackend": False})
    sent = {}

    def send(numbers):
        for number in numbers:
            sent[backend.send(number)] = time.monotonic()

    def wait(what):
        site.wait(what, lambda: set(sent) <= {report["value"] for report in site.of("received")})

    def reported(ids, *kinds):
        end = time.monotonic() + DEADLINE
        for id in ids:
            while not all(backend.receipts(id).get(kind) == 1 for kind in kinds):
                assert time.monotonic() < end, f"{id} is reported as {backend.receipts(id)}"
                time.sleep(0.05)

    try:
        state = site.wait("the subscription", lambda: site.of("ready"))[0]["value"]
        assert state["user"] == "alice" and state["isSubscribed"] and state["permission"] == "granted", state
        send(range(count))
        wait("every notification")
        photograph()
        waits = sorted(report["at"] - sent[report["value"]] for report in site.of("received"))
        reported(sent, "delivered", "fetched")
        first = next(iter(sent))
        shown = {entry["tag"]: entry for entry in site.ask("shown")}
        assert all(f"clarion-{id}" in shown for id in sent), f"not every notification is shown: {sorted(shown)}"
        expected = {"title": "Offer 0", "body": "Half price", "icon": "data:image/png;"}
        assert shown[f"clarion-{first}"] == {"tag": f"clarion-{first}", **expected}, shown[f"clarion-{first}"]
        assert site.ask("content", first) == len(picture(0)), "the page got another content"
        site.ask("reply", first)
        firefox.kill()
        send(range(count, count + 5))
        firefox.start()
        reported(sent, "delivered")
        site.wait("the page after the restart", lambda: site.of("ready")[1:])
        send(range(count + 5, count + 10))
        server.kill()
        server.start()
        reported(sent, "delivered")
        # The push service keeps what it knows once a second.
        time.sleep(2)
        service.kill()
        service.wait(DEADLINE)
        send(range(count + 10, count + 15))
        service, _, _ = emulator(program, folder + "/emulator", push_port)
        # Firefox may have got a push while the server was away, and then shows the texts of the push.
        reported(sent, "delivered")
        tags = [entry["tag"] for entry in site.ask("shown")]
        assert len(tags) == len(set(tags)), f"a notification is shown twice: {sorted(tags)}"
        devices = backend.call("GET", "installations")["devices"]
        assert [device["platform"] for device in devices] == ["browser"], devices
        left = site.ask("signOut")
        assert left == {**left, "user": None, "isSubscribed": False, "keys": []}, left
        assert backend.call("GET", "installations")["devices"] == [], "the server still has the browser"
        print(
            f"Firefox got {len(sent)} rich notifications, the first {count} shown with their pictures; half of the first {count} came "
            f"within {waits[count // 2] * 1000:.0f} ms, 99 % within {waits[count * 99 // 100] * 1000:.0f} ms")
    finally:
        firefox.kill()
        server.end()
        service.terminate()
        service.wait(DEADLINE)
        pathlib.Path(folder, "reports.json").write_text(json.dumps(site.reports))


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], *map(int, sys.argv[3:]))
