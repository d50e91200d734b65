"""Users of an OpenID Connect provider sign in, with Clarion, the local APNs and the provider as processes of their own.

Usage: story.py <folder of the programs> <folder of the unpacked provider> <empty folder>
Exits with 0 when every answer was the expected one.
"""

import http.client
import json
import os
import socket
import struct
import subprocess
import sys
import time
import urllib.parse
import zlib

from glewlwyd import Glewlwyd, signing_key
from programs import Program

TOPIC = "org.example.app"
APP, OTHER_APP, CONSOLE = "app", "other-app", "console"
CONSOLE_SECRET = "secret-of-the-console"
REFUSED = "the sign-in token was not accepted: "
ISSUERS = """
- issuer: {issuer}
  audiences: [{audience}]
  algorithms: [RS256]
  token-kind: id
  user-claim: /name
  leeway-seconds: 0
  create-users: true
"""

PROVIDER = """
issuer: {issuer}
client: {client}
client-secret-path: {secret}
algorithms: RS256
title: Glewlwyd
user-claim: /name
role-claim: /groups
role-values: [clarion-admins=admin, clarion-senders=sender]
create-users: true
"""


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def expect(what, seen, wanted):
    if seen != wanted:
        raise SystemExit(f"{what}: expected {wanted!r}, saw {seen!r}")
    print(f"{what}: {seen!r}" if len(repr(seen)) < 100 else what, flush=True)


