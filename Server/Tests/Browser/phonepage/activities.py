"""Live Activities on a phone, as its user sees them: the lock screen, the Dynamic Island, and the question of the system."""

import base64
import json
import time
import urllib.request

from selenium.webdriver.common.keys import Keys

from .access import contrast, focus, keyed
from .page import DEADLINE, Failure, send_from_elsewhere
from .small import fits


def ask(page, user, method, path, body=None):
    """As the shop's server asks the backend."""
    credentials = base64.b64encode(f"{user}:{user}".encode()).decode()
    request = urllib.request.Request(
        page.base + path, method=method, data=None if body is None else json.dumps(body).encode(),
        headers={"Authorization": f"Basic {credentials}", "Content-Type": "application/json"})
    with urllib.request.urlopen(request, timeout=DEADLINE) as answer:
        return json.loads(answer.read() or b"{}")


def values(page):
    """What the first card shows, by name."""
    return page.driver.execute_script("""
      const card = document.querySelector("[data-testid='activity']");
      return Object.fromEntries([...(card?.querySelectorAll(".activity-value") || [])].map((node) =>
        [node.querySelector(".activity-name").textContent, node.querySelector("b").textContent]))""")


def start(page, user, number, **more):
    """Starts a Live Activity by push; its number at the server."""
    return ask(page, user, "POST", "/api/v1/activities", {
        "attributesType": "DeliveryAttributes", "attributes": {"order": f"Order {number}"},
        "state": {"stage": f"Stage {number}", "minutes": number}, "audience": f"username:{user}",
        "alert": {"title": "Your order", "body": f"Order {number} is packed."}, **more})["id"]


def change(page, user, activity, **change):
    ask(page, user, "PATCH", f"/api/v1/activities/{activity}", change)


def remove(page, user, *activities):
    """Ends them, and their cards go at once."""
    for activity in activities:
        change(page, user, activity, end=True, dismissAt=0)
    page.wait("no card to be left", lambda: not page.all("activity"))


def lock(page):
    if not page.find("lock-screen"):
        page.press("control-lock")
    page.see("lock-screen")


def unlock(page):
    if page.find("lock-screen"):
        page.press("control-lock")
    page.gone("lock-screen")


def orders(page):
    """The orders on the cards, from top to bottom."""
    return page.driver.execute_script("""
      return [...document.querySelectorAll("[data-testid='activity'] .activity-subtitle")].map((node) => node.textContent)""")


def facts(page):
    """What the page says of the activities beside the phone."""
    return " ".join(page.texts("activity-facts"))


def a_push_starts_one_on_the_lock_screen(page, user):
    page.driver.get(page.base + "/phone")
    page.see("phone-screen", "[data-screen]")
    page.press("control-lock")
    page.see("lock-screen")
    page.activity = ask(page, user, "POST", "/api/v1/activities", {
        "attributesType": "DeliveryAttributes", "attributes": {"order": "Order 4711"}, "state": {"stage": "Packed", "minutes": 40},
        "audience": f"username:{user}", "alert": {"title": "Your order", "body": "It is packed."}})["id"]
    page.see("activity")
    page.wait("the state on the card", lambda: values(page) == {"stage": "Packed", "minutes": "40"})


def it_is_updated_once_the_user_allows_it(page, user):
    page.see("activity-allow")
    page.shot("activity-question")
    page.press("activity-always")
    page.gone("activity-allow")
    ask(page, user, "PATCH", f"/api/v1/activities/{page.activity}", {"state": {"stage": "On the way", "minutes": 12}})
    page.wait("the new state on the card", lambda: values(page).get("stage") == "On the way")
    page.shot("activity-lock-screen")


