#!/usr/bin/python3
"""Drives the page of the simulated iPhone in Debian's chromium, as a person does.

    /usr/bin/python3 phone_page.py BASE_URL SCREENSHOT_FOLDER [--user NAME]

Needs: apt-get install chromium chromium-driver python3-selenium. Exits 0 when the whole story works, 1 with the first step
that does not, 2 when the browser itself cannot be started.
"""

import argparse
import base64
import json
import os
import pathlib
import sys
import time
import urllib.error
import urllib.request

try:
    from selenium import webdriver
    from selenium.common.exceptions import JavascriptException, StaleElementReferenceException, WebDriverException
    from selenium.webdriver.chrome.service import Service
    from selenium.webdriver.common.action_chains import ActionChains
    from selenium.webdriver.common.keys import Keys
except ImportError:
    sys.exit("phone_page.py needs selenium: apt-get install python3-selenium chromium-driver")

DEADLINE = float(os.environ.get("BROWSER_DEADLINE", "20"))


class Failure(Exception):
    """What a person would have noticed."""


class Page:
    def __init__(self, driver, base, folder):
        self.driver, self.base, self.folder, self.count = driver, base.rstrip("/"), folder, 0

    # Looking

    def find(self, test_id, extra=""):
        """The first visible element with this test id that can be reached (not inert)."""
        script = """
          return [...document.querySelectorAll(`[data-testid="${arguments[0]}"]${arguments[1]}`)]
            .find((node) => node.checkVisibility({visibilityProperty: true, opacityProperty: true})
              && !node.closest('[inert]')) || null"""
        return self.driver.execute_script(script, test_id, extra)

    def wait(self, what, condition, deadline=DEADLINE):
        end = time.monotonic() + deadline
        while True:
            try:
                value = condition()
                if value:
                    return value
            except (StaleElementReferenceException, JavascriptException):
                pass
            if time.monotonic() > end:
                raise Failure(f"waited {deadline:.0f} s for: {what}")
            self.driver.execute_async_script("requestAnimationFrame(() => arguments[0]())")

    def see(self, test_id, extra="", what=None):
        return self.wait(what or f"{test_id}{extra} to be visible", lambda: self.find(test_id, extra))

    def gone(self, test_id):
        self.wait(f"{test_id} to be gone", lambda: not self.find(test_id))

    def settled(self):
        """Waits until no transition runs any more, so that screenshots and clicks meet what they aim at."""
        script = """
          return document.getAnimations().every((animation) => animation.playState !== 'running'
            || animation.effect.getComputedTiming().endTime === Infinity)"""
        self.wait("the animations to end", lambda: self.driver.execute_script(script))

    def picture_shown(self, test_id):
        script = "const n = arguments[0]; return n.complete && n.naturalWidth > 0 && n.getBoundingClientRect().width > 20"
        self.wait(f"{test_id} to show a decoded picture", lambda: self.driver.execute_script(script, self.find(test_id)))

    def story_has(self, *steps):
        script = """
          const push = document.querySelector('[data-testid="story-push"]');
          return push ? [...push.querySelectorAll('[data-testid="story-step"]')].map((n) => n.dataset.step) : []"""
        self.wait(
            f"the story of the newest push to hold {', '.join(steps)}",
            lambda: set(steps) <= set(self.driver.execute_script(script)))

    def story_in_order(self):
        """Every push, as it is read from top to bottom: no step before its time, and none before the one that it needs."""
        script = """
          return [...document.querySelectorAll('[data-testid="story-push"]')].map((push) =>
            [...push.querySelectorAll('[data-testid="story-step"]')].map((n) => [n.dataset.step, Number(n.dataset.at)]))"""
        for steps in self.driver.execute_script(script):
            names, moments = [name for name, _ in steps], [at for _, at in steps]
            if moments != sorted(moments):
                raise Failure(f"the story is not in the order of time: {steps}")
            way = [name for name in ("send", "accepted", "apns-request", "delivered") if name in names]
            if sorted(way, key=names.index) != way:
                raise Failure(f"the story is in an impossible order: {names}")

    def newest(self):
        script = """
          return [...document.querySelectorAll('[data-testid="story-push"]')].map((n) => Number(n.dataset.richId))"""
        return max(self.driver.execute_script(script), default=0)

    def shot(self, name):
        self.settled()
        self.count += 1
        data = self.driver.execute_cdp_cmd("Page.captureScreenshot", {"format": "png"})["data"]
        (self.folder / f"{self.count:02d}-{name}.png").write_bytes(base64.b64decode(data))

    # Doing

    def try_press(self, test_id, extra=""):
        """Clicks if that is possible now; false when something is in the way, for example what is just moving out."""
        node = self.find(test_id, extra)
        if not node or not node.is_enabled():
            return False
        try:
            node.click()
        except WebDriverException as error:
            if "intercept" in str(error) or "interactable" in str(error):
                return False
            raise
        return True

    def press(self, test_id, extra=""):
        self.see(test_id, extra)
        self.settled()
        self.wait(f"{test_id}{extra} to take a click", lambda: self.try_press(test_id, extra))

    def type(self, test_id, text):
        field = self.see(test_id)
        field.clear()
        field.send_keys(text)


