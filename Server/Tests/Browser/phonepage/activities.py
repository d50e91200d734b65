"""Live Activities on a phone, as its user sees them: the lock screen, the Dynamic Island, and the question of the system."""

import base64
import json
import urllib.request

from .page import DEADLINE, Failure, send_from_elsewhere


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


def its_state_names_a_picture(page, user):
    picture = send_from_elsewhere(page, user)["id"]
    ask(page, user, "PATCH", f"/api/v1/activities/{page.activity}", {
        "state": {"stage": "On the way", "minutes": 12, "clarionPicture": picture}})
    # An update does not wake the app; a silent push does.
    send_from_elsewhere(page, user)
    page.see("activity-picture")
    page.picture_shown("activity-picture")
    page.shot("activity-picture")


def the_island_shows_it_and_opens(page, user):
    page.press("control-lock")
    page.gone("lock-screen")
    page.press("control-home")
    page.see("island", "[aria-expanded='false']")
    page.settled()
    page.shot("activity-island")
    page.press("island")
    page.see("island", "[aria-expanded='true']")
    page.settled()
    page.shot("activity-island-open")
    page.press("island")
    page.see("island", "[aria-expanded='false']")


def an_alert_opens_the_island(page, user):
    ask(page, user, "PATCH", f"/api/v1/activities/{page.activity}", {
        "state": {"stage": "At the door", "minutes": 1}, "alert": {"title": "Your order", "body": "Look out of the window."}})
    page.see("island", "[aria-expanded='true']")
    page.wait("the words of the alert", lambda: "window" in page.texts("island")[0])


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


def a_switch_keeps_them_away(page, user):
    page.open_details("more-states")
    page.press("switch-activities")
    page.see("switch-activities", "[aria-checked='false']")
    refused = ask(page, user, "POST", "/api/v1/activities", {
        "attributesType": "DeliveryAttributes", "state": {"stage": "Packed"}, "audience": f"username:{user}",
        "alert": {"title": "Your order", "body": "It is packed."}})["id"]
    status = ask(page, user, "GET", f"/api/v1/activities/{refused}")
    if status["phase"] != "active" or page.find("activity"):
        raise Failure(f"the server says {status['phase']}, and the phone shows {values(page)}")
    ask(page, user, "DELETE", f"/api/v1/activities/{refused}")
    page.press("switch-activities")
    page.see("switch-activities", "[aria-checked='true']")
    page.press("control-lock")
    page.gone("lock-screen")


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
    a_push_starts_one_on_the_lock_screen, it_is_updated_once_the_user_allows_it, its_state_names_a_picture, the_island_shows_it_and_opens,
    an_alert_opens_the_island, its_end_is_said_and_it_can_be_removed, a_switch_keeps_them_away,
    one_push_over_a_channel_reaches_every_phone,
]
