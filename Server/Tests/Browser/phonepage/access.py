"""The keyboard alone, screen readers, contrast, and reduced motion."""

from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.keys import Keys

from .page import Failure, send_from_elsewhere

# Roles of what can be operated: each needs a name.
OPERATED = {
    "button", "link", "textbox", "combobox", "searchbox", "switch", "tab", "radio", "checkbox", "slider", "DisclosureTriangle", "menuitem",
}
TABS = ("story", "timeline", "compose")

# For every text in sight: its colour over what is behind it. What stands on a picture or a gradient is left to the eye, and
# what is disabled has no required contrast (WCAG 2.2, 1.4.3).
CONTRAST = """
const parse = (text) => {
  const canvas = window.colourCanvas ??= new OffscreenCanvas(1, 1).getContext('2d', { willReadFrequently: true });
  canvas.clearRect(0, 0, 1, 1);
  canvas.fillStyle = text;
  canvas.fillRect(0, 0, 1, 1);
  const [r, g, b, a] = canvas.getImageData(0, 0, 1, 1).data;
  return [r, g, b, a / 255];
};
const over = (top, below) => top.slice(0, 3).map((value, index) => value * top[3] + below[index] * (1 - top[3]));
const light = (colour) => {
  const [r, g, b] = colour.map((value) => (value /= 255) <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4);
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
};
const base = matchMedia('(prefers-color-scheme: dark)').matches ? [16, 19, 24] : [243, 241, 237];
const ground = (node) => {
  const layers = [];
  for (let each = node; each && each !== document.body; each = each.parentElement) {
    const style = getComputedStyle(each);
    if (style.backgroundImage !== 'none' && each !== document.documentElement) return null;
    const colour = parse(style.backgroundColor);
    if (colour[3] > 0) layers.push(colour);
    if (colour[3] === 1) break;
  }
  return layers.reverse().reduce((below, layer) => over(layer, below), base);
};
const bad = [];
let count = 0;
const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
while (walker.nextNode()) {
  const node = walker.currentNode.parentElement;
  if (!walker.currentNode.data.trim() || !node.checkVisibility({ visibilityProperty: true, opacityProperty: true })) continue;
  if (node.closest('[inert], :disabled, .springboard, .cover, .banner, .announcer, noscript, option, .starting, .status-bar, .skip')) continue;
  const style = getComputedStyle(node);
  const below = ground(node);
  if (!below) continue;
  let opacity = 1;
  for (let each = node; each; each = each.parentElement) opacity *= Number(getComputedStyle(each).opacity);
  const colour = parse(style.color);
  const text = over([...colour.slice(0, 3), colour[3] * opacity], below);
  const [a, b] = [light(text), light(below)].sort((x, y) => y - x);
  const ratio = (a + 0.05) / (b + 0.05);
  const size = parseFloat(style.fontSize);
  const large = size >= 24 || (size >= 18.66 && Number(style.fontWeight) >= 700);
  count += 1;
  if (ratio < (large ? 3 : 4.5)) bad.push(`${ratio.toFixed(2)} ${node.className || node.localName}: ${walker.currentNode.data.trim().slice(0, 30)}`);
}
return { count, bad: [...new Set(bad)] };
"""


def every_control_has_a_name(page, user):
    page.quiet()
    for tab in TABS:
        page.press(f"tab-{tab}")
        for way in ("way-push", "way-rich") if tab == "compose" else (None,):
            if way:
                page.press(way)
            tree = page.driver.execute_cdp_cmd("Accessibility.getFullAXTree", {})["nodes"]
            roles = [(node["role"]["value"], node.get("name", {}).get("value", "").strip()) for node in tree if not node.get("ignored")]
            controls = [each for each in roles if each[0] in OPERATED]
            if len(controls) < 15:
                raise Failure(f"only {len(controls)} controls are exposed in {tab}")
            nameless = [role for role, name in controls if not name]
            if nameless:
                raise Failure(f"controls without a name in {tab}: {nameless}")
            if not {"main", "tablist", "tabpanel"} <= {role for role, _ in roles}:
                raise Failure(f"landmarks or tabs are missing in {tab}")


