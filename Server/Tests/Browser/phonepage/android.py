"""An Android phone beside the iPhones: one send reaches both kinds."""

import base64
import json
import urllib.request

from .page import DEADLINE, Failure, send_from_elsewhere

IPHONE, ANDROID = 1, "android"


def choose(page, number):
    """The side bar is for the phone that was touched last; focus that still moves in another phone touches that one."""
    def is_chosen():
        page.driver.execute_script("document.querySelector(arguments[0]).click()", f'[data-testid="stand-{number}"] .stand-name')
        page.frames(3)
        return page.find(f"stand-{number}", '[data-selected="true"]')

    page.wait(f"phone {number} to be chosen", is_chosen)


def open_and_sign_in(page, number):
    with page.phone(number):
        page.quiet()
        if page.find("app-icon"):
            page.press("app-icon")
        page.wait("a screen of the app", lambda: page.find("sign-in-screen") or page.find("greeting"))
        if page.find("sign-in-screen"):
            page.press("sign-in-button")
        page.wait("the greeting of alice", lambda: page.find("greeting") and page.find("greeting").text == "alice")


def go_home(page, number):
    with page.phone(number):
        page.quiet()
    choose(page, number)
    page.press("control-home")
    with page.phone(number):
        page.see("app-icon")


def clear(page, number):
    choose(page, number)
    page.press("control-centre")
    with page.phone(number):
        page.see("notification-centre")
        if page.find("clear-notifications"):
            page.press("clear-notifications")
            page.wait("an empty list", lambda: not page.all("notice"))
        page.press("cover-leave")


def it_stands_beside_the_iphones(page, user):
    page.size(1280, 900)
    page.driver.get(page.base + "/phone")
    # A subject before may have left the phones side by side, and the page remembers it.
    if page.see("phones-all").get_attribute("aria-pressed") != "true":
        page.press("phones-all")
    for number in (IPHONE, 2, 3, ANDROID):
        page.see(f"stand-{number}")
    page.wait("no sideways scroll", lambda: page.driver.execute_script(
        "return document.documentElement.scrollWidth <= window.innerWidth"))
    for number in (IPHONE, ANDROID):
        open_and_sign_in(page, number)
        go_home(page, number)
        clear(page, number)


def one_send_reaches_both(page, user):
    """The rich push tutorial's call, which brings a picture."""
    send_from_elsewhere(page, "alice")
    for number in (IPHONE, ANDROID):
        choose(page, number)
        page.press("control-centre")
        with page.phone(number):
            page.see("notice", what=f"a notification on phone {number}")
            # Four phones side by side are small, so its size says nothing.
            page.wait("its picture", lambda: page.find("notice-thumb") and page.find("notice-thumb").get_property("naturalWidth"))
            page.press("cover-leave")
    choose(page, ANDROID)
    page.story_has("accepted", "apns-request", "apns-answer", "delivered", "fetched", "shown", "receipt")
    page.story_in_order()
    page.shot("android-story")


def it_opens_by_more(page, user):
    choose(page, ANDROID)
    page.press("control-centre")
    with page.phone(ANDROID):
        page.press("notice-expand")
        page.press("notice-more")
        page.see("content", '[data-state="ready"]')
        page.shot("android-content")


def the_server_has_its_receipts(page, user):
    choose(page, ANDROID)
    page.story_has("opened", "receipt")
    rich_id = page.newest()
    request = urllib.request.Request(f"{page.base}/api/v1/notifications/{rich_id}/status", headers={
        "Authorization": "Basic " + base64.b64encode(b"alice:alice").decode()})

    def opened():
        with urllib.request.urlopen(request, timeout=DEADLINE) as answer:
            return "opened" in json.dumps(json.load(answer).get("receipts") or {})

    page.wait("the receipt of the Android phone at the server", opened)


def doze_holds_what_is_not_urgent(page, user):
    with page.phone(ANDROID):
        page.press("content-back")
    go_home(page, ANDROID)
    page.switch("switch-doze", True)
    page.wait("the words for Doze", lambda: "Doze" in page.find("phone-state").text)
    send_from_elsewhere(page, "alice")
    page.story_has("stored")
    if page.all("notice") and "delivered" in page.texts("story-push")[0]:
        raise Failure("the phone got a message of normal priority in Doze")
    page.press("control-lock")
    page.story_has("delivered", "shown")
    page.wait("Doze to be over", lambda: page.find("switch-doze").get_attribute("aria-checked") == "false")


def a_stopped_app_gets_it_when_it_is_opened(page, user):
    choose(page, ANDROID)
    page.press("control-quit")
    page.wait("the app to be stopped", lambda: "force quit" in page.find("phone-state").text)
    send_from_elsewhere(page, "alice", {"message": "For a stopped app", "title": "Kept"})
    page.story_has("stored")
    page.press("control-open")
    page.story_has("delivered", "shown")
    with page.phone(ANDROID):
        page.wait("it in the inbox", lambda: any("Kept" in text for text in page.texts("inbox-row")))


def after_a_sign_out_it_gets_nothing(page, user):
    with page.phone(ANDROID):
        page.press("sign-out")
        page.see("sign-in-screen")
    send_from_elsewhere(page, "alice", {"message": "For the others", "title": "Elsewhere"})
    choose(page, IPHONE)
    page.wait("it on the iPhone", lambda: any("Elsewhere" in text for text in page.texts("story-push")))
    choose(page, ANDROID)
    page.settled()
    if any("Elsewhere" in text for text in page.texts("story-push")):
        raise Failure("a phone without a user got a push of alice")


STEPS = [
    it_stands_beside_the_iphones, one_send_reaches_both, it_opens_by_more, the_server_has_its_receipts,
    doze_holds_what_is_not_urgent, a_stopped_app_gets_it_when_it_is_opened, after_a_sign_out_it_gets_nothing,
]