def it_goes_out_of_date(page, user):
    soon = int((time.time() + 4) * 1000)
    change(page, user, page.activity, state={"stage": "On the way", "minutes": 11}, staleAt=soon)
    page.wait("the card to say that it is out of date", lambda: page.texts("activity-phase") == ["Out of date"])
    page.shot("activity-stale")
    page.open_details("activity-list")
    if "out of date since" not in facts(page) or "updated by its token" not in facts(page):
        raise Failure(f"the page says of the activity: {facts(page)}")
    change(page, user, page.activity, state={"stage": "On the way", "minutes": 10})
    page.wait("the card to be up to date", lambda: not page.texts("activity-phase"))


def its_state_names_a_picture(page, user):
    page.picture = send_from_elsewhere(page, user)["id"]
    change(page, user, page.activity, state={"stage": "On the way", "minutes": 12, "clarionPicture": page.picture})
    page.wait("the update", lambda: values(page).get("minutes") == "12")
    # An update does not wake the app; a silent push does, and the app sees what the card names by then.
    send_from_elsewhere(page, user)
    page.see("activity-picture")
    page.picture_shown("activity-picture")
    page.shot("activity-picture")


def a_restart_leaves_the_card_and_takes_the_picture_until_the_unlock(page, user):
    page.press("control-restart")
    page.wait("the state as text", lambda: "not unlocked since its start" in page.find("phone-state").text)
    if "Live Activities" not in page.see("restart-note").text:
        raise Failure(f"the page says of the restart: {page.find('restart-note').text}")
    page.see("activity")
    page.gone("activity-picture")
    change(page, user, page.activity, state={"stage": "Nearly there", "minutes": 5, "clarionPicture": page.picture})
    page.wait("an update before the first unlock", lambda: values(page).get("stage") == "Nearly there")
    page.shot("activity-before-first-unlock")
    unlock(page)
    page.gone("restart-note")
    lock(page)
    page.see("activity-picture")
    page.picture_shown("activity-picture")


def the_island_shows_it_and_opens(page, user):
    unlock(page)
    page.press("control-home")
    page.see("island", "[data-form='compact']")
    page.settled()
    page.shot("activity-island")
    page.press("island-hold")
    page.see("island", "[data-form='open']")
    page.see("island-hold", "[aria-expanded='true']")
    page.settled()
    page.shot("activity-island-open")
    page.press("island-hold")
    page.see("island", "[data-form='compact']")


def the_keyboard_opens_and_closes_the_island(page, user):
    focus(page, "island-hold")
    keyed(page, Keys.ENTER, "island-hold")
    page.see("island", "[data-form='open']")
    keyed(page, Keys.ESCAPE, "island-hold")
    page.see("island", "[data-form='compact']")


def a_long_press_opens_the_island_and_a_short_one_the_app(page, user):
    page.tap("island", "[data-form='compact']", milliseconds=900)
    page.see("island", "[data-form='open']")
    page.tap("island", "[data-form='open']")
    page.see("main-screen")
    page.gone("island")
    page.quiet()
    page.press("control-home")
    page.see("island", "[data-form='compact']")


def an_alert_opens_the_island(page, user):
    # An island closes by itself, but not from under the pointer.
    page.press("tab-story")
    change(page, user, page.activity, state={"stage": "At the door", "minutes": 1},
           alert={"title": "Your order", "body": "Look out of the window."})
    page.see("island", "[data-form='open']")
    page.wait("the new state in it", lambda: "At the door" in page.texts("island")[0])
    # iOS shows the words of the alert on a watch alone.
    if "window" in page.texts("island")[0]:
        raise Failure("the island shows the words of the alert")
    page.wait("the words beside the phone", lambda: "Look out of the window." in facts(page))
    page.wait("the words for a screen reader", lambda: "window" in page.driver.execute_script(
        "return document.querySelector('#announcer').textContent"))
    page.see("island", "[data-form='compact']", what="the island to close by itself")


def an_alert_marks_the_card_of_a_locked_phone(page, user):
    lock(page)
    change(page, user, page.activity, alert={"title": "Your order", "body": "Look out of the window."})
    page.see("activity-alert", what="the mark of an alert that says the same as the one before")
    page.shot("activity-alert")
    page.gone("activity-alert")
    unlock(page)


