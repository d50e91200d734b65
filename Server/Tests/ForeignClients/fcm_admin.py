"""Google's own firebase-admin for Python, unchanged, against a running local FCM that it takes for Google.

Usage: fcm_admin.py <file of the certificate authority> <program of the local FCM> [<its arguments> ...]
The program listens on 127.0.0.1 port 443, with a certificate for Google's names, and is administered at port 2198. It writes the
authority's certificate to the file. Both run in a network of their own, in which Google's names lead to 127.0.0.1 and nothing else can
be reached. That needs `unshare`, as root or with user namespaces. Exits with 0 when every answer was the expected one.
"""

import asyncio
import datetime
import fcntl
import json
import os
import pathlib
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
import warnings

HOSTS = ["fcm.googleapis.com", "oauth2.googleapis.com", "iid.googleapis.com", "www.googleapis.com"]
# Of the network of its own, in which nothing else listens.
ADMINISTRATION = "http://localhost:2198/fcm"
INSIDE = "CLARION_FCM_NETWORK"
PROJECT, OTHER, PACKAGE = "clarion-demo", "another-shop", "com.example.shop"
SCOPE = "https://www.googleapis.com/auth/firebase.messaging"


def enter_network(arguments):
    """Runs this program again where only this machine can be reached."""
    if os.environ.get(INSIDE):
        return
    user = [] if os.geteuid() == 0 else ["-r"]
    os.environ[INSIDE] = "1"
    os.execvp("unshare", ["unshare", *user, "-n", "-m", sys.executable, *arguments])


def prepare_network(folder):
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as control:
        flags = struct.pack("16sh14x", b"lo", 0x1 | 0x40)
        fcntl.ioctl(control, 0x8914, flags)
    # The local FCM needs no rights for port 443 here.
    pathlib.Path("/proc/sys/net/ipv4/ip_unprivileged_port_start").write_text("0")
    hosts = pathlib.Path(folder, "hosts")
    hosts.write_text("127.0.0.1 localhost " + " ".join(HOSTS) + "\n")
    subprocess.run(["mount", "--bind", hosts, "/etc/hosts"], check=True)


class Emulator:
    """The administration of the local FCM."""

    def call(self, method, path, body=None):
        data = None if body is None else json.dumps(body).encode()
        headers = {"content-type": "application/json"}
        request = urllib.request.Request(f"{ADMINISTRATION}/{path}", data, headers, method=method)
        with urllib.request.urlopen(request, timeout=10) as answer:
            return json.loads(answer.read() or "null")

    def device(self, name, project=PROJECT, platform="android"):
        body = {"project": project, "package": PACKAGE, "platform": platform}
        return self.call("PUT", f"devices/{name}", body)

    def act(self, name, action):
        return self.call("POST", f"devices/{name}/actions", {"action": action})

    def messages(self, name):
        return [event["message"] for event in self.call("GET", f"devices/{name}")["events"] if "message" in event]

    def fault(self, kind, **more):
        self.call("POST", "faults", {"kind": kind, **more})

    def requests(self, path="send"):
        return [each for each in self.call("GET", "requests") if each["path"] == path]

    def last(self):
        return self.requests()[-1]


def start(command):
    program = subprocess.Popen(command)
    end = time.monotonic() + 60
    while time.monotonic() < end and program.poll() is None:
        try:
            emulator = Emulator()
            emulator.call("GET", "quotas")
            return program, emulator
        except (OSError, urllib.error.URLError):
            time.sleep(0.1)
    sys.exit(f"the local FCM does not answer at {ADMINISTRATION}")


def check(what, seen, wanted=True):
    if seen != wanted:
        sys.exit(f"{what}: expected {wanted!r}, saw {seen!r}")
    print(f"ok   {what}", flush=True)