def picture():
    """A PNG of one pixel."""

    def chunk(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    header = struct.pack(">IIBBBBB", 1, 1, 8, 2, 0, 0, 0)
    pixels = zlib.compress(b"\x00\x20\x60\xa0")
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", pixels) + chunk(b"IEND", b"")


def call(address, method, path, credential=None, body=None, media_type="application/json"):
    """One request: the status, and the answer as an object where it is JSON, else as bytes."""
    parts = urllib.parse.urlsplit(address)
    connection = http.client.HTTPConnection(parts.hostname, parts.port, timeout=30)
    headers = {"Authorization": "Bearer " + credential} if credential else {}
    if body is not None:
        headers["Content-Type"] = media_type
        body = json.dumps(body) if isinstance(body, dict) else body
    try:
        connection.request(method, path, body, headers)
        answer = connection.getresponse()
        data = answer.read()
    finally:
        connection.close()
    return answer.status, json.loads(data) if "json" in (answer.headers["Content-Type"] or "") else data


class Stage:
    """The local APNs, Clarion and what its phones need."""

    def __init__(self, programs, provider, folder):
        self.clarion = os.path.join(programs, "clarion")
        self.folder = folder
        self.running = []
        apns = self.start("apns", os.path.join(programs, "clarion-lab"), "emulator", "--port", "0", "--management-port", "0",
                          "--admin-port", "0", "--directory", f"{folder}/apns")
        self.phones = apns.printed(r"(http://[^/ ]*)/apps")
        call(self.phones, "PUT", f"/apps/{TOPIC}", body={"teamId": "LOCALTEAM0"})
        issuers = f"{folder}/issuers.yaml"
        with open(issuers, "w", encoding="ascii") as file:
            file.write(ISSUERS.format(issuer=provider.issuer, audience=APP))
        with open(f"{folder}/secret", "w", encoding="ascii") as file:
            file.write(CONSOLE_SECRET + "\n")
        with open(f"{folder}/provider.yaml", "w", encoding="ascii") as file:
            file.write(PROVIDER.format(issuer=provider.issuer, client=CONSOLE, secret=f"{folder}/secret"))
        port = free_port()
        self.console = f"http://127.0.0.1:{port}/console"
        self.settings = {
            "CLARION_DATA_DIRECTORY": f"{folder}/data", "CLARION_LISTEN_PORT": str(port), "CLARION_TRUSTED_ISSUERS": issuers,
            "CLARION_CONSOLE_PROVIDER": f"{folder}/provider.yaml", "CLARION_PUBLIC_URL": f"http://127.0.0.1:{port}",
            "CLARION_APNS_ENVIRONMENT": "sandbox", "CLARION_APNS_TOPIC": TOPIC, "CLARION_APNS_TEAM_ID": "LOCALTEAM0",
            "CLARION_APNS_KEY_ID": "LOCALKEY00", "CLARION_APNS_KEY_PATH": f"{folder}/apns/AuthKey_LOCALKEY00.p8",
            "CLARION_APNS_HOST": "127.0.0.1", "CLARION_APNS_TRUST_ROOTS_PATH": f"{folder}/apns/authority.pem",
            "CLARION_APNS_PORT": apns.printed(r"on https://[^ ]*:(\d+),"),
        }
        self.serve()
        made = subprocess.run([self.clarion, "key", "create", "shop", "--scope", "send", "status"], check=True, timeout=60,
                              env={**os.environ, **self.settings}, stdout=subprocess.PIPE, text=True)
        self.key = made.stdout.strip()

    def start(self, name, *arguments, settings=None):
        program = Program(os.path.join(self.folder, name + ".log"), arguments, settings)
        self.running.append(program)
        return program

    def serve(self):
        """Starts Clarion on a port of the system's choice."""
        self.server = self.start("server", self.clarion, "serve", settings=self.settings)
        self.address = self.server.printed(r"Listening on (http:[^ \n]*)")

    def restart(self):
        self.server.stop()
        self.serve()

    def stop(self):
        for program in reversed(self.running):
            program.stop()

    def device_token(self, device):
        status, answer = call(self.phones, "POST", f"/devices/{device}/tokens", body={"topic": TOPIC})
        if status != 200:
            raise SystemExit(f"the local APNs gave no device token: {status} {answer!r}")
        return answer["token"]

    def sign_in(self, device, token):
        """What a phone is answered that brings a token of the provider."""
        handle = self.device_token(device)
        body = {"platform": "apns", "handle": handle, "tags": [], "environment": "sandbox", "topic": TOPIC}
        return call(self.address, "PUT", f"/api/v1/installations/{device}", token, body)

    def signs_in(self, what, device, token):
        """Signs a phone in, and returns its credential."""
        status, answer = self.sign_in(device, token)
        expect(what, (status, answer.get("user"), answer.get("detail")), (200, "alice", None))
        return answer["credential"]

    def is_refused(self, what, token, reason):
        status, answer = self.sign_in("refused-phone", token)
        expect(what, (status, answer.get("detail")), (401, REFUSED + reason))

    def push(self, device):
        """The next push that reaches a device."""
        parts = urllib.parse.urlsplit(self.phones)
        connection = http.client.HTTPConnection(parts.hostname, parts.port, timeout=30)
        try:
            connection.request("GET", f"/devices/{device}/pushes")
            for line in connection.getresponse():
                if line.startswith(b"data: "):
                    return json.loads(json.loads(line[len("data: "):])["payload"])
        finally:
            connection.close()
        raise SystemExit(f"the stream of {device} ended without a push")


def rich_push(stage, credential):
    """A service sends a picture, the phone gets the push and fetches the picture."""
    bytes_sent = picture()
    status, stored = call(stage.address, "POST", "/api/v1/content", stage.key, bytes_sent, "image/png")
    expect("the service stores a picture", status, 201)
    send = {"audience": "username:alice", "message": "The chart of today", "contentId": stored["id"]}
    status, sent = call(stage.address, "POST", "/api/v1/notifications", stage.key, send)
    expect("the service sends it", status, 201)
    expect("the push that reaches the phone names the send", str(stage.push("phone").get("richId")), sent["id"])
    path = f"/api/v1/notifications/{sent['id']}"
    expect("the phone fetches the picture", call(stage.address, "GET", path, credential), (200, bytes_sent))
    expect("nobody else does", call(stage.address, "GET", path)[0], 401)


def refusals(stage, provider, key):
    stage.is_refused(
        "a token for another app is refused", provider.id_token("alice", OTHER_APP),
        "the claim aud has none of the audiences of the issuer's settings")
    provider.set_up(key, lifetime=1)
    short = provider.id_token("alice", APP)
    provider.set_up(key)
    time.sleep(2.1)  # Its life: both sides count in whole seconds.
    stage.is_refused("a token that has expired is refused", short, "the token has expired")
    head, claims, signature = provider.id_token("alice", APP).split(".")
    forged = signature[:-8] + ("A" * 8 if signature[-8:] != "A" * 8 else "B" * 8)
    stage.is_refused("a token with another signature is refused", f"{head}.{claims}.{forged}", "the signature is not valid")


def outage_and_rotation(stage, provider, folder):
    unknown = "the issuer's key set has no usable key for this kid or alg"
    early, late = provider.id_token("alice", APP), provider.id_token("alice", APP)
    provider.stop()
    stage.restart()
    stage.signs_in("without the provider, after a restart, a token signs in with the kept keys", "second-phone", early)
    provider.start()
    provider.set_up(signing_key(folder, "second.pem"))
    stage.signs_in("the provider is back with a new key, and its token signs in", "third-phone", provider.id_token("alice", APP))
    stage.is_refused("a token of the key before is refused", late, unknown)
    provider.set_up(signing_key(folder, "third.pem"))
    stage.is_refused("a token of a third key is refused: the set was fetched this minute", provider.id_token("alice", APP), unknown)


class Browser:
    """The cookies of a person's browser at the console."""

    def __init__(self, stage):
        self.stage, self.cookies = stage, {}

    def get(self, path):
        """Status, the address that it leads to, and the body."""
        parts = urllib.parse.urlsplit(self.stage.address)
        connection = http.client.HTTPConnection(parts.hostname, parts.port, timeout=30)
        cookie = "; ".join(f"{name}={value}" for name, value in self.cookies.items())
        try:
            connection.request("GET", path, headers={"Cookie": cookie} if cookie else {})
            answer = connection.getresponse()
            body = answer.read()
        finally:
            connection.close()
        for field in answer.headers.get_all("Set-Cookie") or []:
            name, value = field.split(";")[0].split("=", 1)
            self.cookies.pop(name, None)
            if value:
                self.cookies[name] = value
        return answer.status, answer.headers["Location"], body

    def sign_in(self, provider, user):
        """There and back; where the console leads in the end."""
        status, address, _ = self.get("/console/sign-in")
        expect("the console leads to the provider", (status, address.startswith(provider.issuer)), (303, True))
        back = provider.agree(address, user)
        expect("the provider leads back to the console", back.split("?")[0], self.stage.console + "/sign-in/return")
        return self.get(back.removeprefix(self.stage.console.removesuffix("/console")))[1]

    def role(self):
        status, _, body = self.get("/api/v1/me")
        return json.loads(body)["role"] if status == 200 else status


def console(stage, provider):
    """People sign in to the console, with the roles of their groups."""
    provider.add_user("carol", ["clarion-admins", "clarion-senders"])
    provider.add_user("dave")
    expect("the page names the provider", json.loads(Browser(stage).get("/console/session")[2]), {"provider": "Glewlwyd"})
    carol, dave = Browser(stage), Browser(stage)
    expect("a person in a group signs in", carol.sign_in(provider, "carol"), "/console")
    expect("with the role of the group", carol.role(), "admin")
    expect("a person in no group is refused", (dave.sign_in(provider, "dave"), dave.role()), ("/console#/refused/no-role", 401))
    provider.set_groups("carol", ["clarion-senders"])
    again = Browser(stage)
    expect("another group is another role", (again.sign_in(provider, "carol"), again.role()), ("/console", "sender"))
    time.sleep(5.5)  # Within five seconds every node has looked at a session again.
    expect("and the session with the role before has ended", carol.role(), 401)
    thief = Browser(stage)
    address = thief.get("/console/sign-in")[1]
    other = Browser(stage)
    other.get("/console/sign-in")
    back = provider.agree(address, "carol").split("?")[1]
    expect("an answer in another browser is none", other.get(f"/console/sign-in/return?{back}")[1], "/console#/refused/begin-again")
    expect("in its own it is one", thief.get(f"/console/sign-in/return?{back}")[1], "/console")


def tell(stage, provider, folder, key):
    token = provider.id_token("alice", APP)
    credential = stage.signs_in("a phone signs in with a token of the provider", "phone", token)
    expect("the token itself opens no other route", call(stage.address, "GET", "/api/v1/me", token)[0], 401)
    rich_push(stage, credential)
    refusals(stage, provider, key)
    console(stage, provider)
    outage_and_rotation(stage, provider, folder)
    expect("the first phone is signed in all the time", call(stage.address, "GET", "/api/v1/me", credential)[0], 200)


def main():
    programs, root, folder = sys.argv[1:]
    provider = Glewlwyd(root, os.path.join(folder, "provider"))
    stage = None
    try:
        provider.start()
        key = signing_key(folder, "first.pem")
        provider.set_up(key)
        for client in (APP, OTHER_APP):
            provider.add_client(client)
        provider.add_user("alice")
        stage = Stage(programs, provider, folder)
        provider.add_console(CONSOLE, CONSOLE_SECRET, stage.console + "/sign-in/return")
        tell(stage, provider, folder, key)
    except BaseException:
        print("-- what provider and server said", provider.log()[-5_000:], stage.server.text()[-5_000:] if stage else "", sep="\n", file=sys.stderr)
        raise
    finally:
        if stage:
            stage.stop()
        provider.stop()


main()
