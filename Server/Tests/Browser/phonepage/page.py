"""A browser with the page of the simulated iPhones, and the user's actions on it."""

import base64
import contextlib
import json
import os
import time
import urllib.error
import urllib.request

from selenium import webdriver
from selenium.common.exceptions import JavascriptException, StaleElementReferenceException, WebDriverException
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.support.ui import Select

DEADLINE = float(os.environ.get("BROWSER_DEADLINE", "20"))


class Failure(Exception):
    """What a user would have noticed."""


class Page:
    def __init__(self, driver, base, folder):
        self.driver, self.base, self.folder, self.count = driver, base.rstrip("/"), folder, 0
        # Where things are looked for: the whole page, or one phone of several.
        self.scope = ""

    @contextlib.contextmanager
    def phone(self, number):
        """Within: what is looked for is on this phone alone, side by side with others."""
        self.scope = f'[data-phone="{number}"] '
        try:
            yield self
        finally:
            self.scope = ""

    # Looking

    def find(self, test_id, extra=""):
        """The first visible element with this test id that can be reached (not inert)."""
        script = """
          return [...document.querySelectorAll(`${arguments[2]}[data-testid="${arguments[0]}"]${arguments[1]}`)]
            .find((node) => node.checkVisibility({visibilityProperty: true, opacityProperty: true})
              && !node.closest('[inert]')) || null"""
        return self.driver.execute_script(script, test_id, extra, self.scope)

    def all(self, test_id, extra=""):
        """Every element with this test id, in order, reachable or not."""
        return self.driver.execute_script(
            "return [...document.querySelectorAll(`${arguments[2]}[data-testid='${arguments[0]}']${arguments[1]}`)]",
            test_id, extra, self.scope)

    def texts(self, test_id, extra=""):
        return self.driver.execute_script(
            "return [...document.querySelectorAll(`${arguments[2]}[data-testid='${arguments[0]}']${arguments[1]}`)]"
            ".map((node) => node.textContent)", test_id, extra, self.scope)

    def wait(self, what, condition, deadline=DEADLINE):
        end = time.monotonic() + deadline
        while True:
            trouble = ""
            try:
                value = condition()
                if value:
                    return value
            # The element may not be there yet, or be replaced meanwhile.
            except (StaleElementReferenceException, JavascriptException, AttributeError) as error:
                trouble = f" ({str(error).splitlines()[0]})"
            if time.monotonic() > end:
                raise Failure(f"waited {deadline:.0f} s for: {what}{trouble}")
            self.frames(1)

    def frames(self, count):
        """Lets the page draw what has changed."""
        for _ in range(count):
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
          const push = document.querySelector('[data-testid="story-push"][data-rich-id]');
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
          return [...document.querySelectorAll('[data-testid="story-push"][data-rich-id]')].map((n) => Number(n.dataset.richId))"""
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

    def tap(self, test_id, extra="", milliseconds=50):
        """A short press with the pointer: between the halves of a click a busy machine leaves enough time for a long press.
        With more time it is a long one."""
        self.see(test_id, extra)
        self.settled()

        def place():
            return self.driver.execute_script("""
              const node = arguments[0];
              const { left, top, width, height } = node.getBoundingClientRect();
              const [x, y] = [left + width / 2, top + height / 2];
              return node.contains(document.elementFromPoint(x, y)) ? { x, y } : null""", self.find(test_id, extra))

        point = self.wait(f"{test_id}{extra} to be in reach", place)
        self.driver.execute_cdp_cmd("Input.synthesizeTapGesture", {**point, "duration": milliseconds, "gestureSourceType": "mouse"})

    def type(self, test_id, text):
        field = self.see(test_id)
        # As with the hand: what is there is marked and written over.
        field.send_keys(Keys.CONTROL, "a")
        field.send_keys(text)

    def choose(self, test_id, value):
        """Chooses in a list, by its value."""
        Select(self.see(test_id)).select_by_value(value)

    def switch(self, test_id, on):
        """Puts a switch where it is wanted."""
        wanted = "true" if on else "false"
        if self.see(test_id).get_attribute("aria-checked") != wanted:
            self.press(test_id)
        self.wait(f"the switch {test_id} to be {'on' if on else 'off'}",
                  lambda: self.find(test_id).get_attribute("aria-checked") == wanted)

    def turn_to(self, number):
        """Shows one phone alone, by the switch at the top."""
        self.press(f"phone-{number}")
        self.see(f"stand-{number}")
        for other in {1, 2, 3} - {number}:
            self.gone(f"stand-{other}")

    def open_details(self, test_id):
        """Unfolds what is folded."""
        node = self.see(test_id)
        if node.get_attribute("open") is None:
            self.driver.execute_script("arguments[0].scrollIntoView({ block: 'center' })", node)
            node.find_element("tag name", "summary").click()

    def try_next(self, title):
        """Presses what the guide offers under "Try next", past its first steps."""
        if not self.find("guide-next"):
            self.driver.execute_script("document.querySelector('.guide-done, .guide-skip').click()")
        self.wait(f"the guide to take a click on {title}", lambda: self.driver.execute_script("""
          const offer = [...document.querySelectorAll('.try:enabled')].find((node) => node.textContent.startsWith(arguments[0]));
          offer?.click();
          return Boolean(offer)""", title))

    def quiet(self):
        """Answers what the phones in sight ask, and closes what is open on them."""
        def is_quiet():
            for test_id in ("alert-ok", "link-cancel", "zoom-close", "content-back"):
                if self.find(test_id):
                    self.try_press(test_id)
                    return False
            return True
        self.wait("the phone to ask nothing more", is_quiet)

    def drop(self, name, text=None, encoded=None, media_type="application/json"):
        """Drops a file on the page, with this text or these bytes in Base64."""
        self.driver.execute_script("""
          const [name, text, encoded, type] = arguments;
          const bytes = text ?? Uint8Array.from(atob(encoded), (each) => each.charCodeAt(0));
          const transfer = new DataTransfer();
          transfer.items.add(new File([bytes], name, { type }));
          for (const kind of ['dragover', 'drop']) {
            document.body.dispatchEvent(new DragEvent(kind, { bubbles: true, cancelable: true, dataTransfer: transfer }));
          }""", name, text, encoded, media_type)

    def catch_copies(self):
        """From now on what goes to the clipboard and into files can be read."""
        self.driver.execute_script("""
          window.copied = []; window.saved = [];
          navigator.clipboard.writeText = async (text) => { window.copied.push(text); };
          const create = URL.createObjectURL;
          URL.createObjectURL = (blob) => { blob.text().then((text) => window.saved.push(text)); return create(blob); };""")

    def last_copied(self, kind="copied"):
        return self.wait("something to be " + kind, lambda: self.driver.execute_script(f"return window.{kind}.at(-1)"))

    def media(self, **features):
        """Sets the preferences that the browser reports, for example `prefers_color_scheme="dark"`."""
        wanted = [{"name": name.replace("_", "-"), "value": value} for name, value in features.items()]
        self.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": wanted})

    def size(self, width, height, mobile=False):
        self.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", {
            "width": width, "height": height, "deviceScaleFactor": 2 if mobile else 1, "mobile": mobile})


def send_from_elsewhere(page, user, notification=None):
    """Sends as any program does: the rich push tutorial's call over HTTP, or a send with texts, with the user's name and password."""
    credentials = base64.b64encode(f"{user}:{user}".encode()).decode()
    request = urllib.request.Request(
        page.base + "/api/notifications", data=json.dumps(notification).encode() if notification else b"", method="POST",
        headers={"Authorization": f"Basic {credentials}", "Content-Type": "application/json"})
    try:
        with urllib.request.urlopen(request, timeout=DEADLINE) as answer:
            if answer.status >= 300:
                raise Failure(f"POST /api/notifications answered {answer.status}")
            return json.load(answer)
    except urllib.error.URLError as error:
        raise Failure(f"POST /api/notifications failed: {error}") from error


def ask(page, path):
    """The JSON at a path of the page's server."""
    with urllib.request.urlopen(page.base + path, timeout=DEADLINE) as answer:
        return json.load(answer)


def browser():
    options = webdriver.ChromeOptions()
    options.binary_location = "/usr/bin/chromium"
    for argument in ("--headless=new", "--no-sandbox", "--hide-scrollbars", "--disable-dev-shm-usage"):
        options.add_argument(argument)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    driver = webdriver.Chrome(service=Service("/usr/bin/chromedriver"), options=options)
    return driver