def full_message(messaging, token):
    """Every member that the client can write."""
    light = messaging.LightSettings(color="#11223344", light_on_duration_millis=200, light_off_duration_millis=1500)
    shown = messaging.AndroidNotification(
        title="Title", body="Body", icon="icon", color="#abcdef", sound="chime", tag="tag", click_action="OPEN", body_loc_key="b",
        body_loc_args=["1", "2"], title_loc_key="t", title_loc_args=["3"], channel_id="offers", image="https://example.com/a.png",
        ticker="ticker", sticky=True, event_timestamp=datetime.datetime(2027, 1, 15, 8, 0, 0, 123456), local_only=False,
        priority="high", vibrate_timings_millis=[100, 50, 250], default_vibrate_timings=False, default_sound=False,
        light_settings=light, default_light_settings=False, visibility="secret", notification_count=7,
        proxy="if_priority_lowered")
    android = messaging.AndroidConfig(
        collapse_key="offer", priority="high", ttl=datetime.timedelta(seconds=3, milliseconds=500),
        restricted_package_name=PACKAGE, data={"a": "android"}, notification=shown,
        fcm_options=messaging.AndroidFCMOptions("android-label"), direct_boot_ok=True, bandwidth_constrained_ok=True,
        restricted_satellite_ok=True)
    web = messaging.WebpushConfig(
        headers={"TTL": "60", "Urgency": "high", "Topic": "offer"}, data={"w": "web"},
        notification=messaging.WebpushNotification(
            title="Web", body="Push", icon="https://example.com/i.png", tag="t", silent=False, vibrate=[1, 2],
            actions=[messaging.WebpushNotificationAction("open", "Open", icon="https://example.com/o.png")],
            custom_data={"extra": {"deep": [1, 2.5, None, True]}}),
        fcm_options=messaging.WebpushFCMOptions(link="https://example.com/offer"))
    alert = messaging.ApsAlert(
        title="Apple", subtitle="Sub", body="Alert", loc_key="l", loc_args=["5"], title_loc_key="tl", title_loc_args=["6"],
        action_loc_key="al", launch_image="launch", custom_data={"own": 1})
    aps = messaging.Aps(
        alert=alert, badge=3, sound=messaging.CriticalSound("siren", critical=True, volume=0.5), content_available=True,
        category="c", thread_id="th", mutable_content=True, custom_data={"relevance-score": 0.25})
    apns = messaging.APNSConfig(
        headers={"apns-priority": "10", "apns-expiration": "0", "apns-push-type": "alert", "apns-collapse-id": "offer"},
        payload=messaging.APNSPayload(aps, richId=17), live_activity_token="ab" * 32,
        fcm_options=messaging.APNSFCMOptions("apns-label", "https://example.com/n.png"))
    return messaging.Message(
        data={"richId": "17", "über": "größer"}, notification=messaging.Notification("Title", "Body", "https://example.com/b.png"),
        android=android, webpush=web, apns=apns, fcm_options=messaging.FCMOptions("label"), token=token)


def uppercase_words(message):
    """As the local FCM records words of lists."""
    android = message["android"]
    android["priority"] = android["priority"].upper()
    for name in ("notification_priority", "visibility", "proxy"):
        android["notification"][name] = android["notification"][name].upper()
    for owner, name in ((message, "token"), (message["apns"], "live_activity_token")):
        owner[name] = owner[name][:8] + "…"
    return message


def check_message(messaging, emulator):
    phone = emulator.device("full")
    message = full_message(messaging, phone["token"])
    sent = json.loads(str(message))
    name = messaging.send(message)
    check("a message has a name", name.startswith(f"projects/{PROJECT}/messages/0:"))
    check("every member reaches the service as it was sent", emulator.last()["message"], uppercase_words(sent))
    check("the client is known by its headers", emulator.last()["headers"]["x-firebase-client"].startswith("fire-admin-python/"))
    received = emulator.messages("full")
    check("the phone gets it", [each["id"] for each in received], [name.split("/")[-1]])
    check("with the data for Android", received[0]["data"], {"a": "android"})
    fid = messaging.send(messaging.Message(fid=phone["fid"], data={"by": "fid"}))
    check("a message by installation id arrives", emulator.messages("full")[-1]["id"], fid.split("/")[-1])
    check(
        "a dry run sends nothing", messaging.send(messaging.Message(token=phone["token"]), dry_run=True),
        f"projects/{PROJECT}/messages/fake_message_id")
    check("nothing more came", len(emulator.messages("full")), 2)


def raised(action):
    try:
        return f"no error but {action()}"
    except Exception as error:
        return type(error).__name__


