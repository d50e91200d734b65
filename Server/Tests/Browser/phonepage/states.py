"""States and faults by switch."""

from .composing import home, last_message, sends
from .page import Failure, ask, send_from_elsewhere


def newest_notice(page):
    return "".join(page.texts("notice")[:1])


def a_locked_phone_hides_previews(page, user):
    page.turn_to(1)
    page.open_details("more-states")
    page.switch("switch-previews", True)
    page.press("control-lock")
    page.see("lock-screen")
    send_from_elsewhere(page, user, {"message": "This is not shown on the lock screen", "title": "Private"})
    page.see("notice")
    page.wait("the sign of a hidden preview", lambda: page.driver.execute_script(
        "return document.querySelector('.cover .notice-lock')?.checkVisibility() || false"))
    if "lock screen" in newest_notice(page) or "Private" in newest_notice(page):
        raise Failure("a locked phone shows what it should hide")
    page.shot("hidden-preview")
    page.switch("switch-previews", False)
    page.wait("the text", lambda: "lock screen" in "".join(page.texts("notice")))
    page.press("control-lock")


def focus_keeps_banners_away(page, user):
    page.switch("switch-focus", True)
    home(page)
    send_from_elsewhere(page, user, {"message": "Later is soon enough", "title": "Quiet"})
    page.press("control-centre")
    page.wait("it in the notification centre", lambda: "Quiet" in "".join(page.texts("notice")))
    page.press("control-centre")
    if "Quiet" in "".join(page.texts("banner")):
        raise Failure("a Focus does not keep the banner away")
    page.switch("switch-focus", False)


def switches_tell_their_state(page, user):
    for test_id in ("switch-low-power", "switch-slow", "switch-alerts", "switch-refresh", "switch-permission"):
        before = page.see(test_id).get_attribute("aria-checked") == "true"
        page.switch(test_id, not before)
        page.switch(test_id, before)


def a_restart_waits_for_the_first_unlock(page, user):
    page.press("control-restart")
    page.see("lock-screen")
    page.wait("the state as text", lambda: "not unlocked since its start" in page.find("phone-state").text)
    page.shot("before-first-unlock")
    page.press("control-lock")
    page.press("control-open")
    page.wait("alice's phone to know her still", lambda: page.find("greeting") and page.find("greeting").text == user)


def fault(page, of, value):
    """Switches a fault of the first phone, and waits until the server knows: the page does not wait for its answer."""
    page.choose(f"fault-{of}", value)
    page.wait(f"the server to know of {value}", lambda: ask(page, "/phone/1/faults")[of] == value)


def a_fault_of_the_backend_shows(page, user):
    page.open_details("faults")
    fault(page, "backend", "damaged")
    page.quiet()
    page.press("tab-compose")
    page.press("way-rich")
    page.press("rich-template-picture")
    sends(page, "rich-send", "accepted", "the notification")
    page.press("alert-more")
    page.see("content", '[data-state="failed"]', what="the content screen to say that it could not be fetched")
    page.shot("damaged")
    fault(page, "backend", "none")
    page.press("content-back")
    page.quiet()
    page.press("inbox-row")
    page.see("content", '[data-state="ready"]', what="the content once nothing is wrong any more")
    page.press("content-back")


def a_sign_in_that_ended_is_asked_for_again(page, user):
    page.open_details("faults")
    fault(page, "backend", "unauthorized")
    page.press("refresh-inbox")
    page.see("sign-in-screen")
    page.wait("why", lambda: "has ended" in page.find("sign-in-error").text)
    page.shot("sign-in-again")
    fault(page, "backend", "none")
    page.type("sign-in-user", user)
    page.type("sign-in-password", user)
    page.press("sign-in-button")
    page.wait("the greeting", lambda: page.find("greeting") and page.find("greeting").text == user)


def a_fault_of_apns_is_answered(page, user):
    page.press("way-push")
    page.press("template-alert")
    for kind, answer in (("unavailable", "503 ServiceUnavailable"), ("tooManyRequests", "429 TooManyRequests")):
        fault(page, "apns", kind)
        sends(page, "push-send", "failed", "the push")
        page.wait(answer, lambda: answer in last_message(page))
    page.shot("faults")
    fault(page, "apns", "none")
    sends(page, "push-send", "accepted", "the push once nothing is wrong any more")


def a_dead_token_is_renewed_by_the_next_start(page, user):
    page.quiet()
    token = ask(page, "/phone/1/target")["deviceToken"]
    page.press("fault-token")
    page.wait("the token to be dead", lambda: ask(page, "/phone/1/target")["deviceToken"] != token)
    page.press("tab-story")
    send_from_elsewhere(page, user)
    page.wait("the answer 410 in the story", lambda: "410" in "".join(page.texts("story-step", "[data-step='apns-answer']")))
    page.press("control-quit")
    page.press("control-open")
    page.see("main-screen")

    def arrives():
        before = page.newest()
        send_from_elsewhere(page, user, {"message": "To the new token"})
        return page.wait("its story", lambda: page.newest() > before, deadline=3) is not None and page.find("alert")

    page.wait("a push to the new token", lambda: tried(arrives))
    page.quiet()


def tried(work):
    try:
        return work()
    except Failure:
        return False


STEPS = [
    a_locked_phone_hides_previews, focus_keeps_banners_away, switches_tell_their_state, a_restart_waits_for_the_first_unlock,
    a_fault_of_the_backend_shows, a_sign_in_that_ended_is_asked_for_again, a_fault_of_apns_is_answered,
    a_dead_token_is_renewed_by_the_next_start,
]