def send_from_elsewhere(page, user, notification=None):
    """What any program does: the tutorial's call over HTTP, or a send with words, with the user's name and password."""
    credentials = base64.b64encode(f"{user}:{user}".encode()).decode()
    request = urllib.request.Request(
        page.base + "/api/notifications", data=json.dumps(notification).encode() if notification else b"", method="POST",
        headers={"Authorization": f"Basic {credentials}", "Content-Type": "application/json"})
    try:
        with urllib.request.urlopen(request, timeout=DEADLINE) as answer:
            if answer.status >= 300:
                raise Failure(f"POST /api/notifications answered {answer.status}")
    except urllib.error.URLError as error:
        raise Failure(f"POST /api/notifications failed: {error}") from error


def opens(page, user):
    page.driver.get(page.base + "/phone")
    page.wait("the page to be live", lambda: "open" in page.see("connection").get_attribute("class").split())
    about = page.see("about").text
    if "simulation of an iPhone, not iOS" not in about:
        raise Failure("the page does not say that it is a simulation")
    page.press("control-open") if not page.find("sign-in-screen") else None
    page.see("sign-in-screen")
    page.shot("opened")


def refuses_wrong_password(page, user):
    page.type("sign-in-user", user)
    page.type("sign-in-password", "something else")
    page.press("sign-in-button")
    page.wait("a message about the wrong password", lambda: page.find("sign-in-error").text)
    page.shot("wrong-password")


def signs_in(page, user):
    page.type("sign-in-user", user)
    page.type("sign-in-password", user)
    page.find("sign-in-password").send_keys(Keys.ENTER)
    page.see("main-screen")
    page.wait(f"the greeting of {user}", lambda: page.find("greeting").text == user)
    page.shot("signed-in")


def sends_in_foreground(page, user):
    page.press("send-push")
    page.see("alert", what="the alert with OK and More, in the app")
    page.see("alert-ok")
    if not page.find("alert-message").text:
        raise Failure("the alert says nothing")
    page.story_has("accepted", "apns-request", "apns-answer", "delivered", "shown")
    page.story_in_order()
    page.shot("alert")


def more_opens_the_picture(page, user):
    page.press("alert-more")
    page.see("content", '[data-state="ready"]', what="the content screen with its content")
    page.picture_shown("content-image")
    if not page.find("content-image").get_attribute("alt"):
        raise Failure("the picture has no text for people who do not see it")
    page.story_has("fetched", "opened")
    page.shot("picture")


def zooms(page, user):
    page.press("picture-zoom")
    page.see("zoomed-image")
    page.picture_shown("zoomed-image")
    page.shot("picture-close")
    page.press("zoom-close")
    page.gone("zoomed-image")


def alert_ok_stays(page, user):
    page.press("content-back")
    page.see("main-screen")
    page.press("send-push")
    page.see("alert")
    page.press("alert-ok")
    page.gone("alert")
    page.see("main-screen")


def banner_at_home(page, user):
    page.press("control-home")
    page.wait("the home screen", lambda: page.find("app-icon") and not page.find("main-screen"))
    before = page.newest()
    send_from_elsewhere(page, user)
    page.see("banner", what="a banner on the home screen")
    page.wait("the story of the new push", lambda: page.newest() > before)
    page.see("badge", what="a badge on the app")
    page.shot("banner")


