"""Pictures to look at: every tool in dark and light, and the one for the README."""

from .composing import home


def pictures(page, user):
    page.size(1440, 900)
    page.driver.get(page.base + "/phone")
    page.driver.execute_script("localStorage.setItem('clarion.guide', 'done')")
    page.driver.refresh()
    page.see("tab-story")
    for scheme in ("light", "dark"):
        page.media(prefers_color_scheme=scheme)
        page.turn_to(1)
        for tab in ("story", "timeline", "compose"):
            page.press(f"tab-{tab}")
            page.shot(f"{tab}-{scheme}")
        page.press("phones-all")
        page.press("tab-timeline")
        page.shot(f"all-{scheme}")
    page.media(prefers_color_scheme="light")


def the_picture_of_the_readme(page, user):
    for number in (3, 2, 1):
        page.turn_to(number)
        home(page)
    page.press("control-open")
    page.press("tab-compose")
    page.press("way-rich")
    page.press("rich-template-picture")
    page.press("rich-send")
    page.press("alert-more")
    page.see("content", '[data-state="ready"]')
    page.picture_shown("content-image")
    page.press("phones-all")
    page.press("tab-timeline")
    page.driver.execute_script("window.scrollTo(0, 0)")
    page.shot("readme")


STEPS = [pictures, the_picture_of_the_readme]