def its_end_is_said_and_it_can_be_removed(page, user):
    ask(page, user, "PATCH", f"/api/v1/activities/{page.activity}", {"state": {"stage": "Delivered", "minutes": 0}, "end": True})
    page.gone("island")
    page.press("control-lock")
    page.see("lock-screen")
    page.wait("the card to say that it ended", lambda: page.texts("activity-phase") == ["Ended"])
    if values(page).get("stage") != "Delivered":
        raise Failure(f"the card shows {values(page)}")
    page.press("activity-dismiss")
    page.gone("activity")


def on_one_phone_alone(page, user):
    """The user's second phone would show what follows as well."""
    page.turn_to(2)
    page.open_details("more-states")
    page.switch("switch-activities", False)
    page.turn_to(1)
    lock(page)


def several_stand_in_their_order(page, user):
    page.several = [start(page, user, number, relevance=number) for number in (1, 2)]
    page.wait("the more relevant card first", lambda: orders(page) == ["Order 2", "Order 1"])
    change(page, user, page.several[0], state={"stage": "Stage 1", "minutes": 1}, relevance=30)
    page.wait("the other first, once it is more relevant", lambda: orders(page) == ["Order 1", "Order 2"])
    page.wait("the score beside the phone", lambda: "relevance 30" in page.texts("activity-facts")[0])
    page.shot("activities-lock-screen")


def two_share_the_island(page, user):
    unlock(page)
    page.press("control-home")
    page.see("island", "[data-form='attached']")
    page.see("island", "[data-form='detached']")
    if [text.strip() for text in page.texts("island")] != ["1", "2"]:
        raise Failure(f"the island shows {page.texts('island')}")
    page.shot("activities-island")
    page.press("island-hold", "[data-form='detached']")
    page.see("island", "[data-form='open']")
    if "Stage 2" not in page.texts("island")[0]:
        raise Failure(f"the second one opens as {page.texts('island')}")
    page.press("island-hold", "[data-form='open']")
    page.see("island", "[data-form='attached']")
    page.tap("island", "[data-form='detached']", milliseconds=900)
    page.see("island", "[data-form='open']")
    page.press("island-hold", "[data-form='open']")


def a_sixth_does_not_come(page, user):
    lock(page)
    page.several += [start(page, user, number) for number in (3, 4, 5)]
    page.wait("five cards", lambda: len(page.all("activity")) == 5)
    page.several.append(start(page, user, 6))
    page.press("tab-story")
    page.wait("the story to say why", lambda: "the app has five already" in "".join(page.texts("story-push")))
    if len(page.all("activity")) != 5 or "5 of 5" not in page.see("activity-list").text:
        raise Failure(f"the phone shows {orders(page)}, and the page says {page.find('activity-list').text}")
    page.shot("activities-five")


def they_fit_a_small_screen_and_the_dark(page, user):
    page.size(390, 844, mobile=True)
    page.media(prefers_color_scheme="dark")
    page.press("pane-phone")
    page.settled()
    fits(page, "activities, small")
    page.shot("activities-small")
    page.press("pane-controls")
    page.open_details("activity-list")
    page.settled()
    fits(page, "facts of activities, small")
    contrast(page, "facts of activities, small and dark")
    page.shot("activities-small-facts")
    page.media(prefers_color_scheme="light")
    page.size(1280, 900)
    page.settled()
    contrast(page, "facts of activities, light")
    remove(page, user, *page.several)


def low_power_keeps_an_update_back(page, user):
    page.activity = start(page, user, 7)
    page.wait("its token", lambda: "updated by its token" in facts(page))
    page.open_details("more-states")
    page.switch("switch-low-power", True)
    change(page, user, page.activity, state={"stage": "Much later", "minutes": 7})
    page.wait("the page to say that an update waits", lambda: "waits for the end of low power" in facts(page))
    if values(page).get("stage") != "Stage 7":
        raise Failure(f"in low power the card shows {values(page)}")
    page.switch("switch-low-power", False)
    page.wait("the update", lambda: values(page).get("stage") == "Much later")


