#!/usr/bin/python3
"""Drives the page of the simulated phones in Debian's chromium, as a user does.

    /usr/bin/python3 phone_page.py BASE_URL SCREENSHOT_FOLDER [--user NAME] [--only SUBJECT ... | --until STEP]

Needs: apt-get install chromium chromium-driver python3-selenium. Exits 0 when everything works, 1 with the first step
that does not, 2 when the browser itself cannot be started. The subjects are the modules of `phonepage`; each begins where the
one before ended, so `--only` runs the first minute too. `--until` ends with a step of the first minute.
"""

import argparse
import pathlib
import sys
import traceback

# Nothing is left beside the sources.
sys.dont_write_bytecode = True

try:
    from selenium.common.exceptions import WebDriverException
except ImportError:
    sys.exit("phone_page.py needs selenium: apt-get install python3-selenium chromium-driver")

from phonepage import access, activities, android, composing, console, everyday, first_minute, phones, pictures, reference, replies, small, states, this_browser, timeline
from phonepage.page import Failure, Page, browser

SUBJECTS = [first_minute, phones, composing, replies, states, activities, timeline, access, this_browser, everyday, small, pictures, reference, android, console]


def nothing_broke(page, user):
    # A refusal that was meant may be logged by the browser as a failed load; scripts and the content policy must not complain.
    lines = [entry["message"] for entry in page.driver.get_log("browser") if entry["level"] == "SEVERE"]
    lines = [line for line in lines if "Failed to load resource" not in line]
    if lines:
        raise Failure("the browser's console reports: " + "; ".join(lines))


def run(page, subject, user, last=None):
    """Runs the steps of a subject, up to the one named `last`; the sentence about the first that fails, or `None`."""
    names = [step.__name__ for step in subject.STEPS]
    for step in [*subject.STEPS[:names.index(last) + 1 if last else None], nothing_broke]:
        name = step.__name__.replace("_", " ")
        try:
            step(page, user)
        except Exception as error:
            try:
                page.driver.save_screenshot(str(page.folder / "failure.png"))
                (page.folder / "failure.html").write_text(page.driver.page_source)
            except WebDriverException:
                pass
            if not isinstance(error, (Failure, WebDriverException)):
                traceback.print_exc()
            return f"{subject.__name__.split('.')[-1]}: {name}: {error or type(error).__name__}"
        print(f"ok: {name}", flush=True)
    return None


def main():
    parser = argparse.ArgumentParser(description="Drives the page of the simulated phones as a user does.")
    parser.add_argument("base", help="for example http://127.0.0.1:8080")
    parser.add_argument("folder", type=pathlib.Path, help="where the screenshots go")
    parser.add_argument("--user", default="alice")
    parser.add_argument("--only", nargs="*", help="subjects to run after the first minute")
    parser.add_argument("--until", choices=[step.__name__ for step in first_minute.STEPS], help="the last step of the first minute")
    arguments = parser.parse_args()
    arguments.folder.mkdir(parents=True, exist_ok=True)
    try:
        driver = browser()
    except WebDriverException as error:
        print(f"chromium cannot be started: {error}", file=sys.stderr)
        return 2
    page = Page(driver, arguments.base, arguments.folder)
    page.size(1280, 900)
    wanted = None if arguments.only is None and not arguments.until else {"first_minute", *(arguments.only or [])}
    count = 0
    try:
        for subject in SUBJECTS:
            if wanted is not None and subject.__name__.split(".")[-1] not in wanted:
                continue
            fault = run(page, subject, arguments.user, arguments.until if subject is first_minute else None)
            if fault:
                print(f"FAILED: {fault}", file=sys.stderr)
                return 1
            count += len(subject.STEPS) + 1
        print(f"{count} steps passed")
        return 0
    finally:
        driver.quit()


if __name__ == "__main__":
    sys.exit(main())
