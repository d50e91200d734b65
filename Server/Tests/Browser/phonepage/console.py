"""The console, as its people use it: a product manager, a support person, an operator."""

import base64
import hmac
import json
import os
import pathlib
import re
import struct
import subprocess
import time
import urllib.request

from selenium.webdriver.common.keys import Keys

from .access import CONTRAST, active, press_keys, tab_to
from .page import DEADLINE, Failure, send_from_elsewhere

# One of each kind of screen; a person and a send are added when they are known.
SCREENS = ["home", "compose", "sends", "schedules", "activities", "templates", "people", "hubs", "keys", "webhooks", "audit", "settings", "health"]


def heading(page):
    return page.driver.execute_script("return document.querySelector('#main h1')?.textContent")


def at(page, title):
    page.wait(f"the screen {title}", lambda: heading(page) == title)


def go(page, place, title=None):
    page.press(f"to-{place}")
    at(page, title or place.capitalize())


def field(page, name, scope="#main"):
    return page.wait(f"the field {name}", lambda: page.driver.execute_script(
        "return [...document.querySelectorAll(arguments[0])].find((node) => node.checkVisibility()) || null", f"{scope} [name='{name}']"))


def fill(page, name, text, scope="#main"):
    node = field(page, name, scope)
    node.send_keys(Keys.CONTROL, "a")
    node.send_keys(text)


def text_of(page, selector="#main"):
    return page.driver.execute_script("return document.querySelector(arguments[0])?.innerText || ''", selector)


def has(page, *words):
    page.wait(f"the screen to have {words}", lambda: all(word in text_of(page) for word in words))


def the_page_of_the_phones_opens_it(page, user):
    page.driver.get(page.base + "/phone")
    send_from_elsewhere(page, user, {"audience": f"username:{user}", "title": "Before the console", "message": "One send to look at"})
    page.press("console")
    at(page, "Home")
    if "cll_" in page.driver.current_url:
        raise Failure("the secret of the link stays in the address")
    has(page, "Sends in 24 hours", "all healthy")
    page.shot("console-home")


def the_count_is_right(page, user):
    """The page counts the devices that the API lists for the person."""
    credentials = base64.b64encode(f"{user}:{user}".encode()).decode()
    request = urllib.request.Request(page.base + "/api/v1/installations", headers={"Authorization": f"Basic {credentials}"})
    with urllib.request.urlopen(request, timeout=DEADLINE) as answer:
        number = len(json.load(answer)["devices"])
    wanted = f"Reaches {number} device{'' if number == 1 else 's'} now."
    page.wait(wanted, lambda: page.texts("count") == [wanted])


def it_says_what_it_sends_before_it_does(page, user):
    go(page, "compose")
    page.press("kind-url")
    fill(page, "title", "Spring sale")
    fill(page, "message", "Everything for the garden, a week long.")
    fill(page, "link", "https://example.com/sale")
    fill(page, "people", user)
    the_count_is_right(page, user)
    preview = text_of(page, ".device-frame")
    if "Spring sale" not in preview or "Everything for the garden" not in preview:
        raise Failure(f"the preview shows {preview!r}")
    page.press("preview-opened")
    page.wait("the host of the link in the preview", lambda: "example.com" in text_of(page, ".device-frame"))
    page.press("preview-expanded")
    page.shot("console-compose")
    page.press("send")
    asked = page.wait("the question", lambda: text_of(page, "dialog"))
    for word in (f"username:{user}", "Spring sale", "https://example.com/sale"):
        if word not in asked:
            raise Failure(f"the question before a send lacks {word}: {asked}")
    page.press("confirm")
    page.wait("the page of the send", lambda: (heading(page) or "").startswith("Send #"))
    has(page, "completed", "accepted")
    page.wait("the receipt of the phone", lambda: "delivered" in text_of(page))
    page.shot("console-send")


def it_explains_a_send(page, user):
    fill(page, "user", user)
    page.press("explain")
    answer = page.wait("the explanation", lambda: page.texts("explanation"))
    if user.lower() not in text_of(page).lower() or not answer[0].strip():
        raise Failure(f"the explanation says {answer}")
    fill(page, "user", "nobody-of-this-name")
    page.press("explain")
    page.wait("the unknown user to be named", lambda: "unknown-user" in page.texts("explanation")[0])


def a_test_goes_to_one_person(page, user):
    go(page, "compose")
    fill(page, "message", "A test of the console")
    fill(page, "testName", user)
    page.press("send-test")
    said = page.wait("what became of the test", lambda: text_of(page, "#toasts"))
    if "The test is send #" not in said:
        raise Failure(f"the page says {said!r}")


def a_picture_is_shown_before_it_is_sent(page, user):
    go(page, "compose")
    page.press("kind-img")
    fill(page, "message", "A picture from the console")
    page.press("send")
    has(page, "Choose the picture first.")
    with urllib.request.urlopen(page.base + "/phone/samples/img", timeout=DEADLINE) as answer:
        file = page.folder / "console-picture.png"
        file.write_bytes(answer.read())
    field(page, "file").send_keys(str(file.resolve()))
    shown = "const n = document.querySelector('.device-frame img'); return n && n.complete && n.naturalWidth > 0"
    page.wait("the picture on the drawn phone", lambda: page.driver.execute_script(shown))
    page.press("audience-people")
    fill(page, "people", user)
    the_count_is_right(page, user)
    page.press("send")
    page.wait("the name of the file in the question", lambda: "console-picture.png" in text_of(page, "dialog"))
    page.press("confirm")
    page.wait("the page of the send", lambda: (heading(page) or "").startswith("Send #"))
    page.wait("the phone to have fetched it", lambda: "fetched" in text_of(page))


