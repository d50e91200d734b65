#!/usr/bin/python3
"""Plays a developer who tests an Android backend with the page of the local FCM, in Debian's chromium.

    /usr/bin/python3 fcm_page.py BASE_URL EMULATOR_FOLDER SCREENSHOT_FOLDER

BASE_URL is the administration of a running emulator, and EMULATOR_FOLDER the one that it was started with. Messages leave as plain HTTPS
requests, signed with the service account by openssl. Exits 0 when everything works, 1 with the first step that does not, 2 when the
browser itself cannot be started.
"""

import base64
import json
import os
import pathlib
import ssl
import subprocess
import sys
import tempfile
import time
import traceback
import urllib.error
import urllib.parse
import urllib.request

# Nothing is left beside the sources.
sys.dont_write_bytecode = True

from selenium.common.exceptions import WebDriverException
from selenium.webdriver.common.keys import Keys

from phonepage.console import axe
from phonepage.page import DEADLINE, Failure, Page, browser

SCOPE = "https://www.googleapis.com/auth/firebase.messaging"
PACKAGE = "com.example.shop"
PHONE = '[data-name="pixel 9"] '


class Backend:
    """A backend that sends: OAuth and FCM v1 over plain HTTPS."""

    def __init__(self, folder):
        self.folder = pathlib.Path(folder)
        self.account = json.loads((self.folder / "fcm-service-account.json").read_text())
        self.context = ssl.create_default_context(cafile=str(self.folder / "authority.pem"))
        self.origin = self.account["token_uri"].removesuffix("/token")
        self.bearer = ""

    def sign_in(self):
        now = int(time.time())
        claims = {"iss": self.account["client_email"], "scope": SCOPE, "aud": self.account["token_uri"], "iat": now, "exp": now + 3600}
        head = {"alg": "RS256", "typ": "JWT", "kid": self.account["private_key_id"]}
        text = b".".join(base64.urlsafe_b64encode(json.dumps(part).encode()).rstrip(b"=") for part in (head, claims))
        with tempfile.NamedTemporaryFile() as key:
            key.write(self.account["private_key"].encode())
            key.flush()
            signature = subprocess.run(["openssl", "dgst", "-sha256", "-sign", key.name], input=text, capture_output=True, check=True).stdout
        assertion = text + b"." + base64.urlsafe_b64encode(signature).rstrip(b"=")
        form = {"grant_type": "urn:ietf:params:oauth:grant-type:jwt-bearer", "assertion": assertion.decode()}
        status, answer, _ = self.ask("/token", urllib.parse.urlencode(form).encode(), {})
        if status != 200:
            raise Failure(f"the token endpoint answered {status}: {answer}")
        self.bearer = answer["access_token"]

    def ask(self, path, data, headers):
        request = urllib.request.Request(self.origin + path, data, headers, method="POST")
        try:
            with urllib.request.urlopen(request, timeout=DEADLINE, context=self.context) as answer:
                return answer.status, json.load(answer), answer.headers
        except urllib.error.HTTPError as error:
            return error.code, json.load(error), error.headers

    def send(self, token, wanted=200, **message):
        """Sends a message to a token; returns the answer with its headers."""
        headers = {"Content-Type": "application/json", "Authorization": f"Bearer {self.bearer}"}
        path = f"/v1/projects/{self.account['project_id']}/messages:send"
        status, answer, more = self.ask(path, json.dumps({"message": {"token": token, **message}}).encode(), headers)
        if status != wanted:
            raise Failure(f"the send answered {status}: {answer}")
        return answer, more


def shown(title):
    return {"notification": {"title": title}}


def token(page):
    """What the copy button of the phone's token copies."""
    page.driver.execute_script("document.querySelector(arguments[0]).click()", PHONE + '[aria-label^="Copy: The token"]')
    return page.last_copied()


def act(page, action):
    page.scope = PHONE
    try:
        page.press(action)
    finally:
        page.scope = ""


