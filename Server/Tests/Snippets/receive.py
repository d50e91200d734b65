"""Runs the receiver of Documentation/Webhooks.md, as it stands on the page, and lets a server post events to it.

Usage: CLARION_SERVER_URL=… CLARION_KEY=… receive.py PAGE
The key has the scope admin. The receiver verifies with the library of Standard Webhooks; a request that is forged, old or changed has
to be refused by it, and what the server sends has to be taken, before and after a new secret.
"""

import json
import os
import re
import socket
import subprocess
import sys
import tempfile
import threading
import time
import urllib.error
import urllib.request

SERVER = os.environ["CLARION_SERVER_URL"]


def call(method, path, body=None):
    """A request to the server; the answer's JSON."""
    request = urllib.request.Request(
        f"{SERVER}/api/v1/{path}", method=method, data=None if body is None else json.dumps(body).encode(),
        headers={"Authorization": "Bearer " + os.environ["CLARION_KEY"], "Content-Type": "application/json"})
    with urllib.request.urlopen(request, timeout=30) as answer:
        text = answer.read()
        return json.loads(text) if text else None


def program(page):
    """The receiver's text."""
    with open(page, encoding="utf-8") as file:
        return re.search(r"^```python\n(.*?)^```$", file.read(), re.MULTILINE | re.DOTALL)[1]


def free_port():
    with socket.socket() as place:
        place.bind(("127.0.0.1", 0))
        return place.getsockname()[1]


class Receiver:
    """The program of the page as a process, and the lines that it printed."""

    def __init__(self, folder, port, secret):
        self.lines = []
        environment = {**os.environ, "WEBHOOK_SECRET": secret, "PORT": str(port)}
        self.process = subprocess.Popen(
            [sys.executable, os.path.join(folder, "receiver.py")], env=environment, stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL, text=True)
        threading.Thread(target=lambda: self.lines.extend(iter(self.process.stdout.readline, "")), daemon=True).start()

    def wait(self, text, seconds=30):
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            if any(text in line for line in self.lines):
                return
            time.sleep(0.05)
        raise SystemExit(f"the receiver did not print {text!r} within {seconds} seconds, but {self.lines}")

    def stop(self):
        self.process.kill()
        self.process.wait()


def refused(port):
    """Whether the receiver refuses a request that the server did not sign."""
    request = urllib.request.Request(
        f"http://127.0.0.1:{port}/", data=b"{}", headers={
            "webhook-id": "evt_1", "webhook-timestamp": str(int(time.time())), "webhook-signature": "v1,Zm9yZ2Vk"})
    try:
        urllib.request.urlopen(request, timeout=10)
    except urllib.error.HTTPError as error:
        return error.code == 400
    except OSError:
        return None
    return False


def main():
    with tempfile.TemporaryDirectory() as folder:
        with open(os.path.join(folder, "receiver.py"), "w", encoding="utf-8") as file:
            file.write(program(sys.argv[1]))
        port = free_port()
        hook = call("POST", "webhooks", {"url": f"http://127.0.0.1:{port}/events", "events": ["*"]})
        path = f"webhooks/{hook['id']}"
        # It is posted while nothing listens, so it arrives with a later attempt.
        early = call("POST", f"{path}/ping")["event"]
        receiver = Receiver(folder, port, hook["secret"])
        receiver.wait("webhook.ping")
        if not refused(port):
            raise SystemExit("the receiver took a request that nobody signed")
        send = call("POST", "notifications", {"message": "For the test of webhooks", "audience": "receivers"})["id"]
        receiver.wait(f"send.accepted {{'send': '{send}'")
        rolled = call("POST", f"{path}/roll", {"overlapSeconds": 600})["secret"]
        call("POST", f"{path}/ping")
        time.sleep(2)
        receiver.stop()
        receiver = Receiver(folder, port, rolled)
        call("POST", f"{path}/ping")
        receiver.wait("webhook.ping")
        receiver.stop()
        found = call("GET", f"{path}/deliveries?state=delivered")["deliveries"]
        if early not in [delivery["id"] for delivery in found] or len(found) < 4:
            raise SystemExit(f"not everything was delivered: {found}")
        call("DELETE", path)
        print("the receiver of webhooks: works")


main()