def banner_opens_the_picture(page, user):
    page.press("banner-open")
    page.see("content", '[data-state="ready"]', what="the content screen after a tap on the banner")
    page.picture_shown("content-image")
    page.shot("opened-from-banner")


def lock_screen_and_more(page, user):
    page.press("control-lock")
    page.see("lock-screen")
    known = {node.get_attribute("data-rich-id") for node in notices(page)}
    send_from_elsewhere(page, user)
    page.wait("a notification on the lock screen", lambda: {n.get_attribute("data-rich-id") for n in notices(page)} - known)
    page.shot("lock-screen")
    page.press("notice-expand")
    page.see("expanded-notice")
    page.shot("held-open")
    page.press("notice-more")
    page.see("content", '[data-state="ready"]', what="the content screen after More on the lock screen")
    page.picture_shown("content-image")
    page.shot("opened-with-more")


def notices(page):
    return page.driver.execute_script("""
      return [...document.querySelectorAll('.cover [data-testid="notice"]')]""")


def inbox_remembers(page, user):
    page.press("content-back")
    page.see("main-screen")
    rows = page.wait("the inbox", lambda: page.driver.execute_script(
        "return document.querySelectorAll('[data-testid=\"inbox-row\"]').length"))
    if rows < 4:
        raise Failure(f"the inbox shows {rows} notifications, but 4 were sent")
    page.shot("inbox")
    page.press("inbox-row")
    page.see("content", '[data-state="ready"]', what="the content of the newest inbox entry")
    page.picture_shown("content-image")
    page.press("content-back")


def send_kind(page, kind):
    page.see("main-screen")
    page.press("options-open")
    page.press(f"kind-{kind}")
    page.shot(f"options-{kind}")
    page.press("options-send")
    page.see("alert")
    page.press("alert-more")
    page.see("content", f'[data-kind="{kind}"][data-state="ready"]', what=f"the content screen with the {kind}")


def video_plays(page, user):
    send_kind(page, "video")
    script = "const v = arguments[0]; v.muted = true; v.play(); return v.videoWidth > 0 && v.currentTime > 0 && !v.error"
    page.wait("the video to play", lambda: page.driver.execute_script(script, page.find("content-video")))
    page.story_in_order()
    page.shot("video")
    page.press("content-back")


def file_has_its_name(page, user):
    send_kind(page, "file")
    if page.see("file-name").text != "Boarding pass.pdf":
        raise Failure(f"the file is called {page.find('file-name').text!r}")
    header = page.driver.execute_async_script("""
      fetch(arguments[0].href).then((answer) => arguments[1](answer.headers.get('Content-Disposition')))""",
      page.see("content-download"))
    if header != 'attachment; filename="Boarding pass.pdf"':
        raise Failure(f"it would be saved as {header!r}")
    page.shot("file")
    page.press("content-back")
    page.press("options-open")
    page.press("kind-img")
    page.press("options-done")


def words_are_complete(page, user):
    words = {"title": "Harbour news", "subtitle": "Evening edition", "message": "The lighthouse is lit."}
    send_from_elsewhere(page, user, words)
    page.see("alert")
    for part in ("title", "subtitle", "message"):
        if page.see(f"alert-{part}").text != words[part]:
            raise Failure(f"the alert's {part} is {page.find(f'alert-{part}').text!r}")
    page.shot("alert-with-words")
    page.press("alert-more")
    page.see("content", '[data-state="ready"]')
    for part in ("title", "subtitle", "message"):
        if page.see(f"content-{part}").text != words[part]:
            raise Failure(f"the screen's {part} is {page.find(f'content-{part}').text!r}")
    page.shot("words")
    page.press("content-back")


def offline_and_back(page, user):
    page.see("main-screen")
    rows = "return document.querySelectorAll('[data-testid=\"inbox-row\"]').length"
    before = page.driver.execute_script(rows)
    page.press("switch-offline")
    page.wait("the switch to be on", lambda: page.find("switch-offline").get_attribute("aria-checked") == "true")
    send_from_elsewhere(page, user)
    send_from_elsewhere(page, user)
    page.shot("offline")
    page.press("switch-offline")
    page.wait("both pushes in the inbox after the phone is back", lambda: page.driver.execute_script(rows) >= before + 2)
    page.wait("the alerts to be answered", lambda: answer_alert(page))
    page.shot("back-online")


