"""The card of the browser that reads the page: what it says when no push can come."""

from .console import axe
from .page import Failure


def permission(page, setting):
    """What the user has answered about notifications of this page."""
    page.driver.execute_cdp_cmd("Browser.setPermission", {
        "permission": {"name": "notifications"}, "setting": setting, "origin": page.base})


def asks(page, words):
    """Presses the button; the card says why nothing comes, and offers it again."""
    page.press("browser-notify")
    page.wait(f"the card to say: {words}", lambda: words in page.see("browser-trouble").text)
    page.see("browser-notify")
    axe(page, f"the card that says: {words}", "#browser")


def offers_itself(page, user):
    words = page.see("browser").text
    for part in ("push service", "needs the Internet", f"signs in as {user}"):
        if part not in words:
            raise Failure(f"the card of the browser does not say: {part}")
    if page.driver.execute_async_script("navigator.serviceWorker.getRegistrations().then((all) => arguments[0](all.length))"):
        raise Failure("a service worker was registered before the user asked for it")
    axe(page, "the card of the browser", "#browser")


def says_that_it_may_not(page, user):
    permission(page, "denied")
    asks(page, "not allowed")


def says_that_there_is_no_push_service(page, user):
    """A Chromium without Google's service refuses so; without a network it would only wait."""
    permission(page, "granted")
    page.driver.execute_script("""
      PushManager.prototype.subscribe = async () => { throw new DOMException('push service not available', 'AbortError'); };""")
    asks(page, "does not answer")
    page.shot("this-browser")
    if not page.driver.execute_async_script("""
      const scope = (registration) => registration?.scope === `${location.origin}/`;
      navigator.serviceWorker.getRegistration().then((registration) => arguments[0](scope(registration)))"""):
        raise Failure("the service worker does not cover the page")
    page.driver.execute_cdp_cmd("Browser.resetPermissions", {})


STEPS = [offers_itself, says_that_it_may_not, says_that_there_is_no_push_service]