def a_restart_may_take_them_away(page, user):
    page.switch("switch-activities-restart", False)
    page.press("control-restart")
    page.wait("no card", lambda: not page.all("activity"))
    page.wait("the page to say so", lambda: "Live Activities" not in page.see("restart-note").text)
    unlock(page)
    page.switch("switch-activities-restart", True)
    ask(page, user, "DELETE", f"/api/v1/activities/{page.activity}")


def a_switch_keeps_them_away(page, user):
    lock(page)
    gone = start(page, user, 8)
    page.see("activity")
    page.press("switch-activities")
    page.see("switch-activities", "[aria-checked='false']")
    page.wait("the card to go", lambda: not page.all("activity"))
    refused = start(page, user, 9)
    status = ask(page, user, "GET", f"/api/v1/activities/{refused}")
    if status["phase"] != "active" or page.all("activity"):
        raise Failure(f"the server says {status['phase']}, and the phone shows {values(page)}")
    for activity in (gone, refused):
        ask(page, user, "DELETE", f"/api/v1/activities/{activity}")
    page.press("switch-activities")
    page.see("switch-activities", "[aria-checked='true']")
    unlock(page)


def the_guide_shows_two_at_once(page, user):
    page.try_next("Two deliveries at once")
    page.see("island", "[data-form='attached']")
    page.see("island", "[data-form='detached']")
    page.see("island", "[data-form='open']", what="the alert of the second one")
    page.press("tab-story")
    page.wait("both to be over", lambda: not page.all("activity"), deadline=60)


def on_every_phone_again(page, user):
    page.turn_to(2)
    page.open_details("more-states")
    page.switch("switch-activities", True)
    page.turn_to(1)


def scores(page):
    """What each phone's card of the match says."""
    return page.driver.execute_script("""
      return [...document.querySelectorAll("[data-testid='activity']")].map((card) =>
        [...card.querySelectorAll(".activity-value")].find((node) => node.textContent.startsWith("score"))?.querySelector("b").textContent)""")


def one_push_over_a_channel_reaches_every_phone(page, user):
    page.try_next("A match on every phone")
    # A busy machine may see the second goal on all of them before it looked for the first.
    page.wait("three cards with one score of the match", lambda: scores(page) in (["1 : 0"] * 3, ["1 : 1"] * 3))
    page.shot("activity-channel")
    page.wait("three cards with the result", lambda: scores(page) == ["2 : 1"] * 3)
    page.wait("the cards to say that it ended", lambda: page.texts("activity-phase") == ["Ended"] * 3)
    match = ask(page, user, "GET", "/api/v1/activities?limit=1")["activities"][0]
    if not match.get("channel") or match["phase"] != "ended" or match["sentRevision"] != match["revision"]:
        raise Failure(f"the server says {match}")
    # The phones are left as other subjects expect them.
    for number in (3, 2, 1):
        page.turn_to(number)
        page.press("activity-dismiss")
        page.gone("activity")
        page.press("control-lock")
        page.gone("lock-screen")


STEPS = [
    a_push_starts_one_on_the_lock_screen, it_is_updated_once_the_user_allows_it, it_goes_out_of_date, its_state_names_a_picture,
    a_restart_leaves_the_card_and_takes_the_picture_until_the_unlock, the_island_shows_it_and_opens,
    the_keyboard_opens_and_closes_the_island, a_long_press_opens_the_island_and_a_short_one_the_app, an_alert_opens_the_island,
    an_alert_marks_the_card_of_a_locked_phone, its_end_is_said_and_it_can_be_removed, on_one_phone_alone,
    several_stand_in_their_order, two_share_the_island, a_sixth_does_not_come, they_fit_a_small_screen_and_the_dark,
    low_power_keeps_an_update_back, a_restart_may_take_them_away, a_switch_keeps_them_away, the_guide_shows_two_at_once,
    on_every_phone_again, one_push_over_a_channel_reaches_every_phone,
]
