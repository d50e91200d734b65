"""Runs the commands of the README's section "Run it for real" word for word, at a terminal and in the folder of a user.

Usage: scripts/page-commands README.md "Run it for real" | node.py FOLDER PREFIX...
FOLDER is that folder as this program sees it. PREFIX is what comes before a command of the user: it sets PATH, HOME and CLARION_LISTEN_PORT=0,
and begins in HOME. The last command, which sends, has a terminal of its own.
"""

import base64
import os
import pty
import re
import select
import signal
import subprocess
import sys
import time

PASSWORD = "a long password of the operator"
# What clarion init asks, and what the README's reader answers who only looks around.
ANSWERS = [
    ("Where is the signing key", ""), ("The id of that key", ""), ("The id of your team", ""), ("The bundle id", ""),
    ("certificate chain for HTTPS", ""), ("private key of that certificate", ""), ("The port for HTTPS", ""),
    # What does not fit is asked for again.
    ("address under which phones", "push.example.com"), ('the answer to "The address under which phones', ""),
    ("name of the first administrator", "o p s"), ("name of the first administrator", "ops"), ("New password:", "short"),
    ("New password:", PASSWORD), ("Once more:", PASSWORD + "!"), ("New password:", PASSWORD), ("Once more:", PASSWORD),
]
PICTURE = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPj/HwADBwIAMCbHYQAAAABJRU5ErkJggg=="


def fail(what, seen):
    sys.exit(f"{what}:\n{seen[-2000:]}")


class Terminal:
    """A command at a terminal of its own."""

    def __init__(self, command):
        self.seen = ""
        self.id, self.terminal = pty.fork()
        if self.id == 0:
            os.execvp(command[0], command)

    def wait(self, pattern, seconds=60):
        """What the pattern finds in what was written since the last wait."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            found = re.search(pattern, self.seen)
            if found:
                self.seen = self.seen[found.end():]
                return found
            if select.select([self.terminal], [], [], 0.2)[0]:
                try:
                    self.seen += os.read(self.terminal, 65536).decode(errors="replace")
                except OSError:
                    break
        fail(f"the commands of the README do not come to {pattern!r}", self.seen)

    def type(self, text):
        os.write(self.terminal, (text + "\n").encode())

    def stop(self):
        """Control-C, as the page says nothing else."""
        os.write(self.terminal, b"\x03")
        for _ in range(300):
            if os.waitpid(self.id, os.WNOHANG)[0]:
                return
            time.sleep(0.1)
        os.kill(self.id, signal.SIGKILL)
        fail("the server does not stop", self.seen)


def run(prefix, command, environment=(), words=""):
    done = subprocess.run(
        [*prefix, "env", *environment, "sh", "-c", command], input=words, capture_output=True, text=True, timeout=120, check=False)
    if done.returncode:
        fail(f"{command} ends with {done.returncode}", done.stdout + done.stderr)


def main(folder, prefix):
    commands = sys.stdin.read().splitlines()
    if len(commands) < 3 or not commands[-1].startswith("clarion send "):
        fail("the section has other commands than this test plays", "\n".join(commands))
    with open(os.path.join(folder, "cat.png"), "wb") as picture:
        picture.write(base64.b64decode(PICTURE))
    terminal = Terminal([*prefix, "sh", "-c", "\n".join(commands[:-1])])
    for question, answer in ANSWERS:
        terminal.wait(question)
        terminal.type(answer)
    address = terminal.wait(r"Listening on (http://\S+)")[1]
    run(prefix, "clarion user add alice --role sender --config clarion.yaml", words=PASSWORD + "\n")
    run(prefix, commands[-1], [f"CLARION_SERVER_URL={address}", f"CLARION_PASSWORD={PASSWORD}"])
    terminal.stop()
    print("the README's node was begun, started and sent with")


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2:])