def the_page_is_well_formed(page, user):
    page.press("phones-all")
    faults = page.driver.execute_script("""
      const ids = [...document.querySelectorAll('[id]')].map(({ id }) => id);
      const twice = ids.filter((id, index) => ids.indexOf(id) !== index);
      const lost = [...document.querySelectorAll('[aria-controls], [aria-describedby], [aria-labelledby], label[for]')]
        .flatMap((node) => ['aria-controls', 'aria-describedby', 'aria-labelledby', 'for'].flatMap((name) => (node.getAttribute(name) || '').split(' ')))
        .filter((id) => id && !document.getElementById(id));
      const pictures = [...document.querySelectorAll('img:not([alt])')].map(({ src }) => src);
      const positive = [...document.querySelectorAll('[tabindex]')].filter(({ tabIndex }) => tabIndex > 0).length;
      return [...twice.map((id) => `id ${id} twice`), ...lost.map((id) => `no element ${id}`), ...pictures,
        document.querySelectorAll('h1').length === 1 ? null : 'not one h1', document.documentElement.lang ? null : 'no language',
        positive ? 'a tabindex above 0' : null].filter(Boolean)""")
    page.turn_to(1)
    if faults:
        raise Failure("; ".join(faults))


def contrast(page, name):
    found = page.driver.execute_script(CONTRAST)
    if found["count"] < 20:
        raise Failure(f"only {found['count']} texts were checked in {name}")
    if found["bad"]:
        raise Failure(f"too little contrast in {name}: " + "; ".join(found["bad"][:12]))


def text_can_be_read_in_dark_and_light(page, user):
    for scheme in ("light", "dark"):
        page.media(prefers_color_scheme=scheme)
        for tab in TABS:
            page.press(f"tab-{tab}")
            page.settled()
            contrast(page, f"{tab}, {scheme}")
        page.press("way-push")
        page.press("template-full-of-mistakes")
        page.wait("the findings", lambda: len(page.all("finding")) >= 5)
        page.settled()
        contrast(page, f"pushes by hand, {scheme}")
        page.press("way-rich")
    page.media(prefers_color_scheme="light")


def active(page):
    return page.driver.execute_script("return document.activeElement?.dataset.testid || document.activeElement?.localName")


def press_keys(page, *keys):
    ActionChains(page.driver).send_keys(*keys).perform()


def tab_to(page, wanted, limit=140):
    """Tab until the element with this test id has the focus; each stop on the way must show that it has it."""
    for _ in range(limit):
        press_keys(page, Keys.TAB)
        shows = page.driver.execute_script("""
          const node = document.activeElement;
          if (!node || node === document.body) return true;
          const style = getComputedStyle(node);
          const ring = style.outlineStyle !== 'none' && parseFloat(style.outlineWidth) >= 2;
          const frame = node.closest('label, form') && getComputedStyle(node.closest('.expanded-reply, label') || node);
          return ring || node.classList.contains('skip') || Boolean(node.closest('.field-group')) || Boolean(frame && frame.boxShadow !== 'none')""")
        if not shows:
            raise Failure(f"the focus on {active(page)} cannot be seen")
        if active(page) == wanted:
            return
    raise Failure(f"Tab does not reach {wanted}")


def from_the_top(page):
    """Reloads the page: a browser continues Tab from the last position, even when nothing has the focus."""
    page.driver.refresh()
    page.see("tab-story")
    page.wait("the page to be live", lambda: "open" in page.see("connection").get_attribute("class").split())


