"""Composing: pushes by hand, files, and rich notifications of every kind."""

import base64
import json
import subprocess

from .page import Failure

# An orange square.
PNG = (
    "iVBORw0KGgoAAAANSUhEUgAAAEAAAABACAIAAAAlC+aJAAAAT0lEQVR42u3PQQkAAAgEsMtjLFvbxgi+hcEKLNP1WgQEBAQEBAQEBAQEBAQEBA"
    "QEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQELgutDFFLjbanNQAAAABJRU5ErkJggg=="
)


def newest(page):
    """The number and the state of what was sent last."""
    lines = page.all("sent-line")
    return (int(lines[0].get_attribute("data-number")), lines[0].get_attribute("data-state")) if lines else (0, None)


def sends(page, test_id, state, what):
    """Presses what sends, and waits until it has ended in this state."""
    before, _ = newest(page)
    if test_id == "push-send":
        # The findings stand above the buttons: a review that ends moves the button away from under the pointer.
        page.frames(2)
        page.wait("the review", lambda: page.all("push-findings")[0].get_attribute("aria-busy") == "false")
    page.press(test_id)
    ends(page, before, state, what)


def ends(page, before, state, what):
    def is_over():
        number, now = newest(page)
        return number > before and now != "sending" and now

    ended = page.wait(f"{what} to be sent", is_over)
    if ended != state:
        raise Failure(f"{what} is {ended}: {last_message(page)}")


def last_message(page):
    return page.texts("sent-line")[0]


def home(page):
    """The selected phone on its home screen, without a banner."""
    page.quiet()
    page.press("control-home")
    page.see("app-icon")
    page.gone("banner")


def a_push_by_hand_arrives(page, user):
    page.press("tab-compose")
    page.press("way-push")
    home(page)
    page.press("template-alert")
    sends(page, "push-send", "accepted", "the push")
    page.wait("its banner", lambda: "Harbour" in "".join(page.texts("banner")))
    page.shot("push-by-hand")


def to_another_phone(page, user):
    page.choose("push-phone", "2")
    page.press("template-time-sensitive")
    sends(page, "push-send", "accepted", "the push to the other phone")
    page.turn_to(2)
    page.press("control-centre")
    page.wait("it on the other phone", lambda: "At the door" in "".join(page.texts("notice")))
    page.press("control-centre")
    page.turn_to(1)
    if "At the door" in "".join(page.texts("notice")):
        raise Failure("the push reached a phone that it was not for")
    page.choose("push-phone", "1")


def mistakes_are_told_in_words_with_their_place(page, user):
    page.press("template-full-of-mistakes")
    page.wait("every finding", lambda: len(page.all("finding")) >= 5)
    words = " ".join(page.texts("finding"))
    for expected in ("priority 5, not 10", "'content-available' is probably meant", "'badge' is a number", "line 4, column 5"):
        if expected not in words:
            raise Failure(f"the findings do not say: {expected}")
    page.shot("findings")
    page.press("finding-place")
    place = page.driver.execute_script(
        "const field = document.querySelector('#push-payload');"
        "return document.activeElement === field && field.value.slice(0, field.selectionStart).split('\\n').length")
    if place != 4:
        raise Failure("the place of a finding leads somewhere else")
    sends(page, "push-send", "failed", "the refused push")
    if "400 BadPriority" not in last_message(page) or "for a background push" not in last_message(page):
        raise Failure(f"the refusal is not explained: {last_message(page)}")


def broken_json_is_found(page, user):
    page.press("template-alert")
    page.type("push-payload", '{\n"aps": {"alert" "x"}}')
    page.wait("the place of the missing colon", lambda: "a colon was expected" in "".join(page.texts("finding"))
              and "line 2, column 17" in "".join(page.texts("finding")))
    page.wait("the field to be marked", lambda: page.find("push-payload").get_attribute("aria-invalid") == "true")