def check_errors(messaging, emulator):
    living, dead = emulator.device("living"), emulator.device("dead")
    emulator.act("dead", "uninstall")
    foreign, apple = emulator.device("foreign", OTHER), emulator.device("iphone", platform="apple")
    forgotten, often = emulator.device("forgotten"), emulator.device("often")
    emulator.act("forgotten", "neglect")

    def send(token, **more):
        return raised(lambda: messaging.send(messaging.Message(token=token, **more)))

    check("a removed app", send(dead["token"]), "UnregisteredError")
    check("an installation id of a removed app", raised(lambda: messaging.send(messaging.Message(fid=dead["fid"]))), "UnregisteredError")
    check("an app that was away for 270 days", send(forgotten["token"]), "UnregisteredError")
    check("a token of another project", send(foreign["token"]), "SenderIdMismatchError")
    check("no token at all", send("nonsense"), "InvalidArgumentError")
    check("names the field", emulator.last()["field"], "message.token")
    check("a reserved key", send(living["token"], data={"google.x": "1"}), "InvalidArgumentError")
    check("names its place", emulator.last()["field"], "message.data[0].key")
    check("too many bytes", send(living["token"], data={"a": "b" * 4096}), "InvalidArgumentError")
    wrong = messaging.AndroidConfig(restricted_package_name="com.example.other")
    check("another app", send(living["token"], android=wrong), "InvalidArgumentError")
    emulator.call("PUT", f"projects/{PROJECT}", {"apnsKey": False})
    check("a bad key for APNs", send(apple["token"]), "ThirdPartyAuthError")
    emulator.call("PUT", f"projects/{PROJECT}", {"apnsKey": True})
    collapsible = messaging.AndroidConfig(collapse_key="k")
    seen = [send(often["token"], android=collapsible) for _ in range(21)]
    check("twenty collapsible messages and one more", (len(set(seen[:20])), seen[20]), (20, "QuotaExceededError"))
    emulator.call("PUT", f"projects/{PROJECT}", {"apiEnabled": False})
    check("the API switched off", send(living["token"]), "PermissionDeniedError")
    emulator.call("PUT", f"projects/{PROJECT}", {"apiEnabled": True})
    emulator.fault("unavailable", times=5)
    check("a service that is not there, five times", send(living["token"]), "UnavailableError")
    check("it was tried five times", [each.get("status") for each in emulator.requests()[-5:]], [503] * 5)
    emulator.fault("serverError", times=2)
    check("a service that fails twice", send(living["token"]).split(" ")[0], "no")
    emulator.fault("badGateway")
    check("a page in place of an answer", send(living["token"]), "UnknownError")
    emulator.fault("tooManyRequests")
    check("429", send(living["token"]), "QuotaExceededError")
    for name, more in (("seconds", {}), ("a date", {"date": True})):
        emulator.fault("tooManyRequests", seconds=2, **more)
        check(f"429 that says when, in {name}", send(living["token"]).split(" ")[0], "no")
        first, second = emulator.requests()[-2:]
        # A date has no fractions of a second.
        check("the client came back then", second["receivedAt"] - first["receivedAt"] > 900)


EXCEPTIONS = {
    "UNREGISTERED": "UnregisteredError", "SENDER_ID_MISMATCH": "SenderIdMismatchError", "QUOTA_EXCEEDED": "QuotaExceededError",
    "THIRD_PARTY_AUTH_ERROR": "ThirdPartyAuthError", "INVALID_ARGUMENT": "InvalidArgumentError", "NOT_FOUND": "NotFoundError",
    "PERMISSION_DENIED": "PermissionDeniedError", "UNAUTHENTICATED": "UnauthenticatedError", "ALREADY_EXISTS": "AlreadyExistsError",
    "RESOURCE_EXHAUSTED": "ResourceExhaustedError",
}


def check_rules(messaging, emulator):
    """The client reads the answer to every rule as it reads Google's."""
    phone = emulator.device("rules")
    rules = [rule for rule in emulator.call("GET", "rules") if rule.get("canonicalStatus")]
    for rule in rules:
        # A 401 makes the client fetch another access token and try again, up to three times in all.
        emulator.call("DELETE", "faults")
        emulator.fault("refusal", rule=rule["rule"], times=3)
        seen = raised(lambda: messaging.send(messaging.Message(token=phone["token"])))
        wanted = EXCEPTIONS[rule.get("errorCode") or rule["canonicalStatus"]]
        if seen != wanted:
            check(f"the answer to {rule['rule']}", seen, wanted)
    emulator.call("DELETE", "faults")
    check(f"the answers to {len(rules)} rules are read", len(rules) >= 50)


def check_access(messaging, emulator):
    phone = emulator.device("access")

    def exchanges():
        return len(emulator.requests("token"))

    messaging.send(messaging.Message(token=phone["token"]))
    for action in ("revoke", "expire"):
        before = exchanges()
        emulator.call("POST", f"projects/{PROJECT}/access-tokens", {"action": action})
        messaging.send(messaging.Message(token=phone["token"]))
        check(f"after {action} one more access token is fetched", exchanges() - before, 1)
    emulator.fault("revokeTokens")
    before = exchanges()
    messaging.send(messaging.Message(token=phone["token"]))
    check("a token that is revoked in the middle of a send is replaced", exchanges() - before, 1)
    emulator.fault("refusal", rule="issuerKnown", endpoint="token", times=9)
    emulator.call("POST", f"projects/{PROJECT}/access-tokens", {"action": "revoke"})
    check("an account that is gone", raised(lambda: messaging.send(messaging.Message(token=phone["token"]))), "RefreshError")
    emulator.call("DELETE", "faults")
    emulator.fault("loseAnswer")
    messaging.send(messaging.Message(token=phone["token"], data={"lost": "1"}))
    count = sum(each["data"] == {"lost": "1"} for each in emulator.messages("access"))
    check("a message whose answer was lost comes twice", count, 2)