def answer_alert(page):
    """Presses OK if there is an alert; true once there is none."""
    if not page.find("alert-ok"):
        return True
    page.try_press("alert-ok")
    return False


def keyboard_reaches_all(page, user):
    """Tab from the top of the page reaches the phone's main button and a switch."""
    wanted = {"send-push", "switch-offline"}

    def reached():
        if not answer_alert(page):
            return False
        page.driver.execute_script("document.activeElement && document.activeElement.blur(); window.scrollTo(0, 0)")
        names = set()
        for _ in range(80):
            ActionChains(page.driver).send_keys(Keys.TAB).perform()
            names.add(page.driver.execute_script("return document.activeElement.dataset.testid || ''"))
            if wanted <= names:
                return True
        return False

    page.wait("the Tab key to reach Send push and the switch Offline", reached)


def story_tells_headers(page, user):
    page.driver.execute_script("""
      document.querySelector('[data-testid="story-push"] [data-step="apns-request"] button')?.click()""")
    page.wait("the details of the APNs request", lambda: page.driver.execute_script("""
      return document.querySelector('[data-step="apns-request"] .step-detail')?.textContent.includes('apns-') || false"""))
    page.shot("story")


def small_and_dark(page, user):
    page.driver.execute_cdp_cmd(
        "Emulation.setEmulatedMedia", {"features": [{"name": "prefers-color-scheme", "value": "dark"}]})
    page.shot("dark")
    page.driver.execute_cdp_cmd(
        "Emulation.setDeviceMetricsOverride", {"width": 390, "height": 844, "deviceScaleFactor": 2, "mobile": True})
    page.wait("the phone to fit a phone's browser", lambda: page.driver.execute_script(
        "return document.documentElement.scrollWidth <= 390 && document.querySelector('.device').getBoundingClientRect().right <= 390"))
    page.shot("on-a-phone")


def nothing_broke(page, user):
    # The refused sign-in may be logged by the browser as a failed load; scripts and the content policy must not complain.
    lines = [entry["message"] for entry in page.driver.get_log("browser") if entry["level"] == "SEVERE"]
    lines = [line for line in lines if "Failed to load resource" not in line]
    if lines:
        raise Failure("the browser's console reports: " + "; ".join(lines))


STEPS = [
    opens, refuses_wrong_password, signs_in, sends_in_foreground, more_opens_the_picture, zooms, alert_ok_stays, banner_at_home,
    banner_opens_the_picture, lock_screen_and_more, inbox_remembers, video_plays, file_has_its_name, words_are_complete,
    offline_and_back, story_tells_headers,
    keyboard_reaches_all, small_and_dark, nothing_broke,
]


def browser():
    options = webdriver.ChromeOptions()
    options.binary_location = "/usr/bin/chromium"
    for argument in ("--headless=new", "--no-sandbox", "--hide-scrollbars", "--disable-dev-shm-usage"):
        options.add_argument(argument)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    driver = webdriver.Chrome(service=Service("/usr/bin/chromedriver"), options=options)
    driver.execute_cdp_cmd(
        "Emulation.setDeviceMetricsOverride", {"width": 1280, "height": 900, "deviceScaleFactor": 1, "mobile": False})
    return driver


def main():
    parser = argparse.ArgumentParser(description="Drives the page of the simulated iPhone as a person does.")
    parser.add_argument("base", help="for example http://127.0.0.1:8080")
    parser.add_argument("folder", type=pathlib.Path, help="where the screenshots go")
    parser.add_argument("--user", default="alice")
    arguments = parser.parse_args()
    arguments.folder.mkdir(parents=True, exist_ok=True)
    try:
        driver = browser()
    except WebDriverException as error:
        print(f"chromium cannot be started: {error}", file=sys.stderr)
        return 2
    page = Page(driver, arguments.base, arguments.folder)
    try:
        for step in STEPS:
            name = step.__name__.replace("_", " ")
            try:
                step(page, arguments.user)
            except (Failure, WebDriverException) as error:
                try:
                    page.driver.save_screenshot(str(arguments.folder / "failure.png"))
                except WebDriverException:
                    pass
                print(f"FAILED: {name}: {error}", file=sys.stderr)
                return 1
            print(f"ok: {name}")
        print(f"{len(STEPS)} steps passed")
        return 0
    finally:
        driver.quit()


if __name__ == "__main__":
    sys.exit(main())
