"""Drives glewlwyd, an OpenID Connect provider that shares nothing with Clarion: starts and stops it, sets it up, signs users in.

Only its own HTTP interface is used: the authorization code flow with PKCE, as an app would, with the consent given beforehand.
"""

import base64
import gzip
import hashlib
import http.client
import json
import os
import secrets
import signal
import socket
import sqlite3
import subprocess
import time
import urllib.parse

PASSWORD = "password"  # The provider's database comes with the user admin and this password.
REDIRECT = "http://localhost:9/callback"
CONFIGURATION = """
port = {port}
bind_address = "127.0.0.1"
external_url = "http://127.0.0.1:{port}"
login_url = "login.html"
api_prefix = "api"
cookie_domain = "127.0.0.1"
cookie_secure = 0
log_mode = "file"
log_level = "WARNING"
log_file = "{folder}/glewlwyd.log"
session_key = "GLEWLWYD2_SESSION_ID"
admin_scope = "g_admin"
profile_scope = "g_profile"
user_module_path = "{modules}/user"
client_module_path = "{modules}/client"
user_auth_scheme_module_path = "{modules}/scheme"
plugin_module_path = "{modules}/plugin"
hash_algorithm = "SHA512"
database = {{ type = "sqlite3"; path = "{folder}/glewlwyd.db" }};
"""


def signing_key(folder, name):
    """A new RSA key and its public half as PEM texts."""
    path = os.path.join(folder, name)
    subprocess.run(["openssl", "genrsa", "-out", path, "2048"], check=True, capture_output=True)
    public = subprocess.run(["openssl", "rsa", "-in", path, "-pubout"], check=True, capture_output=True, text=True).stdout
    with open(path, encoding="ascii") as file:
        return file.read(), public


