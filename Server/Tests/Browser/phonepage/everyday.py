"""Problems of the first hour of use: states that arrive late, forms that are longer than the screen, and wrong texts."""

import itertools
import subprocess
import tempfile

from .composing import home, last_message, newest, sends
from .page import Failure, send_from_elsewhere
from .states import fault

# Snapshots of the phones come 700 ms late, as over a slow connection; answers to actions do not.
LATE_SNAPSHOTS = """
  window.EventSource = class extends EventSource {
    addEventListener(type, listener, options) {
      super.addEventListener(type, type === 'snapshot' ? (event) => setTimeout(() => listener(event), 700) : listener, options);
    }
  };"""

# The controls, each with its accessible name and its visible text.
NAMES = """
  const texts = (node) => {
    const walker = document.createTreeWalker(node, NodeFilter.SHOW_TEXT);
    const found = [];
    while (walker.nextNode()) {
      if (!walker.currentNode.parentElement.closest('[aria-hidden="true"], option')) found.push(walker.currentNode.data.trim());
    }
    return found.filter(Boolean).join(' ').replace(/\\s+/g, ' ');
  };
  return texts(arguments[0]);"""

SIZES = ((1280, 720), (1440, 900), (768, 1024))


def open_anew(page, script=None):
    added = script and page.driver.execute_cdp_cmd("Page.addScriptToEvaluateOnNewDocument", {"source": script})["identifier"]
    page.driver.get(page.base + "/phone#1")
    page.driver.refresh()
    page.wait("the page to be live", lambda: "open" in page.see("connection").get_attribute("class").split())
    page.see("stand-1")
    return added


def force_quit_from_a_locked_phone_shows_nothing(page, user):
    page.turn_to(1)
    home(page)
    page.press("control-centre")
    page.see("notification-centre")
    if page.all("notice"):
        page.press("clear-notifications")
        page.wait("the notification centre to be empty", lambda: not page.all("notice"))
    page.press("control-centre")
    added = open_anew(page, LATE_SNAPSHOTS)
    page.press("control-lock")
    page.wait("the page to know of the lock", lambda: page.find("lock-screen"))
    before = page.newest()
    page.try_next("Force quit")
    page.wait("the push to be sent", lambda: page.newest() > before)
    page.wait("the phone to say why it shows nothing", lambda: page.driver.execute_script(
        "return [...document.querySelectorAll('[data-testid=\"story-push\"]')][0].querySelector('[data-step=\"held\"]') !== null"))
    if page.find("banner") or page.all("notice"):
        raise Failure("an app that was force quit before the push shows it")
    page.driver.execute_cdp_cmd("Page.removeScriptToEvaluateOnNewDocument", {"identifier": added})
    open_anew(page)
    page.press("control-open")
    page.see("main-screen")


def open_app_puts_the_notification_centre_away(page, user):
    page.quiet()
    page.press("control-home")
    page.press("control-centre")
    page.see("notification-centre")
    page.press("control-open")
    page.see("main-screen", what="the app, and nothing over it")
    page.gone("notification-centre")


def in_sight(page, test_id):
    """Whether the whole element lies within the window and takes a click in its middle."""
    return page.driver.execute_script("""
      const node = arguments[0];
      if (!node) return false;
      const { left, top, right, bottom } = node.getBoundingClientRect();
      const hit = document.elementFromPoint((left + right) / 2, (top + bottom) / 2);
      return left >= 0 && top >= 0 && right <= innerWidth && bottom <= innerHeight && node.contains(hit);""", page.find(test_id))


def look_at_form(page, width):
    """Where the form lies below the phone, a person scrolls to it."""
    if width < 1121:
        page.driver.execute_script("document.querySelector('.tool-form').scrollIntoView()")


def send_and_its_answer_are_in_sight(page, user):
    page.press("control-open")
    page.press("tab-compose")
    for width, height in SIZES:
        page.size(width, height)
        for way, button in (("rich", "rich-send"), ("push", "push-send")):
            page.driver.execute_script("scrollTo(0, 0)")
            page.press(f"way-{way}")
            look_at_form(page, width)
            page.settled()
            page.wait(f"the button that sends ({way}) in sight at {width} by {height}", lambda: in_sight(page, button))
            sends(page, button, "accepted", "what was composed")
            page.quiet()
            # The driver scrolls to what it presses, when the phone beside has just grown.
            look_at_form(page, width)
            page.wait(f"the answer to a send ({way}) in sight at {width} by {height}", lambda: in_sight(page, "sent-answer"))
            page.shot(f"compose-{way}-{width}")
    page.driver.execute_script("scrollTo(0, 0)")
    page.size(1280, 900)


