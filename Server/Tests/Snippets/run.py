"""Runs every program of Documentation/SendFromYourService.md against a server, as it stands on the page.

Usage: CLARION_SERVER_URL=… CLARION_KEY=… run.py PAGE
Each has to end with 0 and to print the id of a send that the server knows. Go may be missing, and then its program is skipped;
everything else has to be there.
"""

import os
import re
import shutil
import struct
import subprocess
import sys
import tempfile
import urllib.request
import zlib

# What a fence calls its language: the file that the program becomes, and the commands that make and run it.
LANGUAGES = {
    "bash": ("program.sh", [["bash", "-euo", "pipefail", "program.sh"]]),
    "python": ("program.py", [[sys.executable, "program.py"]]),
    "javascript": ("program.mjs", [["node", "program.mjs"]]),
    "go": ("program.go", [["go", "run", "program.go"]]),
    "swift": ("main.swift", [["swiftc", "-swift-version", "6", "main.swift", "-o", "program"], ["./program"]]),
}
TOOLS = {"bash": "curl", "python": sys.executable, "javascript": "node", "go": "go", "swift": "swiftc"}


def picture():
    """A PNG of one pixel."""

    def chunk(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    header = struct.pack(">IIBBBBB", 1, 1, 8, 2, 0, 0, 0)
    pixels = zlib.compress(b"\x00\x20\x60\xa0")
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", pixels) + chunk(b"IEND", b"")


def blocks(text):
    """The programs of the page in their order: language, line, text."""
    for found in re.finditer(r"^```(\w+)\n(.*?)^```$", text, re.MULTILINE | re.DOTALL):
        yield found[1], text.count("\n", 0, found.start()) + 1, found[2]


def is_known(number):
    """Whether the server has a send of this id that is the key's."""
    request = urllib.request.Request(
        f"{os.environ['CLARION_SERVER_URL']}/api/v1/notifications/{number}/status",
        headers={"Authorization": "Bearer " + os.environ["CLARION_KEY"]})
    with urllib.request.urlopen(request, timeout=30) as answer:
        return answer.status == 200


def fault(language, text):
    """Runs one program; what is wrong with it, or None."""
    name, commands = LANGUAGES[language]
    with tempfile.TemporaryDirectory() as folder:
        with open(os.path.join(folder, name), "w", encoding="utf-8") as file:
            file.write(text)
        with open(os.path.join(folder, "chart.png"), "wb") as file:
            file.write(picture())
        # Go keeps its cache at home, and refuses to run without one.
        environment = {"HOME": folder, **os.environ}
        for command in commands:
            try:
                done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, timeout=300)
            except subprocess.TimeoutExpired:
                return "it did not end within 300 seconds"
            if done.returncode != 0:
                return f"{command[0]} ended with {done.returncode}\n{done.stdout}{done.stderr}"
    found = re.search(r'"id":"(\d+)"|\bsent (\d+):', done.stdout)
    if not found:
        return f"it printed no id: {done.stdout!r}"
    try:
        is_known(found[1] or found[2])
    except OSError as error:
        return f"the server does not know the send that it printed: {error}"
    return None


def main():
    with open(sys.argv[1], encoding="utf-8") as page:
        programs = list(blocks(page.read()))
    faults = [f"the page has no program in {language}" for language in sorted(set(LANGUAGES) - {found[0] for found in programs})]
    for language, line, text in programs:
        if language not in LANGUAGES:
            faults.append(f"line {line}: no way to run {language} is known")
        elif shutil.which(TOOLS[language]) is None:
            faults.append(f"line {line}: {TOOLS[language]} is missing")
        else:
            found = fault(language, text)
            print(f"{language} of line {line}: {'failed' if found else 'works'}", flush=True)
            if found:
                faults.append(f"line {line}, {language}: {found}")
    for found in faults:
        print(found, file=sys.stderr)
    return 1 if faults else 0


sys.exit(main())