class Glewlwyd:
    """One provider with its database in a folder. It can be stopped and started again."""

    def __init__(self, root, folder):
        self.root, self.folder = os.path.abspath(root), os.path.abspath(folder)
        os.makedirs(self.folder)
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self.port = probe.getsockname()[1]
        self.issuer = f"http://127.0.0.1:{self.port}/api/oidc"
        self.process = None
        with open(os.path.join(self.folder, "glewlwyd.conf"), "w", encoding="ascii") as file:
            modules = os.path.join(self.root, "usr/lib/glewlwyd")
            file.write(CONFIGURATION.format(port=self.port, folder=self.folder, modules=modules))
        script = os.path.join(self.root, "usr/share/doc/glewlwyd/database/init.sqlite3.sql.gz")
        database = sqlite3.connect(os.path.join(self.folder, "glewlwyd.db"))
        with gzip.open(script, "rt", encoding="utf-8") as file:
            database.executescript(file.read())
        database.close()

    def start(self):
        """Starts it and waits until it answers."""
        with open(os.path.join(self.folder, "output"), "a", encoding="ascii") as output:
            self.process = subprocess.Popen(
                [os.path.join(self.root, "usr/bin/glewlwyd"), f"--config-file={self.folder}/glewlwyd.conf"],
                stdout=output, stderr=subprocess.STDOUT)
        deadline = time.monotonic() + 30
        while True:
            try:
                socket.create_connection(("127.0.0.1", self.port), timeout=5).close()
                return
            except OSError as error:
                if self.process.poll() is not None or time.monotonic() > deadline:
                    raise SystemExit(f"glewlwyd did not start: {error}\n{self.log()}") from error
                time.sleep(0.1)

    def stop(self):
        """Ends it; nothing answers on its port any more."""
        if self.process is None or self.process.poll() is not None:
            return
        self.process.send_signal(signal.SIGTERM)
        try:
            self.process.wait(timeout=20)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()

    def log(self):
        """What it wrote so far."""
        texts = []
        for name in ("output", "glewlwyd.log"):
            path = os.path.join(self.folder, name)
            if os.path.exists(path):
                with open(path, encoding="utf-8", errors="replace") as file:
                    texts.append(file.read())
        return "\n".join(texts)

    def administrator(self):
        """A session that may change settings."""
        session = Session(self)
        session.call("POST", "/auth/", {"username": "admin", "password": PASSWORD})
        return session

    def set_up(self, key, lifetime=3600):
        """Signs tokens with this key from now on, for so many seconds each."""
        private, public = key
        parameters = {
            "iss": self.issuer, "jwt-type": "rsa", "jwt-key-size": "256", "key": private, "cert": public,
            "access-token-duration": lifetime, "auth-type-code-enabled": True, "jwks-show": True, "pkce-allowed": True,
            "pkce-required": True, "allowed-scope": ["openid"], "name-claim": "mandatory", "session-management-allowed": False,
            "claims": [{"name": "groups", "user-property": "scope", "type": "string", "mandatory": True}],
        }
        body = {"module": "oidc", "name": "oidc", "display_name": "OpenID Connect", "parameters": parameters}
        session = self.administrator()
        if session.call("GET", "/mod/plugin/oidc", accepts=(200, 404)).status == 404:
            session.call("POST", "/mod/plugin/", body)
        else:
            session.call("PUT", "/mod/plugin/oidc", body)
            session.call("PUT", "/mod/plugin/oidc/reset/")

    def add_client(self, name):
        """Registers an app: a public client with the code flow."""
        self.administrator().call("POST", "/client/", {
            "client_id": name, "name": name, "confidential": False, "redirect_uri": [REDIRECT],
            "authorization_type": ["code"], "scope": [], "enabled": True})

    def add_console(self, name, secret, back):
        """Registers a web server: a client with a secret, to which people are led back."""
        self.administrator().call("POST", "/client/", {
            "client_id": name, "name": name, "confidential": True, "password": secret, "redirect_uri": [back],
            "authorization_type": ["code"], "token_endpoint_auth_method": ["client_secret_basic"], "scope": [],
            "enabled": True})

    def add_user(self, name, groups=()):
        """Creates a user who may sign in."""
        administrator = self.administrator()
        for group in groups:
            if administrator.call("GET", f"/scope/{group}", accepts=(200, 404)).status == 404:
                administrator.call("POST", "/scope/", {"name": group, "display_name": group, "description": group,
                                                       "password_required": True, "scheme": {}})
        administrator.call("POST", "/user/", {
            "username": name, "name": name, "password": PASSWORD, "scope": ["g_profile", "openid", *groups], "enabled": True})

    def set_groups(self, name, groups):
        """Puts a user into these groups and no other."""
        self.administrator().call("PUT", f"/user/{name}", {
            "name": name, "scope": ["g_profile", "openid", *groups], "enabled": True})

    def agree(self, address, user):
        """Signs a user in at the address to which a client led the browser, and agrees; the address to which that leads back."""
        client = urllib.parse.parse_qs(urllib.parse.urlsplit(address).query)["client_id"][0]
        session = Session(self)
        session.call("POST", "/auth/", {"username": user, "password": PASSWORD})
        session.call("PUT", f"/auth/grant/{client}/", {"scope": "openid"})
        path = address.split("/api", 1)[1]
        return session.call("GET", f"{path}&g_continue", accepts=(302,)).headers["Location"]

    def id_token(self, user, client):
        """Signs a user in as an app would, and returns the ID token."""
        session = Session(self)
        session.call("POST", "/auth/", {"username": user, "password": PASSWORD})
        session.call("PUT", f"/auth/grant/{client}/", {"scope": "openid"})
        verifier = secrets.token_urlsafe(48)
        challenge = base64.urlsafe_b64encode(hashlib.sha256(verifier.encode()).digest()).decode().rstrip("=")
        query = urllib.parse.urlencode({
            "response_type": "code", "client_id": client, "redirect_uri": REDIRECT, "scope": "openid",
            "state": secrets.token_hex(8), "nonce": secrets.token_hex(8), "code_challenge": challenge,
            "code_challenge_method": "S256"})
        answer = session.call("GET", f"/oidc/auth?{query}&g_continue", accepts=(302,))
        back = urllib.parse.parse_qs(urllib.parse.urlsplit(answer.headers["Location"]).query)
        if "code" not in back:
            raise SystemExit(f"the provider gave no code: {answer.headers['Location']}")
        answer = session.call("POST", "/oidc/token", urllib.parse.urlencode({
            "grant_type": "authorization_code", "code": back["code"][0], "redirect_uri": REDIRECT, "client_id": client,
            "code_verifier": verifier}))
        return json.loads(answer.body)["id_token"]


class Answer:
    """Status, headers and body of one answer."""

    def __init__(self, response):
        self.status, self.headers, self.body = response.status, response.headers, response.read()


class Session:
    """A browser's cookies, and requests with them."""

    def __init__(self, provider):
        self.provider, self.cookie = provider, None

    def call(self, method, path, body=None, accepts=(200,)):
        """Sends an object as JSON or a text as a form. Redirects are not followed."""
        headers = {"Cookie": self.cookie} if self.cookie else {}
        if isinstance(body, dict):
            headers["Content-Type"], body = "application/json", json.dumps(body)
        elif body is not None:
            headers["Content-Type"] = "application/x-www-form-urlencoded"
        connection = http.client.HTTPConnection("127.0.0.1", self.provider.port, timeout=20)
        try:
            connection.request(method, "/api" + path, body, headers)
            answer = Answer(connection.getresponse())
        finally:
            connection.close()
        if answer.headers["Set-Cookie"]:
            self.cookie = answer.headers["Set-Cookie"].split(";")[0]
        if answer.status not in accepts:
            raise SystemExit(f"{method} {path}: status {answer.status} {answer.body!r}\n{self.provider.log()}")
        return answer