def the_copied_command_works_in_an_empty_folder(page, user):
    page.catch_copies()
    page.press("way-rich")
    for template in ("picture", "boarding-pass"):
        page.press(f"rich-template-{template}")
        page.press("rich-curl")
        command = page.wait("the command", lambda: (text := page.last_copied()) and "curl" in text and text)
        with tempfile.TemporaryDirectory() as folder:
            answer = subprocess.run(
                ["bash", "-c", command + " --silent --max-time 20"], capture_output=True, text=True, timeout=30, cwd=folder)
        if '"id"' not in answer.stdout:
            raise Failure(f"the copied command for the {template} fails: {answer.stdout} {answer.stderr}")
        page.driver.execute_script("window.copied = []")
    page.quiet()


def what_was_sent_can_be_recalled(page, user):
    page.press("rich-template-picture")
    page.type("rich-title", "Sent too early")
    sends(page, "rich-send", "accepted", "what is taken back")
    page.see("alert")
    page.quiet()
    rich_id = "".join(itertools.takewhile(str.isdigit, page.find("sent-answer").text.split("#")[1]))
    page.wait("it in the inbox", lambda: page.all("inbox-row", f'[data-rich-id="{rich_id}"]'))
    page.press("sent-recall")
    page.wait("that it is recalled", lambda: newest(page)[1] == "recalled")
    if "Recalled" not in last_message(page):
        raise Failure(f"a recall is not shown: {last_message(page)}")
    page.press("refresh-inbox")
    page.wait("it to leave the inbox", lambda: not page.all("inbox-row", f'[data-rich-id="{rich_id}"]'))
    page.shot("recalled")


def every_unread_count_is_the_same(page, user):
    page.press("control-home")
    page.press("control-lock")
    page.see("lock-screen")
    count = len(page.all("notice"))
    send_from_elsewhere(page, user, {"message": "One more", "title": "Counted", "style": "alert"})
    page.wait("the notification", lambda: "Counted" in "".join(page.texts("notice")) or len(page.all("notice")) > count)

    def counts():
        return page.driver.execute_script("""
          const number = (text) => Number((text || '').replace(/\\D/g, '') || 0);
          return [number(document.querySelector('[data-testid="badge"]')?.textContent),
            number(document.querySelector('[data-testid="phone-1"] .switch-count')?.textContent),
            number(document.querySelector('.widget-line')?.textContent), number(/^\\((\\d+)\\)/.exec(document.title)?.[1])]""")

    page.wait("one number on the icon, beside the phone's name, on its widget and in the title",
              lambda: len(set(counts())) == 1 and counts()[0] > 0)
    page.press("control-lock")
    page.press("control-open")
    page.quiet()


def receipts_say_which(page, user):
    page.press("tab-story")
    page.press("send-push")
    page.see("alert")
    page.press("alert-more")
    page.see("content", '[data-state="ready"]')
    page.story_has("receipt")
    page.wait("the step for the receipt of the opening", lambda: "The server knows that the user opened it" in "".join(
        page.texts("story-step", '[data-step="receipt"]')))
    titles = page.driver.execute_script("""
      return [...document.querySelector('[data-testid="story-push"]').querySelectorAll('[data-step="receipt"] .step-title')]
        .map((node) => node.textContent)""")
    if len(set(titles)) != len(titles):
        raise Failure(f"receipts cannot be distinguished: {titles}")
    page.press("content-back")


def a_late_answer_of_apns_is_in_the_story(page, user):
    page.open_details("faults")
    fault(page, "apns", "delay")
    send_from_elsewhere(page, user, {"message": "Answered late"})
    page.wait("the fault in the story", lambda: "leaves 3 s later" in "".join(page.texts("story-step", '[data-step="apns-answer"]')))
    page.shot("late-answer")
    fault(page, "apns", "none")
    page.quiet()


