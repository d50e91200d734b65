"""Answering in a notification."""

from .composing import home
from .page import Failure, send_from_elsewhere


def an_answer_reaches_the_sender(page, user):
    page.turn_to(1)
    home(page)
    send_from_elsewhere(page, "bob", {"message": "Are you coming?", "title": "Bob", "audience": "username:alice"})
    page.press("control-centre")
    page.wait("the question", lambda: "Are you coming?" in "".join(page.texts("notice")))
    page.press("notice-expand")
    page.press("notice-reply")
    page.type("reply-text", "On my way")
    page.shot("reply")
    page.press("reply-send")
    page.gone("expanded-notice")
    page.turn_to(3)
    home(page)
    page.press("control-centre")
    page.wait("the answer on bob's phone", lambda: "On my way" in "".join(page.texts("notice")))
    page.press("control-centre")
    page.turn_to(1)


def signing_out_says_what_did_not_reach_the_server(page, user):
    page.turn_to(1)
    home(page)
    send_from_elsewhere(page, "bob", {"message": "And tomorrow?", "title": "Bob", "audience": "username:alice"})
    page.press("control-centre")
    page.wait("the question", lambda: "And tomorrow?" in "".join(page.texts("notice")[:1]))
    page.switch("switch-offline", True)
    page.press("notice-expand")
    page.press("notice-reply")
    page.type("reply-text", "Not tomorrow")
    page.press("reply-send")
    page.gone("expanded-notice")
    page.press("control-centre")
    page.press("control-open")
    page.quiet()
    page.press("options-open")
    page.type("option-audience", "username:bob")
    page.press("options-done")
    page.press("sign-out")
    page.wait("the message about the loss", lambda: page.find("undelivered")
              and "An answer of yours did not reach the server" in page.find("undelivered").text)
    page.shot("undelivered")
    page.switch("switch-offline", False)
    page.press("sign-in-button")
    page.see("main-screen")
    if page.find("undelivered"):
        raise Failure("the next user to sign in sees what the previous one lost")
    page.press("options-open")
    if page.see("option-audience").get_property("value"):
        raise Failure("the next user to sign in sees whom the previous one was about to send to")
    page.press("options-done")


STEPS = [an_answer_reaches_the_sender, signing_out_says_what_did_not_reach_the_server]
