"""Reads what the server sends to browsers with libraries that share no code with it: http-ece decrypts, PyJWT verifies.

Usage: web_push_reader.py <program clarion> <empty folder>
Exits with 0 when both browsers could read their own pushes, and neither the other's.
"""

import base64
import hashlib
import hmac
import http.server
import json
import os
import re
import subprocess
import sys
import tempfile
import threading
import time
import urllib.parse
import urllib.request

import http_ece
import jwt
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ec

SUBJECT = "mailto:push@example.com"
DEADLINE = 60


def text_of(data):
    return base64.urlsafe_b64encode(data).decode().rstrip("=")


def bytes_of(text):
    return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))


class Browser:
    def __init__(self, endpoint):
        self.endpoint = endpoint
        self.key = ec.generate_private_key(ec.SECP256R1())
        self.secret = os.urandom(16)

    @property
    def point(self):
        return self.key.public_key().public_bytes(serialization.Encoding.X962, serialization.PublicFormat.UncompressedPoint)

    @property
    def subscription(self):
        return {"endpoint": self.endpoint, "keys": {"p256dh": text_of(self.point), "auth": text_of(self.secret)}}

    def read(self, body):
        return http_ece.decrypt(body, private_key=self.key, auth_secret=self.secret, version="aes128gcm")


class PushService:
    """Accepts every message and keeps it."""

    def __init__(self):
        self.messages = messages = []

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self):
                body = self.rfile.read(int(self.headers["Content-Length"]))
                messages.append((self.path, dict(self.headers.items()), body))
                self.send_response(201)
                self.send_header("Content-Length", "0")
                self.end_headers()

            def log_message(self, *_):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.origin = f"http://127.0.0.1:{self.server.server_port}"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def wait(self, count):
        end = time.monotonic() + DEADLINE
        while len(self.messages) < count:
            assert time.monotonic() < end, f"{len(self.messages)} of {count} messages came"
            time.sleep(0.05)


class Server:
    """`clarion serve` with a hub and with keys for Web Push."""

    def __init__(self, program, folder, **settings):
        self.program, self.folder, self.settings = program, folder, settings
        made = subprocess.run([program, "web-push-key"], check=True, capture_output=True, text=True)
        self.key, self.public_key = made.stdout.strip(), made.stderr.split()[-1]
        with tempfile.NamedTemporaryFile("w") as file:
            print(self.key, file=file, flush=True)
            shown = subprocess.run([program, "web-push-key", "--show", file.name], check=True, capture_output=True, text=True)
        assert shown.stdout.strip() == self.public_key, "another public half is shown than was made"
        self.command("init", "--administrator", "operator", "--config", self.folder + ".yaml", input="a long password of the operator\n")
        self.command("hub", "create", "web")
        connection = re.search(r"Endpoint=\S+", self.command("hub", "connection-string", "web", "--host", "127.0.0.1"))[0]
        parts = dict(part.split("=", 1) for part in connection.split(";") if part)
        self.rule, self.secret = parts["SharedAccessKeyName"], parts["SharedAccessKey"]
        self.start()

    def command(self, *words, **options):
        words = [self.program, *words, "--data-directory", self.folder]
        return subprocess.run(words, check=True, capture_output=True, text=True, **options).stdout

    def start(self):
        environment = {
            **os.environ, "CLARION_DATA_DIRECTORY": self.folder, "CLARION_LISTEN_PORT": "0", "CLARION_WEB_PUSH_KEYS": self.key,
            "CLARION_WEB_PUSH_SUBJECT": SUBJECT, "CLARION_WEB_PUSH_NETWORKS": "127.0.0.0/8", "CLARION_WEB_PUSH_HOSTS": "127.0.0.1",
            "CLARION_LOG_LEVEL": "error", **self.settings,
        }
        self.process = subprocess.Popen(
            ["stdbuf", "-oL", self.program, "serve"], env=environment, stdout=subprocess.PIPE, text=True)
        for line in self.process.stdout:
            if line.startswith("Listening on "):
                self.address = line.split()[-1]
                return
        raise AssertionError("the server ended before it listened")

    def kill(self):
        self.process.kill()
        self.process.wait(DEADLINE)

    def end(self):
        self.process.terminate()
        assert self.process.wait(DEADLINE) == 0, "the server ended with an error"

    def call(self, method, target, headers, body):
        resource = urllib.parse.quote_plus(f"{self.address}/web".lower())
        expiry = int(time.time()) + 600
        signature = base64.b64encode(hmac.new(self.secret.encode(), f"{resource}\n{expiry}".encode(), hashlib.sha256).digest())
        token = f"SharedAccessSignature sr={resource}&sig={urllib.parse.quote_plus(signature)}&se={expiry}&skn={self.rule}"
        request = urllib.request.Request(
            f"{self.address}/web/{target}?api-version=2020-06", body.encode(), {"Authorization": token, **headers}, method=method)
        with urllib.request.urlopen(request, timeout=30) as answer:
            return answer.read().decode()

    def register(self, installation, subscription):
        """Takes what `PushSubscription.toJSON` gives in a browser; a later one of the same installation takes its place."""
        channel = {"endpoint": subscription["endpoint"], **subscription["keys"]}
        self.call(
            "PUT", f"installations/{installation}", {"Content-Type": "application/json"},
            json.dumps({"installationId": installation, "platform": "browser", "pushChannel": channel}))

    def send(self, value, **headers):
        self.call(
            "POST", "messages", {"ServiceBusNotification-Format": "browser", "Content-Type": "application/json", **headers},
            json.dumps(value))


def check(browser, other, service, public_key):
    path = urllib.parse.urlsplit(browser.endpoint).path
    (headers, body), = [(headers, body) for at, headers, body in service.messages if at == path]
    assert json.loads(browser.read(body)) == {"title": "Hello, Grüße"}, "another text came"
    try:
        other.read(body)
        raise AssertionError("another browser could read it")
    except http_ece.ECEException:
        pass
    headers = {name.lower(): value for name, value in headers.items()}
    assert headers["ttl"] == "60" and headers["urgency"] == "normal", headers
    scheme, values = headers["authorization"].split(" ", 1)
    fields = dict(part.strip().split("=", 1) for part in values.split(","))
    assert scheme == "vapid" and fields["k"] == public_key, scheme
    point = ec.EllipticCurvePublicKey.from_encoded_point(ec.SECP256R1(), bytes_of(fields["k"]))
    claims = jwt.decode(fields["t"], point, algorithms=["ES256"], audience=service.origin)
    assert claims["sub"] == SUBJECT and claims["exp"] - time.time() <= 86_400, claims


def main(program, folder):
    service = PushService()
    server = Server(program, folder)
    try:
        browsers = [Browser(f"{service.origin}/push/{name}") for name in ("alice", "bob")]
        for name, browser in zip(("alice", "bob"), browsers):
            server.register(name, browser.subscription)
        server.send({"title": "Hello, Grüße"}, TTL="60", Urgency="normal")
        service.wait(2)
        for browser, other in (browsers, browsers[::-1]):
            check(browser, other, service, server.public_key)
    finally:
        server.end()
    print("http-ece and PyJWT read what the server sends to browsers")


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2])