def sends_in_all(page):
    go(page, "sends")

    def end():
        page.driver.execute_script("scrollTo(0, document.body.scrollHeight)")
        words = text_of(page, ".list-end")
        return words if " total" in words else None

    return page.wait("the end of the list", end)


def mistakes_are_named_before_anything_leaves(page, user):
    before = sends_in_all(page)
    go(page, "compose")
    fill(page, "message", " ")
    page.press("send")
    has(page, "Write a message first.")
    fill(page, "message", "Words")
    page.press("send")
    has(page, "Choose an audience first.")
    page.press("audience-expression")
    fill(page, "expression", "news &&")
    page.wait("the mistake in the expression", lambda: "audience" in page.texts("count")[0])
    page.press("send")
    page.press("confirm")
    page.wait("the refusal in the question", lambda: "audience" in text_of(page, "dialog .problem"))
    page.press("cancel")
    page.press("kind-coupon")
    page.press("send")
    has(page, "A coupon needs a headline and a code.")
    if sends_in_all(page) != before:
        raise Failure("a send with mistakes was accepted")


def a_large_audience_is_confirmed_by_its_number(page, user):
    """With an invented count: the demo has three phones."""
    go(page, "compose")
    page.driver.execute_script("""
      window.honestFetch = window.fetch;
      window.fetch = (address, options) => (String(address).includes('/audiences/count')
        ? Promise.resolve(new Response('{"targets":1204,"complete":true}')) : window.honestFetch(address, options));""")
    page.press("kind-text")
    fill(page, "message", "To very many")
    page.press("audience-people")
    fill(page, "people", "somewhere-else")
    page.wait("the count", lambda: "1,204 devices" in page.texts("count")[0])
    page.press("send")
    if page.see("confirm").is_enabled():
        raise Failure("a send to 1,204 devices needs no number")
    page.type("typed", "1204")
    page.wait("the send to be possible", lambda: page.find("confirm").is_enabled())
    # What a server answers whose setting approval-above is lower. The proposal after it is real.
    page.driver.execute_script("""
      window.fetch = (address, options) => (String(address).endsWith('/api/v1/notifications')
        ? Promise.resolve(new Response('{"code":"approval-required","title":"Another person has to approve this send","detail":"1,204 devices"}',
          { status: 403, headers: { 'Content-Type': 'application/problem+json' } })) : window.honestFetch(address, options));""")
    page.press("confirm")
    page.wait("the question for an approval", lambda: "Ask for an approval?" in text_of(page, "dialog"))
    page.press("confirm")
    page.driver.execute_script("window.fetch = window.honestFetch")
    at(page, "Schedules")
    has(page, "Waiting for approval", "To very many")
    if page.all("approve"):
        raise Failure("a person can approve what they ask for themselves")
    page.press("decline")
    page.press("confirm")
    has(page, "cancelled")


def a_schedule_is_made_and_cancelled(page, user):
    go(page, "compose")
    page.press("kind-text")
    fill(page, "title", "Monday offers")
    fill(page, "message", "This week's offers")
    page.press("audience-people")
    fill(page, "people", user)
    page.press("when-repeat")
    the_count_is_right(page, user)
    page.press("send")
    page.press("confirm")
    at(page, "Schedules")
    has(page, "Monday offers", "waiting", "FREQ=DAILY")
    page.shot("console-schedules")
    page.press("cancel-schedule")
    page.press("confirm")
    has(page, "cancelled")
    page.wait("the calendar without it", lambda: "Monday offers" not in text_of(page, ".calendar"))