def names_are_words_with_spaces(page, user):
    page.press("tab-compose")
    for way in ("way-push", "way-rich"):
        page.press(way)
        nodes = page.driver.execute_cdp_cmd("Accessibility.getFullAXTree", {})["nodes"]
        for node in nodes:
            if node.get("ignored") or node["role"]["value"] not in ("button", "combobox", "textbox", "checkbox", "switch", "radio"):
                continue
            name = " ".join(node.get("name", {}).get("value", "").split())
            found = page.driver.execute_cdp_cmd("DOM.resolveNode", {"backendNodeId": node["backendDOMNodeId"]})["object"]
            words = page.driver.execute_cdp_cmd("Runtime.callFunctionOn", {
                "objectId": found["objectId"], "returnByValue": True,
                "functionDeclaration": "function() { const label = this.labels?.[0]; const from = this.getAttribute('aria-label') ? null"
                " : label || (this.matches('input, select, textarea') ? null : this); return from && (function() {"
                + NAMES.replace("arguments[0]", "from") + "}).call() }",
            })["result"].get("value")
            if words and name.replace(" ", "") == words.replace(" ", "") and name != words:
                raise Failure(f"a screen reader says {name!r} for {words!r}")


def the_sample_video_is_as_long_as_it_says(page, user):
    page.press("rich-template-video")
    # The form is drawn a frame after the press.
    page.wait("the words of the video", lambda: page.find("rich-message").get_attribute("value") == "Five seconds of it.")
    seconds = page.driver.execute_async_script("""
      const video = document.createElement('video');
      video.onloadedmetadata = () => arguments[0](video.duration);
      video.onerror = () => arguments[0](-1);
      video.src = '/phone/samples/video';""")
    if round(seconds) != 5:
        raise Failure(f"the video that says five seconds has {seconds} s")


def every_phone_and_tab_is_in_sight_at_768(page, user):
    page.size(768, 1024)
    page.settled()
    sideways = page.driver.execute_script("""
      return [document.documentElement, ...document.querySelectorAll('.switcher, .tabs')]
        .filter((node) => node.scrollWidth > node.clientWidth).map((node) => node.className || 'the page')""")
    if sideways:
        raise Failure(f"scrolls sideways at 768 points: {sideways}")
    for test_id in ("phone-1", "phone-2", "phone-3", "phones-all"):
        if not in_sight(page, test_id):
            raise Failure(f"{test_id} is not in sight at 768 points")
    page.driver.execute_script("document.querySelector('.tool-form').scrollIntoView({ block: 'center' })")
    for tab in ("story", "timeline", "compose"):
        if not in_sight(page, f"tab-{tab}"):
            raise Failure(f"the tab {tab} is out of sight once the form is scrolled to")
    page.shot("width-768")
    page.driver.execute_script("scrollTo(0, 0)")
    page.size(1280, 900)


# The event stream ends when the test says so, and does not come back before it says that.
ENDING_STREAM = """
  const streams = window.streams = [];
  window.EventSource = class extends EventSource {
    constructor(...all) { super(...all); streams.push(this); }
  };"""


def a_lost_connection_is_told_wherever_one_is(page, user):
    added = open_anew(page, ENDING_STREAM)
    for width, height, mobile in ((768, 1024, False), (390, 844, True)):
        page.size(width, height, mobile=mobile)
        page.press("pane-timeline" if mobile else "tab-timeline")
        page.settled()
        page.driver.execute_script("scrollTo(0, document.documentElement.scrollHeight)")
        page.driver.execute_script("window.streams.at(-1).dispatchEvent(new Event('error'))")
        page.wait("that the page reconnects", lambda: page.find("connection").text == "Reconnecting")
        if not in_sight(page, "connection"):
            raise Failure(f"it is not in sight that the connection is lost, at {width} points")
        page.shot(f"lost-{width}")
        page.driver.execute_script("window.streams.at(-1).dispatchEvent(new Event('open'))")
    page.driver.execute_cdp_cmd("Page.removeScriptToEvaluateOnNewDocument", {"identifier": added})
    page.size(1280, 900)
    open_anew(page)


STEPS = [
    force_quit_from_a_locked_phone_shows_nothing, open_app_puts_the_notification_centre_away, send_and_its_answer_are_in_sight,
    the_copied_command_works_in_an_empty_folder, what_was_sent_can_be_recalled, every_unread_count_is_the_same, names_are_words_with_spaces, the_sample_video_is_as_long_as_it_says,
    every_phone_and_tab_is_in_sight_at_768, a_lost_connection_is_told_wherever_one_is,
    receipts_say_which, a_late_answer_of_apns_is_in_the_story,
]