def on_phone(page, kind, text):
    """Waits until the list of shown or waiting messages has one with this text; returns the texts of its lines."""
    page.scope = PHONE
    try:
        return page.wait(f"{text} to be {kind}", lambda: [each for each in page.texts(kind) if text in each])
    finally:
        page.scope = ""


def newest(page, verdict, code, path="send"):
    """Waits until the newest request of a kind has this verdict and this code."""
    script = """
      const line = [...document.querySelectorAll('[data-testid=request]')].find((node) => node.dataset.path === arguments[0]);
      return line && ['verdict', 'code'].map((name) => line.querySelector(`[data-testid=${name}]`).textContent)"""
    seen = [None]

    def holds():
        seen[0] = page.driver.execute_script(script, path)
        return seen[0] == [verdict, code]

    try:
        page.wait(f"the newest {path} to be {verdict} {code}", holds)
    except Failure as failure:
        raise Failure(f"{failure}, but saw {seen[0]}") from failure


def plan(page, kind, **fields):
    page.choose("fault-kind", kind)
    for name, value in fields.items():
        page.see(f"fault-{name}")
        page.type(f"fault-{name}", value)
    page.press("fault-plan")
    page.see("planned")


def the_page_opens_and_is_live(page, backend):
    page.driver.get(page.base + "/fcm")
    page.see("connection")
    page.wait("the page to be live", lambda: page.find("connection").text == "live")
    page.catch_copies()


def it_names_the_service_account_and_the_project(page, backend):
    text = page.driver.find_element("id", "senders").text
    for wanted in (str(backend.folder.resolve() / "fcm-service-account.json"), backend.origin, backend.account["project_id"]):
        if wanted not in text:
            raise Failure(f"{wanted} is not in: {text}")


def what_is_empty_says_what_to_do(page, backend):
    if "Add one below" not in page.see("no-phones").text or "Point your sender here" not in page.see("no-requests").text:
        raise Failure("an empty list does not say what to do")
    page.shot("empty")


def each_client_has_its_lines(page, backend):
    for client in ("Clarion", "Go", "Python", "Node", "Java"):
        page.press(f"client-{client}")
        page.wait(f"the lines of {client} with the key file", lambda: "fcm-service-account.json" in page.find("client-lines").text)
    page.press("client-Python")
    page.wait("that Python knows Google by name", lambda: "--fcm-as-google" in page.driver.find_element("id", "senders").text)


def a_phone_is_added(page, backend):
    page.type("add-name", "pixel 9")
    page.type("add-package", PACKAGE)
    page.press("add")
    page.wait("the phone", lambda: "online" in page.find("phone").text)
    page.gone("no-phones")
    page.wait("the name to be emptied", lambda: page.find("add-name").get_attribute("value") == "")


def a_name_that_is_taken_is_refused_where_it_was_typed(page, backend):
    page.type("add-name", "pixel 9")
    page.type("add-package", "com.example.other")
    page.press("add")
    problem = page.see("problem", what="the problem at the form")
    if "has another app" not in problem.text or not page.driver.execute_script("return Boolean(arguments[0].closest('form.add'))", problem):
        raise Failure(f"the problem is not at the form, or is {problem.text}")
    page.type("add-package", PACKAGE)
    page.press("add")
    page.gone("problem")


def a_message_is_shown_and_its_request_accepted(page, backend):
    backend.sign_in()
    backend.send(token(page), **shown("Hello from a backend"))
    on_phone(page, "shown", "Hello from a backend")
    newest(page, "accepted", "200")
    newest(page, "accepted", "200", path="token")


def a_tap_opens_the_app(page, backend):
    page.scope = PHONE
    page.press("tap")
    page.gone("shown")
    page.wait("the app to be in the foreground", lambda: "foreground" in page.find("leaveApp").find_element("xpath", "ancestor::article").text)
    page.scope = ""
    act(page, "leaveApp")