def the_keyboard_does_it_all(page, user):
    """From the top of the page: to the tools, to another tab, a push, and back to the phone to open it."""
    page.press("control-open")
    page.quiet()
    from_the_top(page)
    press_keys(page, Keys.TAB)
    if page.driver.execute_script("return document.activeElement.className") != "skip":
        raise Failure("the first stop is not the way past the top")
    tab_to(page, "switch-offline")
    tab_to(page, "tab-story")
    press_keys(page, Keys.ARROW_RIGHT)
    page.wait("the next tab", lambda: active(page) == "tab-timeline" and page.find("panel-timeline"))
    press_keys(page, Keys.END)
    page.wait("the last tab", lambda: active(page) == "tab-compose" and page.find("panel-compose"))
    tab_to(page, "rich-message")
    press_keys(page, " By keyboard alone.")
    tab_to(page, "rich-send")
    press_keys(page, Keys.ENTER)
    page.see("alert", what="the alert of a push that was sent by keyboard")
    page.wait("the role for screen readers", lambda: page.driver.execute_script(
        "return document.querySelector('[data-testid=\"alert\"]').getAttribute('role') === 'alertdialog'"))
    if active(page) in ("alert-more", "alert-ok"):
        raise Failure("the alert takes the focus away from the form in use")
    # Until the alert's animation has ended it may still take the focus from an element of the phone.
    page.settled()
    page.driver.execute_script("document.getElementById('phone').focus()")
    tab_to(page, "alert-ok", limit=12)
    tab_to(page, "alert-more", limit=2)
    press_keys(page, Keys.ENTER)
    page.see("content", '[data-state="ready"]')
    page.quiet()


def focus(page, test_id):
    page.see(test_id)
    page.driver.execute_script("arguments[0].focus()", page.find(test_id))
    has_focus(page, test_id)


def has_focus(page, *wanted):
    page.wait(f"the focus on {' or '.join(wanted)}, not on {active(page)}", lambda: active(page) in wanted)


def keyed(page, key, *wanted):
    """Presses a key; what it does to the phone takes the focus there."""
    press_keys(page, key)
    has_focus(page, *wanted)


def the_focus_goes_with_the_phone(page, user):
    page.press("control-home")
    page.see("app-icon")
    from_the_top(page)
    focus(page, "app-icon")
    keyed(page, Keys.ENTER, "send-push")
    keyed(page, Keys.ENTER, "alert-more")
    keyed(page, Keys.ESCAPE, "send-push")
    page.gone("alert")
    keyed(page, Keys.ENTER, "alert-more")
    keyed(page, Keys.ENTER, "content-back")
    page.see("content", '[data-state="ready"]')
    focus(page, "picture-zoom")
    keyed(page, Keys.ENTER, "zoom-close")
    keyed(page, Keys.ESCAPE, "picture-zoom")
    page.gone("zoomed-image")
    focus(page, "content-back")
    keyed(page, Keys.ENTER, "send-push")
    tab_to(page, "inbox-row", limit=5)
    keyed(page, Keys.ENTER, "content-back")
    keyed(page, Keys.ENTER, "inbox-row")
    focus(page, "status-time")
    keyed(page, Keys.ENTER, "notice-open", "cover-leave")
    keyed(page, Keys.ESCAPE, "status-time")
    focus(page, "home-indicator")
    keyed(page, Keys.ENTER, "app-icon")


def a_held_notification_gives_the_focus_back(page, user):
    send_from_elsewhere(page, "bob", {"message": "Held by key", "audience": f"username:{user}"})
    page.see("banner")
    focus(page, "status-time")
    keyed(page, Keys.ENTER, "notice-open")
    page.wait("the notification in the list", lambda: "Held by key" in "".join(page.texts("notice")))
    focus(page, "notice-expand")
    keyed(page, Keys.ENTER, "notice-more")
    if page.find("notice-open"):
        raise Failure("what lies behind the notification that is held open can be reached")
    focus(page, "notice-reply")
    keyed(page, Keys.ENTER, "reply-text")
    keyed(page, Keys.ESCAPE, "notice-expand")
    page.gone("expanded-notice")
    keyed(page, Keys.ESCAPE, "status-time")
    page.gone("notification-centre")


