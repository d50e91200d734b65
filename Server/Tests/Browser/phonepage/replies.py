"""Answering in a notification."""

from .composing import home
from .page import send_from_elsewhere


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


STEPS = [an_answer_reaches_the_sender]