def in_doze_normal_priority_waits_and_says_why(page, backend):
    act(page, "enterDoze")
    backend.send(token(page), **shown("Later"), android={"priority": "normal", "ttl": "600s"})
    [line] = on_phone(page, "waiting", "Later")
    if "Doze holds normal priority back" not in line or "Expires in 9:" not in line and "Expires in 10:00" not in line:
        raise Failure(f"it says: {line}")
    first = page.driver.execute_script("return document.querySelector('.countdown').textContent")
    page.wait("the time to live to run down", lambda: page.driver.execute_script(
        "return document.querySelector('.countdown').textContent") != first)
    page.shot("waiting")


def high_priority_comes_through_doze(page, backend):
    backend.send(token(page), **shown("Now"), android={"priority": "high"})
    on_phone(page, "shown", "Now")


def after_doze_it_is_shown(page, backend):
    act(page, "leaveDoze")
    on_phone(page, "shown", "Later")
    page.gone("waiting")


def a_stopped_app_gets_nothing_until_it_is_opened(page, backend):
    act(page, "forceStop")
    backend.send(token(page), data={"order": "17"}, android={"priority": "high"})
    [line] = on_phone(page, "waiting", '{"order":"17"}')
    if "force-stopped" not in line or "days" not in line:
        raise Failure(f"it says: {line}")
    act(page, "openApp")
    page.gone("waiting")
    act(page, "leaveApp")


def an_offline_phone_waits(page, backend):
    act(page, "goOffline")
    backend.send(token(page), **shown("On the train"))
    if "offline" not in on_phone(page, "waiting", "On the train")[0]:
        raise Failure("it does not say that the phone is offline")
    act(page, "goOnline")
    on_phone(page, "shown", "On the train")


def a_503_is_planned_and_recorded(page, backend):
    plan(page, "unavailable")
    backend.send(token(page), wanted=503, **shown("Never"))
    newest(page, "fault unavailable", "503 UNAVAILABLE")
    page.gone("planned")


def a_429_says_when_to_come_back(page, backend):
    plan(page, "tooManyRequests", seconds="7", times="2")
    page.wait("what is planned", lambda: "Retry-After 7" in page.find("planned").text and "2 requests" in page.find("planned").text)
    _, headers = backend.send(token(page), wanted=429, **shown("Never"))
    if headers["retry-after"] != "7":
        raise Failure(f"Retry-After is {headers['retry-after']}")
    newest(page, "fault tooManyRequests", "429 QUOTA_EXCEEDED")
    page.press("fault-clear")
    page.gone("planned")


def a_lost_answer_delivers_all_the_same(page, backend):
    plan(page, "loseAnswer")
    try:
        backend.send(token(page), **shown("Twice"))
    except (urllib.error.URLError, OSError):
        newest(page, "fault loseAnswer", "no answer")
        on_phone(page, "shown", "Twice")
        return
    raise Failure("there was an answer")


def a_malformed_message_shows_the_rule_and_its_text(page, backend):
    backend.send(token(page), wanted=400, **shown("Never"), android={"ttl": "3000000s"})
    newest(page, "refused", "400 INVALID_ARGUMENT")
    text = page.all("request")[0].text
    if "message.android.ttl" not in text or "not between 0s and 2419200s" not in text:
        raise Failure(f"the request says: {text}")
    page.press("rule-link")
    row = page.driver.find_element("id", "rule-ttlRange")
    page.wait("the rule to be visible", lambda: row.is_displayed() and "2419200s" in row.text)


def a_new_token_ends_the_old_one(page, backend):
    old = token(page)
    act(page, "renewToken")
    page.wait("another token", lambda: token(page) != old)
    backend.send(old, wanted=404, **shown("Never"))
    newest(page, "refused", "404 UNREGISTERED")
    backend.send(token(page), **shown("By the new token"))
    on_phone(page, "shown", "By the new token")


def markup_in_a_message_stays_text(page, backend):
    markup = '<img src=x onerror="document.title=1"><b>bold</b>'
    backend.send(token(page), **shown(markup))
    on_phone(page, "shown", markup)
    if page.driver.execute_script("return document.querySelectorAll('main img').length") or page.driver.title == "1":
        raise Failure("markup of a message became a part of the page")


