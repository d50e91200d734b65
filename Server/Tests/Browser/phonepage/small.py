"""A real phone's browser, 390 points wide."""

from .access import contrast
from .page import Failure

PANES = ("phone", "controls", "story", "timeline", "compose")


def fits(page, name):
    found = page.driver.execute_script("""
      const wide = document.documentElement.scrollWidth;
      const small = [...document.querySelectorAll('button, a, select, input, summary')].filter((node) => {
        if (!node.checkVisibility({ visibilityProperty: true }) || node.closest('.device, .skip')) return false;
        const { width, height } = node.getBoundingClientRect();
        return Math.min(width, height) < 24 && getComputedStyle(node).display !== 'inline' && node.type !== 'checkbox';
      }).map((node) => `${node.dataset.testid || node.textContent} ${Math.round(node.getBoundingClientRect().height)}`);
      return { wide, small }""")
    if found["wide"] > 390:
        raise Failure(f"{name} is {found['wide']} points wide and scrolls sideways")
    if found["small"]:
        raise Failure(f"too small for a finger in {name}: {found['small']}")


def every_part_fits(page, user):
    page.size(390, 844, mobile=True)
    page.driver.get(page.base + "/phone")
    page.see("pane-phone")
    for pane in PANES:
        page.press(f"pane-{pane}")
        page.wait("the bar to say which part is shown", lambda: page.find(f"pane-{pane}").get_attribute("aria-current") == "true")
        page.settled()
        fits(page, pane)
        page.shot(f"small-{pane}")
    page.press("way-push")
    fits(page, "pushes by hand")
    page.press("pane-controls")
    page.open_details("more-states")
    page.open_details("faults")
    fits(page, "every control")
    page.shot("small-every-control")


def what_was_chosen_on_a_large_screen_does_no_harm(page, user):
    page.size(1280, 900)
    page.press("phones-all")
    page.see("stand-3")
    page.size(390, 844, mobile=True)
    page.press("pane-phone")
    page.wait("one phone at its full size", lambda: len(page.driver.execute_script("""
      return [...document.querySelectorAll('.device')].filter((node) => node.getBoundingClientRect().width > 240)""")) == 1)
    page.wait("one phone to be marked, and each in sight", lambda: page.driver.execute_script("""
      const chips = [...document.querySelectorAll('.switch-phone:not(.switch-all)')];
      return chips.filter((node) => node.getAttribute('aria-pressed') === 'true').length === 1
        && chips.every((node) => node.getBoundingClientRect().right <= 390 - 16)"""))
    page.shot("small-after-all")
    page.press("phone-3")
    page.see("stand-3")
    page.press("phone-1")


def a_push_is_sent_with_a_thumb(page, user):
    page.press("pane-phone")
    page.wait("the phone within the screen", lambda: page.driver.execute_script("""
      const { left, right } = document.querySelector('.device').getBoundingClientRect();
      return left >= 0 && right <= 390"""))
    page.quiet()
    if page.find("app-icon"):
        page.press("app-icon")
    page.press("send-push")
    page.see("alert")
    page.press("alert-ok")
    page.press("pane-story")
    page.story_has("accepted", "delivered")
    page.press("pane-phone")
    page.turn_to(3)
    page.see("stand-3")
    page.turn_to(1)


def dark_too(page, user):
    page.media(prefers_color_scheme="dark")
    page.press("pane-timeline")
    page.settled()
    contrast(page, "timeline, small and dark")
    page.shot("small-dark")
    page.media(prefers_color_scheme="light")
    page.size(1280, 900)


STEPS = [every_part_fits, what_was_chosen_on_a_large_screen_does_no_harm, a_push_is_sent_with_a_thumb, dark_too]
