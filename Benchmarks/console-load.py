#!/usr/bin/python3
"""Measures what open screens of the console cost the program that serves them, with Debian's chromium.

    console-load.py PROGRAM [SECONDS]

Starts the demo, signs in by the page of the simulated phones, and opens three screens in windows of their own. The processor time of
the demo meanwhile is compared with that of as long a time without an open window, before and after. Exits 1 when the aim is missed.
"""

import contextlib
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import time

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "Server/Tests/Browser"))

from phonepage.page import Page, browser  # noqa: E402

SCREENS = ["home", "sends", "health"]
# Percent of a core.
AIM = 2.0


@contextlib.contextmanager
def demo(program):
    """The process of a demo, and the address that it prints."""
    with tempfile.TemporaryDirectory() as folder:
        process = subprocess.Popen(
            ["stdbuf", "-oL", program, "demo", "--port", "0", "--directory", f"{folder}/demo"], stdout=subprocess.PIPE, text=True)
        try:
            yield process, next(found[1] for line in process.stdout if (found := re.search(r"(http://\S*)/phone", line)))
        finally:
            process.terminate()
            process.wait(timeout=30)


def processor_seconds(pid):
    # The name of the program stands in parentheses and may hold spaces.
    fields = pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def percent(pid, seconds):
    start, before = time.monotonic(), processor_seconds(pid)
    time.sleep(seconds)
    return (processor_seconds(pid) - before) / (time.monotonic() - start) * 100


def measure(base, pid, seconds):
    """Percent of a core before, while and after the screens are open."""
    with contextlib.ExitStack() as windows:
        addresses, pages = [], []
        for screen in SCREENS:
            driver = browser()
            windows.callback(driver.quit)
            page = Page(driver, base, pathlib.Path("."))
            page.size(1280, 900)
            driver.get(base + "/phone")
            page.press("console")
            page.press(f"to-{screen}")
            heading = "return document.querySelector('#main h1')?.textContent"
            page.wait(f"the screen {screen}", lambda: driver.execute_script(heading) == screen.capitalize())
            addresses.append(driver.current_url)
            pages.append(page)
        figures = []
        for shown in (["about:blank"] * len(pages), addresses, ["about:blank"] * len(pages)):
            for page, address in zip(pages, shown):
                page.driver.get(address)
            # What loading costs is not what an open screen costs.
            time.sleep(5)
            figures.append(percent(pid, seconds))
        return figures


def main():
    seconds = float(sys.argv[2]) if len(sys.argv) > 2 else 60
    with demo(sys.argv[1]) as (process, base):
        before, shown, after = measure(base, process.pid, seconds)
    cost = shown - (before + after) / 2
    print(f"no screen open: {before:.2f} % and {after:.2f} % of a core")
    print(f"{', '.join(SCREENS)} open: {shown:.2f} %")
    print(f"cost of the open screens: {cost:.2f} %, aim {AIM:.0f} %: {'reached' if cost < AIM else 'MISSED'}")
    return 0 if cost < AIM else 1


if __name__ == "__main__":
    sys.exit(main())