def options_end_with_escape(page, user):
    focus(page, "app-icon")
    keyed(page, Keys.ENTER, "send-push", "inbox-row")
    focus(page, "options-open")
    press_keys(page, Keys.ENTER)
    page.wait("the focus in the options", lambda: (active(page) or "").startswith("kind-"))
    keyed(page, Keys.ARROW_RIGHT, "kind-sound")
    keyed(page, Keys.ARROW_LEFT, "kind-img")
    keyed(page, Keys.ARROW_UP, "kind-text")
    # The focus moves before the page is drawn again.
    page.wait("the kind that the arrow reached to be the only one chosen", lambda: page.driver.execute_script(
        "return [...document.querySelectorAll('.kinds [aria-checked=\"true\"][tabindex=\"0\"]')].map((each) => each.dataset.testid)"
    ) == ["kind-text"])
    keyed(page, Keys.ARROW_DOWN, "kind-img")
    keyed(page, Keys.TAB, "style-default")
    keyed(page, Keys.ESCAPE, "options-open")
    page.gone("options-done")
    page.press("options-open")
    page.see("options-done")
    page.driver.execute_script("document.querySelector('.sheet-back').click()")
    page.gone("options-done")


def escape_reaches_a_question_from_the_switches(page, user):
    send_from_elsewhere(page, user, {"message": "A question"})
    page.see("alert")
    focus(page, "control-quit")
    press_keys(page, Keys.ESCAPE)
    page.gone("alert")
    has_focus(page, "control-quit")
    claimed = page.driver.execute_script("return document.querySelectorAll('[aria-modal=\"true\"]').length")
    if claimed:
        raise Failure("a dialog on the phone says that nothing beside it can be used")


def every_kind_is_drawn_on_a_ground(page, user):
    bare = page.driver.execute_script("""
      const list = document.querySelector('.device .screen');
      return ['img', 'sound', 'video', 'url', 'coupon', 'text', 'file', 'sealed', 'some-later-kind'].filter((kind) => {
        const node = list.appendChild(document.createElement('span'));
        node.className = `row-thumb drawn kind-${kind}`;
        const { backgroundImage, backgroundColor } = getComputedStyle(node);
        node.remove();
        return backgroundImage === 'none' && backgroundColor === 'rgba(0, 0, 0, 0)';
      })""")
    if bare:
        raise Failure(f"drawn white on nothing: {bare}")


def nothing_holds_the_focus(page, user):
    """Tab goes round: from the top through everything, out at the end."""
    from_the_top(page)
    seen = []
    for _ in range(250):
        press_keys(page, Keys.TAB)
        where = page.driver.execute_script("return document.activeElement === document.body ? 'end' : document.activeElement.className")
        if where == "end" or (where == "skip" and len(seen) > 5):
            return
        seen.append(where)
    raise Failure("Tab does not come to an end")


def motion_can_be_reduced(page, user):
    page.media(prefers_reduced_motion="reduce")
    page.press("control-lock")
    page.see("lock-screen")
    moving = page.driver.execute_script("""
      return document.getAnimations().filter((each) => each.effect.getComputedTiming().activeDuration > 20).map((each) => each.animationName || each.transitionProperty)""")
    page.press("control-lock")
    page.media(prefers_color_scheme="light")
    if moving:
        raise Failure(f"still moving: {moving}")


def notifications_are_announced(page, user):
    page.press("control-home")
    page.see("app-icon")
    page.press("tab-compose")
    page.press("way-push")
    page.press("template-alert")
    page.press("push-send")
    page.wait("the text in the live region", lambda: "Harbour" in page.driver.execute_script(
        "return document.querySelector('#announcer[aria-live=\"polite\"]').textContent"))


STEPS = [
    every_control_has_a_name, the_page_is_well_formed, text_can_be_read_in_dark_and_light, the_keyboard_does_it_all,
    the_focus_goes_with_the_phone, a_held_notification_gives_the_focus_back, options_end_with_escape,
    escape_reaches_a_question_from_the_switches, every_kind_is_drawn_on_a_ground, nothing_holds_the_focus, motion_can_be_reduced, notifications_are_announced,
]