def a_dropped_file_keeps_its_bundle(page, user):
    page.press("tab-story")
    page.drop("other.apns", json.dumps({"Simulator Target Bundle": "org.example.other", "aps": {"alert": "From a file"}}))
    page.see("foreign-bundle")
    if page.find("push-topic").get_attribute("value") != "org.example.other":
        raise Failure("the bundle of the file is not the topic")
    if "Simulator Target Bundle" in page.find("push-payload").get_attribute("value"):
        raise Failure("the bundle would be sent in the body")
    page.shot("dropped-file")
    sends(page, "push-send", "failed", "the push for another app")
    if "400 DeviceTokenNotForTopic" not in last_message(page) and "400 TopicDisallowed" not in last_message(page):
        raise Failure(f"the refusal is not what APNs says of another app: {last_message(page)}")
    page.press("push-adopt")
    sends(page, "push-send", "accepted", "the push after the change of its app")
    page.drop("silent.apns", json.dumps({"Simulator Target Bundle": "org.clarion.demo", "aps": {"content-available": 1}}))
    page.wait("a background push", lambda: page.find("push-type").get_attribute("value") == "background")
    if page.find("foreign-bundle"):
        raise Failure("the phones' own app is called another one")


def a_dropped_file_is_sent_as_it_is(page, user):
    filler = ",".join(f'"key{number}":[1,2,3]' for number in range(180))
    body = '{"aps":{"alert":{"title":"As written","body":"x"}},"n":12345678901234567890,"d":1.0,"a":1,"a":2,' + filler + "}"
    page.drop("compact.apns", body.replace("{", '{"Simulator Target Bundle": "org.clarion.demo",', 1))
    page.wait("the body without the bundle", lambda: page.find("push-payload").get_attribute("value") == body)
    page.wait("what is to be said of it", lambda: "phones differ" in "".join(page.texts("finding")))
    sends(page, "push-send", "accepted", "a compact push of 3 KB")
    page.press("tab-timeline")
    page.type("timeline-filter", "as written")
    page.wait("its row, as far as APNs", lambda: page.driver.execute_script("""
      const rows = [...document.querySelectorAll('[data-testid="timeline-row"]')];
      return rows.length === 1 && rows[0].querySelector('td[data-station="apns"]') !== null"""))
    page.catch_copies()
    page.press("timeline-export")
    request = next(step for row in json.loads(page.last_copied("saved")) for step in row["steps"] if step["step"] == "apns-request")
    if request["detail"]["payload"] != body:
        raise Failure(f"APNs got something else than the file: {request['detail']['payload']}")
    page.type("timeline-filter", " ")
    page.press("tab-compose")
    page.press("push-format")
    shown = page.wait("lines", lambda: "\n" in (text := page.find("push-payload").get_attribute("value")) and text)
    if "12345678901234567890" not in shown or '"d": 1.0' not in shown or shown.count('"a": ') != 2:
        raise Failure("Format changes values")


def what_is_deep_or_no_object_is_sent_too(page, user):
    page.drop("deep.apns", '{"aps":{"alert":"deep"},"x":' + "[" * 600 + "]" * 600 + "}")
    page.wait("what is to be said of it", lambda: "more than 512 deep" in "".join(page.texts("finding")))
    sends(page, "push-send", "accepted", "a push that is nested 600 deep")
    for text, words in (("[1,2,3]", "The body is a list"), ('"hi"', "The body is a text"), ("null", "The body is null")):
        page.drop("other.apns", text)
        page.wait(words, lambda: words in "".join(page.texts("finding")))
    page.drop("picture.apns", encoded=PNG)
    page.wait("that it is no text", lambda: "picture.apns is no text" in page.driver.find_element("id", "toasts").text)


def again_and_as_other_forms(page, user):
    page.catch_copies()
    page.press("template-alert")
    sends(page, "push-send", "accepted", "the push")
    sends(page, "sent-again", "accepted", "the same push")
    page.press("sent-copy-apns")
    file = json.loads(page.last_copied())
    if file["Simulator Target Bundle"] != "org.clarion.demo" or file["aps"]["alert"]["title"] != "Harbour":
        raise Failure("the .apns form is not what was sent")
    page.press("sent-copy-curl")
    command = page.wait("the curl form", lambda: (text := page.last_copied()).startswith("curl ") and text)
    answer = subprocess.run(["bash", "-c", command + " --silent --max-time 20"], capture_output=True, text=True, timeout=30)
    if "HTTP/2 200" not in answer.stdout or "apns-id" not in answer.stdout:
        raise Failure(f"the curl form does not work: {answer.stdout} {answer.stderr}")


