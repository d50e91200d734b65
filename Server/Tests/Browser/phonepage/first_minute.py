"""The first minute: one phone, one push, and the picture that never went through it."""

from selenium.webdriver.common.keys import Keys

from .page import Failure, send_from_elsewhere


def opens(page, user):
    page.driver.get(page.base + "/phone")
    page.wait("the page to be live", lambda: "open" in page.see("connection").get_attribute("class").split())
    about = page.see("about").text
    if "a simulation of phones, not iOS and not Android" not in about:
        raise Failure("the page does not say that it is a simulation")
    # What the page says is enough to come to the sign-in.
    if not page.find("sign-in-screen"):
        if "Open Clarion" not in page.see("guide").text or "Press its icon" not in page.see("guide").text:
            raise Failure("the guide does not say how to come to the sign-in")
        page.press("app-icon")
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
        raise Failure("the picture has no text alternative")
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
    # One of its own: a banner hangs for six seconds, which the step before may have used up.
    rich_id = send_from_elsewhere(page, user)["id"]
    page.see("banner-card", f'[data-rich-id="{rich_id}"]')
    page.tap("banner-open")
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
    page.wait("the five notifications that were sent in the inbox", lambda: len(page.all("inbox-row")) >= 5)
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
    page.wait("the file's name", lambda: page.find("file-name").text == "Boarding pass.pdf")
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
        page.wait(f"the alert's {part}", lambda: page.find(f"alert-{part}").text == words[part])
    page.shot("alert-with-words")
    page.press("alert-more")
    page.see("content", '[data-state="ready"]')
    for part in ("title", "subtitle", "message"):
        page.wait(f"the screen's {part}", lambda: page.find(f"content-{part}").text == words[part])
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
    page.see("alert")
    page.wait("the alerts to be answered", lambda: answer_alert(page))
    page.shot("back-online")


def answer_alert(page):
    """Presses OK if there is an alert; true once there is none."""
    if not page.find("alert-ok"):
        return True
    page.try_press("alert-ok")
    return False


def story_tells_headers(page, user):
    page.driver.execute_script("""
      document.querySelector('[data-testid="story-push"] [data-step="apns-request"] button')?.click()""")
    page.wait("the details of the APNs request", lambda: page.driver.execute_script("""
      return document.querySelector('[data-step="apns-request"] .step-detail')?.textContent.includes('apns-') || false"""))
    page.shot("story")


STEPS = [
    opens, refuses_wrong_password, signs_in, sends_in_foreground, more_opens_the_picture, zooms, alert_ok_stays, banner_at_home,
    banner_opens_the_picture, lock_screen_and_more, inbox_remembers, video_plays, file_has_its_name, words_are_complete,
    offline_and_back, story_tells_headers,
]
