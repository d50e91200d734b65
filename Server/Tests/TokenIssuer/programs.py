"""Clarion's own programs as processes: started with settings of their own, found by what they print, and ended in order."""

import os
import re
import signal
import subprocess
import time


class Program:
    """One process whose output goes to a file."""

    def __init__(self, log, arguments, settings=None):
        self.log, self.begin = log, os.path.getsize(log) if os.path.exists(log) else 0
        environment = {name: value for name, value in os.environ.items() if not name.startswith("CLARION_")}
        environment.update(settings or {})
        with open(log, "a", encoding="utf-8") as output:
            # To a file the output would come in blocks, and the address at the end.
            self.process = subprocess.Popen(
                ["stdbuf", "-oL", *arguments], env=environment, stdout=output, stderr=subprocess.STDOUT)

    def text(self):
        """What this process wrote so far."""
        with open(self.log, encoding="utf-8", errors="replace") as file:
            file.seek(self.begin)
            return file.read()

    def printed(self, pattern):
        """Waits for text that fits, and returns its first group."""
        deadline = time.monotonic() + 60
        while True:
            found = re.search(pattern, self.text())
            if found:
                return found[1]
            if self.process.poll() is not None or time.monotonic() > deadline:
                raise SystemExit(f"{self.process.args[2:4]} did not print {pattern!r}:\n{self.text()}")
            time.sleep(0.05)

    def stop(self):
        """Ends it as an operator would."""
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
            try:
                self.process.wait(timeout=20)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()