def rich_of_every_kind(page, user):
    page.press("way-rich")
    page.press("control-open")
    page.quiet()
    wanted = {"picture": "img", "voice-message": "sound", "video": "video", "boarding-pass": "file", "link": "url", "coupon": "coupon"}
    for template, kind in wanted.items():
        page.press(f"rich-template-{template}")
        sends(page, "rich-send", "accepted", f"the {template}")
        page.press("alert-more")
        page.see("content", f'[data-kind="{kind}"][data-state="ready"]', what=f"the content screen with the {template}")
        page.shot(f"rich-{template}")
        page.press("content-back")
        page.quiet()


def sealed_opens_on_the_phone_alone(page, user):
    page.press("rich-template-sealed")
    sends(page, "rich-send", "accepted", "the sealed notification")
    page.press("alert-more")
    page.see("content-sealed")
    page.picture_shown("content-image")
    page.shot("sealed")
    page.press("content-back")


def sealing_says_who_cannot_open_it(page, user):
    page.press("rich-template-sealed")
    page.choose("rich-to", "expression")
    page.type("rich-expression", "username:alice || username:zoe")
    sends(page, "rich-send", "accepted", "the sealed notification for two")
    if not any("zoe is not signed in" in words for words in page.texts("sent-warning")):
        raise Failure(f"the users who cannot open it are not named: {last_message(page)}")
    page.shot("sealed-warning")
    page.see("alert")
    page.quiet()
    # A tag that a seal cannot follow would go to others than were meant.
    page.type("rich-expression", "username:alice && !beta")
    sends(page, "rich-send", "failed", "what is sealed for an expression")
    if "names its users" not in last_message(page):
        raise Failure(f"the refusal is not explained: {last_message(page)}")
    page.choose("rich-to", "username:alice")


def a_dropped_picture_is_the_content(page, user):
    page.press("rich-template-picture")
    page.drop("square.png", encoded=PNG, media_type="image/png")
    page.wait("the picture's name", lambda: page.texts("rich-file") == ["square.png"])
    page.type("rich-title", "Dropped")
    page.type("rich-alt", "An orange square")
    page.catch_copies()
    sends(page, "rich-send", "accepted", "the dropped picture")
    page.press("alert-more")
    page.see("content", '[data-kind="img"][data-state="ready"]')
    page.picture_shown("content-image")
    if page.find("content-image").get_attribute("alt") != "An orange square":
        raise Failure("the picture does not have its description")
    page.press("content-back")
    if not page.texts("sent-line")[0].endswith("curl"):
        raise Failure("what was sent last cannot be copied as curl")
    page.press("sent-copy-curl")
    page.wait("the curl form", lambda: "square.png" in page.last_copied())
    file = page.folder / "square.png"
    file.write_bytes(base64.b64decode(PNG))
    answer = subprocess.run(
        ["bash", "-c", page.last_copied() + " --silent --max-time 20"], capture_output=True, text=True, timeout=30, cwd=page.folder)
    file.unlink()
    if '"id"' not in answer.stdout:
        raise Failure(f"the curl form does not work: {answer.stdout} {answer.stderr}")
    page.press("alert-ok")


def later_can_be_taken_back(page, user):
    page.choose("rich-delay", "30")
    page.press("rich-send")
    page.see("rich-waiting")
    before, _ = newest(page)
    page.press("rich-waiting-stop")
    page.gone("rich-waiting")
    if newest(page)[0] != before:
        raise Failure("it was sent all the same")
    page.choose("rich-delay", "5")
    page.press("rich-send")
    page.press("control-lock")
    ends(page, before, "accepted", "it, by itself,")
    page.see("notice", what="it on the lock screen")
    page.press("control-lock")
    page.choose("rich-delay", "0")


STEPS = [
    a_push_by_hand_arrives, to_another_phone, mistakes_are_told_in_words_with_their_place, broken_json_is_found,
    a_dropped_file_keeps_its_bundle, a_dropped_file_is_sent_as_it_is, what_is_deep_or_no_object_is_sent_too,
    again_and_as_other_forms, rich_of_every_kind, sealed_opens_on_the_phone_alone, sealing_says_who_cannot_open_it,
    a_dropped_picture_is_the_content, later_can_be_taken_back,
]
