"""Several phones at once: two of one user, one of another."""

from .page import Failure, ask, send_from_elsewhere


def all_stand_side_by_side(page, user):
    page.press("phones-all")
    for number in (1, 2, 3):
        page.see(f"stand-{number}")
    page.wait("no sideways scroll", lambda: page.driver.execute_script(
        "return document.documentElement.scrollWidth <= window.innerWidth"))


def each_signs_in_by_itself(page, user):
    for number, name in ((2, "alice"), (3, "bob")):
        with page.phone(number):
            page.press("app-icon")
            page.see("sign-in-screen")
            page.press("sign-in-button")
            page.wait(f"the greeting of {name}", lambda: page.find("greeting") and page.find("greeting").text == name)
    page.shot("side-by-side")


def each_has_its_own_token(page, user):
    tokens = {ask(page, f"/phone/{number}/target")["deviceToken"] for number in (1, 2, 3)}
    if len(tokens) != 3:
        raise Failure("phones share a device token")


def go_home(page, *numbers):
    """Every phone to its home screen; a click on the side bar is for the phone that was touched last."""
    for number in numbers:
        with page.phone(number):
            page.quiet()
        page.driver.execute_script("document.querySelector(arguments[0]).click()", f'[data-testid="stand-{number}"] .stand-name')
        page.press("control-home")
        with page.phone(number):
            page.see("app-icon")


def a_push_reaches_each_phone_of_its_user(page, user):
    go_home(page, 1, 2, 3)
    before = page.newest()
    send_from_elsewhere(page, "alice", {"message": "For alice alone", "title": "Two phones"})
    for number in (1, 2):
        with page.phone(number):
            page.see("banner", what=f"a banner on phone {number}")
    page.shot("two-banners")
    with page.phone(3):
        if page.find("banner") or page.find("badge") or "Two phones" in "".join(page.texts("notice")):
            raise Failure("bob's phone shows what was for alice")
    page.driver.execute_script("document.querySelector(arguments[0]).click()", '[data-testid="stand-3"] .stand-name')
    if "Two phones" in "".join(page.texts("story-push")) or page.newest() > before:
        raise Failure("bob's story shows a push to alice")


def reading_on_one_phone_reads_on_the_other(page, user):
    with page.phone(1):
        page.press("app-icon")
        page.see("main-screen")
        page.press("inbox-row", '[data-read="false"]')
        rich_id = page.see("content", '[data-state="ready"]') and page.driver.execute_script(
            "return document.querySelector(`[data-phone='1'] [data-testid='inbox-row'][data-read='true']`)?.dataset.richId")
        page.press("content-back")
    if not rich_id:
        raise Failure("the opened notification is not read on the phone that opened it")
    with page.phone(2):
        page.press("app-icon")
        page.see("main-screen")

        def is_read():
            page.try_press("refresh-inbox")
            row = page.find("inbox-row", f'[data-rich-id="{rich_id}"]')
            return row and row.get_attribute("data-read") == "true"

        page.wait("it to be read on the other phone too", is_read)


def one_is_shown_by_switch(page, user):
    page.turn_to(2)
    page.see("stand-2")
    page.gone("stand-1")
    page.gone("stand-3")
    if not page.driver.current_url.endswith("#2"):
        raise Failure("the address does not name the phone")


def one_opens_alone(page, user):
    page.driver.get(page.base + "/phone/3")
    page.wait("bob's phone", lambda: page.find("greeting") or page.find("app-icon"))
    if len(page.all("phone-screen")) != 1 or page.find("phones-all"):
        raise Failure("more than one phone is on the page of one")
    if not page.find("greeting"):
        page.press("app-icon")
    page.wait("the greeting of bob", lambda: page.find("greeting") and page.find("greeting").text == "bob")
    page.press("send-push")
    page.see("alert")
    page.press("alert-ok")
    page.shot("alone")
    page.driver.get(page.base + "/phone#1")
    page.see("stand-1")


STEPS = [
    all_stand_side_by_side, each_signs_in_by_itself, each_has_its_own_token, a_push_reaches_each_phone_of_its_user,
    reading_on_one_phone_reads_on_the_other, one_is_shown_by_switch, one_opens_alone,
]