def code_of(key):
    """What an authenticator app shows for a key now (RFC 6238), by Python's own library."""
    digest = hmac.new(base64.b32decode(key), struct.pack(">Q", int(time.time()) // 30), "sha1").digest()
    place = digest[-1] & 15
    return f"{(struct.unpack('>I', digest[place:place + 4])[0] & 0x7FFFFFFF) % 1_000_000:06}"


def a_second_factor_signs_in_with_the_password(page, user):
    """The operator of the demo sets one up, signs out, signs in with a recovery code, and removes it with another."""
    page.press("second-factor")
    page.see("factor-key")
    key = page.texts("factor-key")[0].replace(" ", "")
    fill(page, "code", "12345", scope="dialog")
    page.press("confirm")
    page.wait("the wrong code to be refused", lambda: "not what the app shows now" in text_of(page, "dialog"))
    page.settled()
    page.shot("console-second-factor")
    fill(page, "code", code_of(key), scope="dialog")
    page.press("confirm")
    page.see("secret")
    codes = page.texts("secret")[0].split()
    if len(codes) != 10:
        raise Failure(f"there are {len(codes)} recovery codes")
    page.press("cancel")
    page.press("sign-out")
    page.wait("the sign-in", lambda: heading(page) == "Clarion console")
    unfold(page, "Sign in with a password")
    fill(page, "user", "operator")
    fill(page, "password", "operator")
    fill(page, "code", codes[0])
    page.settled()
    page.shot("console-sign-in-password")
    page.press("sign-in-password")
    page.wait("the console again", lambda: heading(page) != "Clarion console")
    page.press("second-factor")
    page.wait("how many codes are left", lambda: "9 recovery codes left" in text_of(page, "dialog"))
    fill(page, "code", codes[1], scope="dialog")
    page.press("confirm")
    page.wait("the dialog to close", lambda: not text_of(page, "dialog"))


def a_proposal_is_approved_or_declined(page, user):
    """Another sender proposes it by the API. The page shows it to the administrator, who approves one and declines another."""
    for title in ("Summer sale", "Winter sale"):
        body = json.dumps({"approval": True, "notification": {
            "audience": f"username:{user}", "title": title, "message": "Everything for the garden", "preview": "open"}})
        request = urllib.request.Request(f"{page.base}/api/v1/schedules", data=body.encode(), headers={
            "Content-Type": "application/json", "Authorization": "Basic " + base64.b64encode(f"{user}:{user}".encode()).decode()})
        with urllib.request.urlopen(request, timeout=DEADLINE) as answer:
            if json.load(answer)["state"] != "proposed":
                raise Failure("the schedule is no proposal")
    go(page, "schedules")
    has(page, "Waiting for approval", "Summer sale", "Winter sale", f"by {user}, when it is approved")
    page.settled()
    page.shot("console-approvals")
    # The newest is first.
    page.press("approve")
    page.wait("what is approved", lambda: "Winter sale" in text_of(page, "dialog") and f"username:{user}" in text_of(page, "dialog"))
    page.press("confirm")
    page.wait("one proposal to be left", lambda: len(page.all("approve")) == 1)
    page.press("decline")
    page.press("confirm")
    page.wait("no proposal to be left", lambda: "Waiting for approval" not in text_of(page))
    page.wait("the approved one to be sent", lambda: "ended" in text_of(page) and "cancelled" in text_of(page), deadline=30)


def a_send_goes_by_the_clock_of_each_device(page, user):
    """In an hour by the clock of the phone. In the first zone it has been that time for hours, so the send begins at once."""
    go(page, "compose")
    page.press("kind-text")
    fill(page, "title", "Good morning")
    fill(page, "message", "Everywhere at the same time of day")
    page.press("audience-people")
    fill(page, "people", user)
    page.press("when-once")
    the_count_is_right(page, user)
    field(page, "clock").send_keys("of each device")
    has(page, "when its own clock shows the time", "Time zone of devices that report none")
    page.shot("console-local-time")
    page.press("send")
    page.wait("what the question says", lambda: "on the clock of each device" in text_of(page, "dialog"))
    page.press("confirm")
    at(page, "Schedules")
    has(page, "Good morning", "on each device")
    page.wait("the send to begin", lambda: "ended" in text_of(page, "[data-testid='row']"), deadline=30)
    page.driver.execute_script("document.querySelector('[data-testid=\"row\"] a[href*=\"sends\"]').click()")
    page.wait("the send", lambda: heading(page).startswith("Send #"))
    has(page, "Local times", "Etc/UTC", "all others", "waits", "scheduled")
    page.shot("console-local-times")
    page.press("recall")
    page.press("confirm")
    has(page, "cancelled")


def a_send_has_a_text_for_each_language(page, user):
    """A reader of English gets the translation, and everyone else the text of the send."""
    go(page, "compose")
    page.press("kind-url")
    fill(page, "title", "Nyheter")
    fill(page, "message", "Rean har börjat")
    fill(page, "link", "https://example.org/sv")
    page.driver.execute_script("document.querySelector('#main summary').click()")
    fill(page, "language", "no tag!")
    page.press("add-language")
    has(page, "Write a language tag")
    fill(page, "language", "en")
    page.press("add-language")
    has(page, "English", "Remove this language")
    phone = ".device-frame"
    page.wait("the text of the send on the drawn phone", lambda: "Rean har börjat" in text_of(page, phone))
    page.press("send")
    has(page, "Say which language the default text is in")
    fill(page, "own-language", "sv")
    page.press("send")
    has(page, "Write the text in English, or remove the language.")
    fill(page, "message", "The sale begins")
    page.wait("both on the drawn phone", lambda: "Nyheter" in text_of(page, phone) and "The sale begins" in text_of(page, phone))
    page.settled()
    page.shot("console-languages")
    page.press("language-default")
    page.wait("the default text", lambda: field(page, "message").get_property("value") == "Rean har börjat")
    page.press("audience-people")
    fill(page, "people", user)
    the_count_is_right(page, user)
    page.press("send")
    page.wait("the languages in the question", lambda: "Also in" in text_of(page, "dialog") and "English" in text_of(page, "dialog"))
    page.press("confirm")
    page.wait("the page of the send", lambda: (heading(page) or "").startswith("Send #"))
    page.wait("the phone to have fetched it", lambda: "fetched" in text_of(page))
    number = heading(page).removeprefix("Send #")
    for language, expected in (("en", "The sale begins"), ("sv", "Rean har börjat")):
        request = urllib.request.Request(f"{page.base}/api/v1/notifications/{number}/details", headers={
            "Accept-Language": language, "Authorization": "Basic " + base64.b64encode(f"{user}:{user}".encode()).decode()})
        with urllib.request.urlopen(request, timeout=DEADLINE) as answer:
            found = json.load(answer)
        if (found["language"], found["message"]) != (language, expected):
            raise Failure(f"a reader of {language} gets {found['message']}")


def unfold(page, summary):
    page.wait(f"the section {summary}", lambda: page.driver.execute_script(
        "const found = [...document.querySelectorAll('#main summary')].find((node) => node.textContent === arguments[0]);"
        "found?.click(); return Boolean(found)", summary))


def groups_get_texts_of_their_own_and_are_counted(page, user):
    """The page of the send counts the group that the user is in, and the user reads the text of that group."""
    go(page, "compose")
    page.press("kind-text")
    fill(page, "title", "The sale begins")
    fill(page, "message", "Text of group A")
    unfold(page, "A/B test")
    page.press("add-group")
    has(page, "Group B", "Own text")
    page.press("send")
    has(page, "Write the text of group B, or give it the default text.")
    fill(page, "message", "Text of group B")
    page.wait("the text of group B on the drawn phone", lambda: "Text of group B" in text_of(page, ".device-frame"))
    fill(page, "percent-0", "60")
    page.press("send")
    has(page, "The groups have more than 100 percent together.")
    fill(page, "percent-0", "50")
    page.settled()
    page.shot("console-groups")
    page.press("language-default")
    page.wait("the text of group A", lambda: field(page, "message").get_property("value") == "Text of group A")
    page.press("audience-people")
    fill(page, "people", user)
    the_count_is_right(page, user)
    unfold(page, "More options")
    fill(page, "cap", "offers")
    page.press("send")
    page.press("confirm")
    page.wait("the refusal of a cap that the settings do not have", lambda: "no such cap, but marketing" in text_of(page, "dialog"))
    page.press("cancel")
    fill(page, "cap", "marketing")
    page.press("send")
    page.wait("the groups in the question", lambda: "A 50 %, B 50 %" in text_of(page, "dialog"))
    page.press("confirm")
    page.wait("the page of the send", lambda: (heading(page) or "").startswith("Send #"))
    has(page, "Share that opened", "completed")
    number = heading(page).removeprefix("Send #")

    def ask(path, caller):
        credentials = {"Authorization": "Basic " + base64.b64encode(f"{caller}:{caller}".encode()).decode()}
        request = urllib.request.Request(f"{page.base}/api/v1/notifications/{number}/{path}", headers=credentials)
        with urllib.request.urlopen(request, timeout=DEADLINE) as answer:
            return json.load(answer)

    own = [group["name"] for group in ask("status", "operator")["groups"] if group["outcomes"].get("accepted")]
    message = ask("details", user)["message"]
    if [message] != [f"Text of group {name}" for name in own]:
        raise Failure(f"the user is in {own} and reads {message}")
    page.shot("console-send-groups")


def a_template_is_saved_filled_and_changed(page, user):
    go(page, "compose")
    page.press("kind-text")
    fill(page, "title", "Order {{order}}")
    fill(page, "message", "{{name}}, your order is on its way.")
    page.press("save-template")
    fill(page, "template-name", "Order", scope="dialog")
    page.press("confirm")
    page.wait("the rule for names", lambda: "it has 1 to 64 of a-z" in text_of(page, "dialog"))
    fill(page, "template-name", "order-shipped", scope="dialog")
    page.press("confirm")
    at(page, "order-shipped")
    has(page, "is missing")
    fill(page, "order", "4711")
    fill(page, "name", "Alice")
    phone = ".device-frame"
    page.wait("the values on the drawn phone", lambda: "Order 4711" in text_of(page, phone) and "Alice, your order" in text_of(page, phone))
    page.settled()
    page.shot("console-template")
    page.press("use-template")
    at(page, "Compose")
    page.wait("the text with its values", lambda: field(page, "title").get_property("value") == "Order 4711")
    page.press("audience-people")
    fill(page, "people", user)
    the_count_is_right(page, user)
    page.press("send")
    page.press("confirm")
    page.wait("the page of the send", lambda: (heading(page) or "").startswith("Send #"))
    go(page, "templates")
    page.shot("console-templates")
    has(page, "order-shipped", "name order")
    page.driver.execute_script("[...document.querySelectorAll('.row-link')].find((link) => link.textContent === 'order-shipped').click()")
    at(page, "order-shipped")
    page.press("edit-template")
    at(page, "Compose")
    page.wait("the text with its places", lambda: field(page, "title").get_property("value") == "Order {{order}}")
    fill(page, "title", "Your order {{order}}")
    page.press("save-template")
    page.press("confirm")
    at(page, "order-shipped")
    has(page, "Version 2")
    page.press("remove-template")
    page.type("typed", "order-shipped")
    page.press("confirm")
    at(page, "Templates")


def a_person_is_opened(page, user):
    go(page, "people")
    fill(page, "name", user[:3].upper())
    field(page, "name").send_keys(Keys.ENTER)
    page.wait("one person", lambda: len(page.all("row")) == 1)
    page.driver.execute_script("document.querySelector('.row-link').click()")
    at(page, user)


def a_send_goes_to_one_device(page, user):
    a_person_is_opened(page, user)
    page.wait("their device", lambda: page.all("write-to-device"))
    page.press("write-to-device")
    at(page, "Compose")
    page.press("kind-text")
    page.wait("one device", lambda: "Reaches 1 device now." in page.texts("count"))
    fill(page, "message", "To this phone alone")
    page.press("send")
    page.press("confirm")
    page.wait("the page of the send", lambda: (heading(page) or "").startswith("Send #"))
    has(page, "$InstallationId:{", "completed")


def a_person_is_found_changed_and_signed_out(page, user):
    a_person_is_opened(page, user)
    page.wait("their device", lambda: page.all("device"))
    has(page, "notifications: granted", "org.clarion.demo")
    page.press("change-person")
    fill(page, "tags", "gold", "dialog")
    fill(page, "quietHours", "22:10-07:00", "dialog")
    page.press("confirm")
    page.wait("why these hours cannot be", lambda: "in half hours" in text_of(page, "dialog .problem"))
    fill(page, "quietHours", "22:00-07:00", "dialog")
    page.press("confirm")
    has(page, "gold", "22:00-07:00")
    page.shot("console-person")
    page.press("change-person")
    fill(page, "quietHours", Keys.BACKSPACE, "dialog")
    page.press("confirm")
    page.wait("no quiet hours", lambda: "Quiet hours" not in text_of(page))
    page.press("disable")
    page.press("confirm")
    has(page, "Not signed in on any device.")
    page.press("disable")
    page.press("confirm")
    page.wait("the person to be enabled", lambda: "Disable" in page.texts("disable")[0])


def a_person_is_added_and_erased(page, user):
    go(page, "people")
    page.press("add-person")
    fill(page, "name", "zoe.console", "dialog")
    page.press("confirm")
    at(page, "zoe.console")
    page.press("erase")
    confirm = page.see("confirm")
    if confirm.is_enabled():
        raise Failure("an erasure can be confirmed before the name is typed")
    page.type("typed", "zoe.console")
    page.press("confirm")
    at(page, "People")
    if "zoe.console" in text_of(page):
        raise Failure("the erased person is still listed")


def shown_secret(page):
    return page.wait("the secret", lambda: page.texts("secret"))[0]


def a_key_is_shown_once(page, user):
    go(page, "keys")
    page.press("create-key")
    fill(page, "name", "console-test", "dialog")
    page.press("confirm")
    secret = shown_secret(page)
    if not secret.startswith("clk_"):
        raise Failure(f"the secret is {secret}")
    page.press("cancel")
    has(page, "console-test", "active")
    if secret in page.driver.page_source:
        raise Failure("the secret is still in the page")
    page.shot("console-keys")


    page.press("roll-key")
    page.press("confirm")
    rolled = shown_secret(page)
    if rolled == secret:
        raise Failure("the rolled key has the same secret")
    page.press("cancel")
    page.wait("both keys", lambda: len(page.all("row")) == 2)
    page.press("revoke-key")
    page.type("typed", "console-test")
    page.press("confirm")
    has(page, "revoked")


def a_credential_is_set_and_tried(page):
    """The local APNs knows the key of the node, and no other."""
    page.press("try-console-hub")
    page.wait("APNs to accept the node's key", lambda: "console-hub: APNs accepts the credential." in text_of(page, "#toasts"))
    wrong, key = page.folder / "wrong.p8", page.folder / "AuthKey_CONSOLE123.p8"
    wrong.write_text("no key")
    subprocess.run(["openssl", "genpkey", "-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-256", "-out", str(key)], check=True, capture_output=True)
    page.press("set-apns-console-hub")
    field(page, "file", "dialog").send_keys(str(wrong.resolve()))
    for name, text in {"keyId": "CONSOLE123", "teamId": "TEAM123456", "topic": "com.example.console"}.items():
        fill(page, name, text, "dialog")
    page.press("confirm")
    page.wait("what is wrong with the file", lambda: "the signing key" in text_of(page, "dialog [role=alert]"))
    field(page, "keyId", "dialog").clear()
    field(page, "file", "dialog").send_keys(str(key.resolve()))
    page.wait("the key id of the file's name", lambda: field(page, "keyId", "dialog").get_attribute("value") == "CONSOLE123")
    page.shot("console-credential")
    page.press("confirm")
    has(page, "own APNs credential", "key CONSOLE123 of team TEAM123456 for com.example.console, production")
    page.press("try-console-hub")
    page.wait("APNs not to accept that", lambda: "console-hub: APNs refuses the credential" in text_of(page, "#toasts") or "console-hub: APNs gave no answer" in text_of(page, "#toasts"))
    page.press("unset-apns-console-hub")
    page.press("confirm")
    page.wait("the credential to be gone", lambda: "key CONSOLE123" not in text_of(page))


def a_hub_is_added_and_removed(page, user):
    go(page, "hubs")
    page.press("add-hub")
    fill(page, "name", "console-hub", "dialog")
    page.press("confirm")
    if "DefaultFullSharedAccessSignature: " not in shown_secret(page):
        raise Failure("the keys of the new hub are not shown")
    page.press("cancel")
    page.wait("the hub", lambda: "console-hub" in text_of(page))
    page.press("roll-console-hub-DefaultListenSharedAccessSignature-primary")
    page.press("confirm")
    if len(shown_secret(page)) != 44:
        raise Failure(f"the new key is {shown_secret(page)!r}")
    page.press("cancel")
    a_credential_is_set_and_tried(page)
    page.press("remove-console-hub")
    page.type("typed", "console-hub")
    page.press("confirm")
    page.wait("the hub to be gone", lambda: "console-hub" not in text_of(page))


def a_webhook_is_tried_and_removed(page, user):
    """To a host that no resolver knows (RFC 6761)."""
    go(page, "webhooks")
    page.press("add-webhook")
    fill(page, "url", "https://receiver.invalid/hook", "dialog")
    page.press("confirm")
    secret = shown_secret(page)
    if not secret.startswith("whsec_"):
        raise Failure(f"the secret is {secret}")
    page.press("cancel")
    page.press("deliveries")
    page.press("ping")
    page.wait("the delivery of the ping", lambda: "ping" in text_of(page, "table.list"))
    page.press("roll-webhook")
    page.press("confirm")
    if shown_secret(page) == secret:
        raise Failure("the new secret is the old one")
    page.press("cancel")
    has(page, "Old secret until")
    page.press("toggle-webhook")
    has(page, "disabled")
    page.press("remove-webhook")
    page.type("typed", "receiver.invalid")
    page.press("confirm")
    has(page, "No webhooks yet.")


def a_webhook_that_may_not_be_is_refused_with_the_reason(page, user):
    go(page, "webhooks")
    page.press("add-webhook")
    fill(page, "url", "https://127.0.0.1/hook", "dialog")
    page.press("confirm")
    page.wait("the setting that is missing", lambda: "webhook-networks" in text_of(page, "dialog .problem"))
    page.press("cancel")


def a_setting_is_found_with_its_origin(page, user):
    go(page, "settings")
    has(page, "console-idle-timeout", "How long a session of the console holds without being used.")
    fill(page, "search", "listen-port")
    page.wait("only what fits", lambda: "console-idle-timeout" not in text_of(page))
    has(page, "listen-port", "From ")
    page.press("changed-only")
    field(page, "search").clear()
    fill(page, "search", "idle")
    has(page, "No setting fits.")


def what_was_done_is_in_the_audit(page, user):
    go(page, "audit")
    page.wait("the entries", lambda: len(page.all("row")) > 10)
    for action in ("console.signed-in", "user.erased", "key.created", "schedule.ended"):
        fill(page, "action", action)
        field(page, "action").send_keys(Keys.ENTER)
        acts = "return [...document.querySelectorAll('[data-testid=row] code')].map(({ textContent }) => textContent)"
        page.wait(f"entries of {action} alone", lambda: set(page.driver.execute_script(acts)) == {action})


def health_shows_the_checks(page, user):
    go(page, "health")
    has(page, "storage")
    badges = "return [...document.querySelectorAll('#main .badge')].map(({ textContent }) => textContent)"
    page.wait("a ready node", lambda: page.driver.execute_script(badges)[0] == "ready")
    if set(page.driver.execute_script(badges)) != {"ready", "ok"}:
        raise Failure(f"the checks are {page.driver.execute_script(badges)}")


def home_shows_how_fast_sends_begin(page, user):
    go(page, "home")
    has(page, "Median start delay", "Parts in the queue")
    delays = "return [...document.querySelectorAll('.tile')].map(({ textContent }) => textContent)"
    page.wait("a delay", lambda: any(re.fullmatch(r"Median start delay[\d.,]+ (ms|s)95%: [\d.,]+ (ms|s|min)", text) for text in page.driver.execute_script(delays)))


def screens(page):
    """The address of every screen, and of a send and a person."""
    page.driver.execute_script("location.hash = '#/sends'")
    page.wait("a send", lambda: page.all("row"))
    send = page.driver.execute_script("return document.querySelector('.row-link').getAttribute('href').slice(2)")
    return [*SCREENS, send, "people/operator"]


def show(page, screen):
    page.driver.execute_script("location.hash = '#/' + arguments[0]", screen)
    page.wait(f"the screen {screen} to be drawn", lambda: heading(page) and "Loading" not in text_of(page))
    page.settled()


def call(page, method, path, body=None):
    """What the API answers to the person who is signed in to the console."""
    return page.driver.execute_async_script("""
      const [method, path, body, done] = arguments;
      fetch(path, { method, body: body && JSON.stringify(body), headers: { 'Content-Type': 'application/json' } })
        .then((answer) => answer.json()).then(done, (error) => done({ detail: String(error) }));""",
        method, path, body)


def a_live_activity_is_started_changed_and_ended(page, user):
    go(page, "activities", "Live Activities")
    page.press("start-activity")
    fill(page, "type", "DeliveryAttributes", "dialog")
    fill(page, "attributes", '{"order": "4711"}', "dialog")
    fill(page, "state", "not an object", "dialog")
    fill(page, "audience", f"username:{user}", "dialog")
    fill(page, "title", "Your order", "dialog")
    fill(page, "body", "It is packed.", "dialog")
    page.press("confirm")
    page.wait("what is wrong", lambda: "State is not valid JSON" in text_of(page, "dialog"))
    fill(page, "state", '{"stage": "packed"}', "dialog")
    page.wait("the preview", lambda: all(word in page.find("activity-sketch").text for word in ("Delivery", "4711", "packed")))
    page.shot("console-activity-preview")
    page.press("confirm")
    page.wait("the activity", lambda: (heading(page) or "").startswith("DeliveryAttributes "))
    has(page, "packed", "active")
    fill(page, "user", user)
    page.press("explain")
    page.wait("a sentence that says why", lambda: page.find("explanation").text)
    page.shot("console-activity")
    number = page.driver.execute_script("return location.hash.split('/').pop()")
    moment = int(time.time() + 3600) * 1000
    call(page, "PATCH", f"/api/v1/activities/{number}", {"state": {"stage": "packed"}, "staleAt": moment})
    has(page, "Out of date from")
    page.press("change-activity")
    fill(page, "state", '{"stage": "on the way"}', "dialog")
    page.press("confirm")
    has(page, "on the way")
    if call(page, "GET", f"/api/v1/activities/{number}").get("staleAt") != moment:
        raise Failure("a change of the state removes the moment from which an activity is out of date")
    page.press("end-activity")
    page.press("confirm")
    has(page, "ended")
    if page.find("change-activity"):
        raise Failure("an activity that has ended can be changed")
    go(page, "activities", "Live Activities")
    has(page, "DeliveryAttributes", "on the way")


def a_channel_is_created_and_removed(page, user):
    go(page, "activities", "Live Activities")
    page.press("create-channel")
    fill(page, "name", "Harbour FC", "dialog")
    page.press("confirm")
    page.wait("the channel", lambda: any("Harbour FC" in text for text in page.texts("channel")))
    page.shot("console-channels")
    page.press("remove-channel")
    page.press("confirm")
    page.wait("the channel to go", lambda: not any("Harbour FC" in text for text in page.texts("channel")))


def every_screen_fits_and_can_be_read(page, user):
    addresses = screens(page)
    for width, mobile in ((1320, False), (390, True), (320, True)):
        page.size(width, 900, mobile)
        for screen in addresses:
            show(page, screen)
            # A phone zooms out until all fits, so the width of its window says nothing.
            found = page.driver.execute_script("return document.documentElement.scrollWidth")
            if found > width:
                raise Failure(f"{screen} has {found} px at a width of {width}")
            if width == 390:
                page.shot(f"console-narrow-{screen.replace('/', '-')}")
    page.size(1320, 900)
    for scheme in ("light", "dark"):
        page.media(prefers_color_scheme=scheme)
        for screen in addresses:
            show(page, screen)
            point_at_the_first_row(page)
            found = page.driver.execute_script(CONTRAST)
            if found["bad"]:
                raise Failure(f"too little contrast in {screen}, {scheme}: " + "; ".join(found["bad"][:8]))
            axe(page, f"{screen}, {scheme}")
    page.shot("console-dark")
    page.media(prefers_color_scheme="light")


def point_at_the_first_row(page):
    """A row under the pointer has a ground of its own, which its text has to stand out from too."""
    place = page.driver.execute_script("""
      const row = document.querySelector('.list tbody tr');
      row?.scrollIntoView({ block: 'center' });
      const { x, y, width, height } = row?.getBoundingClientRect() ?? {};
      return row && { x: x + width / 2, y: y + height / 2 };""")
    if place:
        page.driver.execute_cdp_cmd("Input.dispatchMouseEvent", {"type": "mouseMoved", **place})


def axe(page, where, part=None):
    """Of the whole page, or of the part with this selector."""
    page.driver.execute_script(pathlib.Path(os.environ["AXE_CORE"]).read_text())
    found = page.driver.execute_async_script("""
      axe.run(arguments[0] || document, { runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'] })
        .then(({ violations }) => arguments[1](violations.map(({ id, help, nodes }) => `${id}: ${help} (${nodes[0].html.slice(0, 160)})`)))""", part)
    if found:
        raise Failure(f"axe complains of {where}: " + "; ".join(found))


def a_long_list_keeps_the_document_small(page, user):
    """Pages of an invented server: what is judged is the list, not the API."""
    show(page, "home")
    page.driver.execute_script("""
      window.honestFetch = window.fetch;
      window.newest = 10001;
      window.fetch = async (address, options) => {
        if (!String(address).startsWith('/api/v1/sends?')) return window.honestFetch(address, options);
        const query = new URLSearchParams(String(address).split('?')[1]);
        const first = Number(query.get('before') || window.newest) - 1;
        const sends = Array.from({ length: Math.min(50, first) }, (_, index) => ({
          id: String(first - index), dueAt: 1767225600000, sender: 'ann', audience: 'news', status: { state: 'completed', targets: 1, outcomes: { accepted: 1 } } }));
        const last = first - sends.length + 1;
        return new Response(JSON.stringify({ sends, next: last > 1 ? String(last) : undefined }), { headers: { 'Content-Type': 'application/json' } });
      };
      location.hash = '#/sends';""")
    at(page, "Sends")
    most = 0

    def reached_the_end():
        nonlocal most
        most = max(most, page.driver.execute_script("scrollTo(0, document.body.scrollHeight); return document.querySelectorAll('tbody tr').length"))
        return "10,000 total" in text_of(page) and "#1" in page.driver.execute_script(
            "return [...document.querySelectorAll('[data-testid=row] a')].map(({ textContent }) => textContent)")

    page.wait("the last of 10,000 sends", reached_the_end, 120)
    if not 20 < most < 200:
        raise Failure(f"{most} rows are in the document at once")
    rows = page.driver.execute_script("scrollTo(0, 0); return document.querySelector('table').getAttribute('aria-rowcount')")
    page.wait("the first row again", lambda: page.driver.execute_script("return document.querySelector('[data-testid=row] a').textContent") == "#10000")
    if rows != "10001":
        raise Failure(f"the table says that it has {rows} rows")
    # More has come than a page shows: none of it is left out.
    page.driver.execute_script("window.newest = 20001")
    numbers = "return [...document.querySelectorAll('[data-testid=row] a')].map(({ textContent }) => Number(textContent.slice(1)))"
    page.wait("the newest row", lambda: page.driver.execute_script(numbers)[0] == 20_000)
    # Not to the end: while pages come at once it would run away from the row that is looked for.
    page.driver.execute_script("scrollTo(0, 40 * 48)")
    page.wait("the rows behind the first page", lambda: 19_940 in page.driver.execute_script(numbers))
    page.driver.execute_script("window.fetch = window.honestFetch")


def the_keyboard_is_enough(page, user):
    show(page, "home")
    page.driver.execute_script("document.activeElement.blur(); scrollTo(0, 0)")
    tab_to(page, "to-people")
    press_keys(page, Keys.ENTER)
    at(page, "People")
    if page.driver.execute_script("return document.activeElement.localName") != "h1":
        raise Failure("the focus is not on the heading of the new screen")
    tab_to(page, "add-person")
    press_keys(page, Keys.ENTER)
    page.wait("the dialog", lambda: text_of(page, "dialog"))
    press_keys(page, Keys.ESCAPE)
    page.wait("the dialog to be gone", lambda: not page.driver.execute_script("return document.querySelector('dialog')"))
    if active(page) != "add-person":
        raise Failure(f"the focus is on {active(page)} after the dialog")


def the_first_screen_is_light(page, user):
    show(page, "home")
    page.driver.refresh()
    at(page, "Home")
    found = page.driver.execute_script("""
      const files = performance.getEntriesByType('resource').concat(performance.getEntriesByType('navigation'));
      return { bytes: files.filter(({ name }) => name.includes('/console')).reduce((sum, each) => sum + each.decodedBodySize, 0),
               foreign: files.filter(({ name }) => new URL(name).origin !== location.origin).map(({ name }) => name) }""")
    if found["foreign"]:
        raise Failure(f"the console asks other hosts: {found['foreign']}")
    if not 20_000 < found["bytes"] < 150_000:
        raise Failure(f"the files of the first screen have {found['bytes']} bytes")


def a_session_that_ended_asks_to_sign_in(page, user):
    link = page.driver.execute_async_script("fetch('/phone/console', { method: 'POST' }).then((a) => a.json()).then(({ address }) => arguments[0](address))")
    page.press("sign-out")
    at(page, "Clarion console")
    page.shot("console-sign-in")
    page.driver.get(page.base + "/phone")
    page.driver.get(page.base + link)
    at(page, "Home")
    page.press("sign-out")
    at(page, "Clarion console")
    page.driver.get(page.base + "/phone")
    page.driver.get(page.base + link)
    at(page, "Clarion console")
    has(page, "this link to the console was used")


STEPS = [
    the_page_of_the_phones_opens_it, it_says_what_it_sends_before_it_does, it_explains_a_send, a_test_goes_to_one_person, a_send_goes_to_one_device,
    a_picture_is_shown_before_it_is_sent, mistakes_are_named_before_anything_leaves,
    a_large_audience_is_confirmed_by_its_number, a_second_factor_signs_in_with_the_password, a_schedule_is_made_and_cancelled, a_proposal_is_approved_or_declined, a_send_goes_by_the_clock_of_each_device, a_send_has_a_text_for_each_language, groups_get_texts_of_their_own_and_are_counted, a_template_is_saved_filled_and_changed, a_person_is_added_and_erased, a_key_is_shown_once,
    a_hub_is_added_and_removed, a_setting_is_found_with_its_origin, a_webhook_is_tried_and_removed, a_webhook_that_may_not_be_is_refused_with_the_reason, what_was_done_is_in_the_audit, health_shows_the_checks, home_shows_how_fast_sends_begin,
    a_live_activity_is_started_changed_and_ended, a_channel_is_created_and_removed, every_screen_fits_and_can_be_read, a_long_list_keeps_the_document_small, the_keyboard_is_enough, the_first_screen_is_light, a_person_is_found_changed_and_signed_out,
    a_session_that_ended_asks_to_sign_in,
]