def check_many(messaging, emulator):
    tokens = [emulator.device(f"many-{number}")["token"] for number in range(10)]

    def batch(kind):
        return [messaging.Message(token=tokens[number % 10], data={kind: str(number)}) for number in range(500)]

    for kind, send in (("sync", messaging.send_each), ("async", lambda each: asyncio.run(messaging.send_each_async(each)))):
        answer = send(batch(kind))
        errors = [str(each.exception) for each in answer.responses if each.exception]
        check(f"500 messages at once, {kind}", (answer.success_count, errors[:3]), (500, []))
        got = sorted(int(each["data"][kind]) for number in range(10) for each in emulator.messages(f"many-{number}") if kind in each["data"])
        check(f"every one arrives once, {kind}", got, list(range(500)))
    check("over HTTP/2 too", emulator.last()["isHTTP2"])
    mixed = [messaging.Message(token=token) for token in (tokens[0], "nonsense", tokens[1])]
    check("one bad of three", [each.success for each in messaging.send_each(mixed).responses], [True, False, True])


def check_topics(messaging, emulator, session):
    phones = [emulator.device(f"topic-{number}") for number in range(3)]
    tokens = [phone["token"] for phone in phones]
    answer = messaging.subscribe_to_topic([*tokens[:2], "nonsense"], "news")
    check(
        "two subscribe and one has no token",
        (answer.success_count, [(each.index, each.reason) for each in answer.errors]), (2, [(2, "INVALID_ARGUMENT")]))
    check("a second time is no error", messaging.subscribe_to_topic(tokens[:1], "news").success_count, 1)
    older = session.post(
        "https://iid.googleapis.com/iid/v1:batchAdd", headers={"access_token_auth": "true"},
        json={"to": "/topics/sport", "registration_tokens": [tokens[1], tokens[2], "nonsense"]})
    check("the older service", (older.status_code, older.json()["results"]), (200, [{}, {}, {"error": "INVALID_ARGUMENT"}]))

    def reached(**target):
        id = messaging.send(messaging.Message(data={"x": "y"}, **target)).split("/")[-1]
        return [any(each["id"] == id for each in emulator.messages(f"topic-{number}")) for number in range(3)]

    check("a topic", reached(topic="news"), [True, True, False])
    check("a condition", reached(condition="'news' in topics && 'sport' in topics"), [False, True, False])
    check("another condition", reached(condition="!('news' in topics) && ('sport' in topics || 'x' in topics)"), [False, False, True])
    messaging.unsubscribe_from_topic(tokens[:1], "news")
    check("one has left", reached(topic="news"), [False, True, False])
    check("too many topics", raised(lambda: reached(condition=" || ".join(f"'t{n}' in topics" for n in range(6)))), "InvalidArgumentError")
    check("half the size for topics", raised(lambda: messaging.send(messaging.Message(topic="news", data={"a": "b" * 2048}))), "InvalidArgumentError")


def main(authority, command):
    with tempfile.TemporaryDirectory() as folder:
        prepare_network(folder)
        program, emulator = start(command)
        try:
            # Registration tokens are what most apps have, though the client would rather have installation ids.
            warnings.filterwarnings("ignore", "Message.token is deprecated")
            os.environ["REQUESTS_CA_BUNDLE"] = os.environ["SSL_CERT_FILE"] = authority
            # Imported here, so that what they read of the environment is there.
            import firebase_admin
            from firebase_admin import credentials, messaging
            from google.auth.transport.requests import AuthorizedSession
            from google.oauth2 import service_account

            for project in (PROJECT, OTHER):
                emulator.call("PUT", f"projects/{project}", {})
            key = emulator.call("POST", f"projects/{PROJECT}/keys", {})
            check("the key file names Google's token URL", key["token_uri"], "https://oauth2.googleapis.com/token")
            firebase_admin.initialize_app(credentials.Certificate(key))
            account = service_account.Credentials.from_service_account_info(key, scopes=[SCOPE])
            check_message(messaging, emulator)
            check_errors(messaging, emulator)
            check_rules(messaging, emulator)
            check_access(messaging, emulator)
            check_topics(messaging, emulator, AuthorizedSession(account))
            check_many(messaging, emulator)
            check("the local FCM still runs", program.poll(), None)
            print(f"firebase-admin {firebase_admin.__version__} and the local FCM agree")
        finally:
            program.send_signal(signal.SIGTERM)
            program.wait(30)


if __name__ == "__main__":
    enter_network(sys.argv)
    main(sys.argv[1], sys.argv[2:])