def the_keyboard_alone_puts_a_phone_into_doze_and_stays_there(page, backend):
    page.scope = PHONE
    page.see("enterDoze")
    page.driver.execute_script("arguments[0].focus()", page.find("goOffline"))
    page.driver.switch_to.active_element.send_keys(Keys.TAB)
    page.driver.switch_to.active_element.send_keys(Keys.ENTER)
    page.see("leaveDoze")
    page.frames(90)
    if page.driver.execute_script("return document.activeElement === document.body"):
        raise Failure("the focus is lost")
    page.scope = ""
    act(page, "leaveDoze")


def an_app_that_is_removed_has_no_token(page, backend):
    dead = token(page)
    act(page, "uninstall")
    page.scope = PHONE
    page.see("install")
    page.scope = ""
    backend.send(dead, wanted=404, **shown("Never"))
    newest(page, "refused", "404 UNREGISTERED")
    act(page, "install")


def it_fits_a_small_screen_in_light_and_dark(page, backend):
    for width, height, mobile in ((1280, 900, False), (390, 844, True)):
        page.size(width, height, mobile)
        for scheme in ("light", "dark"):
            page.media(prefers_color_scheme=scheme)
            page.settled()
            overflow = page.driver.execute_script("return document.documentElement.scrollWidth - innerWidth")
            if overflow > 0:
                raise Failure(f"at {width} points the page is {overflow} points too wide")
            axe(page, f"the page at {width} points, {scheme}")
            page.shot(f"{width}-{scheme}")
    page.size(1280, 900)


def what_is_recorded_is_forgotten(page, backend):
    page.press("forget")
    page.see("no-requests")


def nothing_broke(page, backend):
    # A refused change may be logged by the browser as a failed load; scripts and the content policy must not complain.
    lines = [entry["message"] for entry in page.driver.get_log("browser") if entry["level"] == "SEVERE"]
    lines = [line for line in lines if "Failed to load resource" not in line]
    if lines:
        raise Failure("the browser's console reports: " + "; ".join(lines))


STEPS = [
    the_page_opens_and_is_live, it_names_the_service_account_and_the_project, what_is_empty_says_what_to_do, each_client_has_its_lines,
    a_phone_is_added, a_name_that_is_taken_is_refused_where_it_was_typed, a_message_is_shown_and_its_request_accepted, a_tap_opens_the_app,
    in_doze_normal_priority_waits_and_says_why, high_priority_comes_through_doze, after_doze_it_is_shown,
    a_stopped_app_gets_nothing_until_it_is_opened, an_offline_phone_waits, a_503_is_planned_and_recorded, a_429_says_when_to_come_back,
    a_lost_answer_delivers_all_the_same, a_malformed_message_shows_the_rule_and_its_text, a_new_token_ends_the_old_one,
    markup_in_a_message_stays_text, the_keyboard_alone_puts_a_phone_into_doze_and_stays_there, an_app_that_is_removed_has_no_token,
    it_fits_a_small_screen_in_light_and_dark, what_is_recorded_is_forgotten, nothing_broke,
]


def main(base, emulator, folder):
    os.makedirs(folder, exist_ok=True)
    try:
        driver = browser()
    except WebDriverException as error:
        print(f"chromium cannot be started: {error}", file=sys.stderr)
        return 2
    page = Page(driver, base, pathlib.Path(folder))
    page.size(1280, 900)
    backend = Backend(emulator)
    try:
        for step in STEPS:
            name = step.__name__.replace("_", " ")
            try:
                step(page, backend)
            except Exception as error:
                driver.save_screenshot(str(page.folder / "failure.png"))
                (page.folder / "failure.html").write_text(driver.page_source)
                if not isinstance(error, (Failure, WebDriverException)):
                    traceback.print_exc()
                print(f"FAILED: {name}: {error or type(error).__name__}", file=sys.stderr)
                return 1
            print(f"ok: {name}", flush=True)
        print(f"{len(STEPS)} steps passed")
        return 0
    finally:
        driver.quit()


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
