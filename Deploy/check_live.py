"""Checks the metrics of a running node, asks a running Prometheus what the alert rules and the dashboard ask, and reads what the
node sends to the service manager.

Usage: check_live.py PROGRAM
"""

import base64
import contextlib
import json
import os
import re
import socket
import subprocess
import sys
import tempfile
import threading
import time
import urllib.error
import urllib.parse
import urllib.request
from pathlib import Path

import metrics
import yaml

PASSWORD = "a long password of the operator"
# Each wait ends after so many seconds, with an error.
TIMEOUT = 60
# What a fresh node with SQLite and without APNs has nothing to say of yet.
LATER = {
    "clarion_nodes", "clarion_apns_round_trip_seconds", "clarion_apns_token_age_seconds", "clarion_push_retries_total",
    "clarion_slices_leased", "clarion_pushes_in_flight", "clarion_sends_ended_total",
    "clarion_http_request_errors_total", "clarion_push_doubtful_retries_total",
    "clarion_apns_clients", "clarion_apns_connections",
    "clarion_apns_stream_limit", "clarion_apns_streams", "clarion_apns_window_bytes", "clarion_apns_queued_pushes",
    "clarion_apns_connections_made_total", "clarion_apns_goaways_total",
    "clarion_apns_stream_resets_total", "clarion_apns_resends_total",
}


def free_port():
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


def fetch(url, body=None, **headers):
    request = urllib.request.Request(url, data=body, headers=headers)
    with urllib.request.urlopen(request, timeout=10) as answer:
        return answer.read().decode()


def waited_for(what, attempt):
    """The first answer of `attempt` that is not None."""
    end = time.monotonic() + TIMEOUT
    while time.monotonic() < end:
        with contextlib.suppress(urllib.error.URLError, ConnectionError):
            if (answer := attempt()) is not None:
                return answer
        time.sleep(0.1)
    raise SystemExit(f"check-operation: {what} did not come in {TIMEOUT} seconds")


@contextlib.contextmanager
def running(arguments, log, **environment):
    with open(log, "w") as output:
        process = subprocess.Popen(arguments, stdout=output, stderr=subprocess.STDOUT, env={**os.environ, **environment})
    try:
        yield process
    except BaseException:
        print(log.read_text()[-4000:], file=sys.stderr)
        raise
    finally:
        process.terminate()
        process.wait(timeout=TIMEOUT)


def use(address):
    """Leaves traces in the metrics of HTTP, the database and the content store."""
    password = base64.b64encode(f"ops:{PASSWORD}".encode()).decode()
    headers = {"Authorization": f"Basic {password}"}
    fetch(address + "/readyz")
    send = json.dumps({"message": "a test", "audience": "nobody"}).encode()
    fetch(address + "/api/v1/notifications", send, **headers, **{"Content-Type": "application/json"})


def check_scrape(text):
    """Whether the metrics are those of the page, by name, type and labels."""
    lint = subprocess.run(["promtool", "check", "metrics"], input=text, capture_output=True, text=True)
    if lint.returncode or lint.stdout or lint.stderr:
        yield f"promtool check metrics: {lint.stdout}{lint.stderr}"
    table = metrics.table()
    scraped = dict(re.findall(r"^# TYPE (\S+) (\S+)$", text, re.MULTILINE))
    for name, kind in scraped.items():
        if table.get(name, (None,))[0] != kind:
            yield f"{name} is scraped as a {kind}, which is not what the page says"
    for name in sorted(set(table) - set(scraped) - LATER):
        yield f"{name} is not scraped"
    for series, labels in re.findall(r"^([a-z_]+)\{(.*)\} \S+$", text, re.MULTILINE):
        name = series if series in table else re.sub(r"_(bucket|sum|count)$", "", series)
        found = set(re.findall(r'([a-z_]+)="', labels)) - {"le"}
        if name in table and found != table[name][1]:
            yield f"{series} is scraped with the labels {sorted(found)}, which is not what the page says"
    return scraped


def check_queries(prometheus, scraped):
    """Whether Prometheus understands every expression, and finds what was scraped."""

    def asked(expression):
        query = urllib.parse.urlencode({"query": metrics.filled(expression)})
        try:
            return json.loads(fetch(f"{prometheus}/api/v1/query?{query}"))
        except urllib.error.HTTPError as error:
            return json.loads(error.read().decode())

    for place, expression in metrics.expressions():
        answer = asked(expression)
        if answer["status"] != "success":
            yield f"{place}: {answer['error']}"
            continue
        names = {re.sub(r"_(bucket|sum|count)$", "", name) for name in re.findall(r"\b((?:clarion|process)_[a-z_]+)", expression)}
        if place.startswith(metrics.DASHBOARD.name) and names <= scraped and not answer["data"]["result"]:
            yield f"{place}: nothing comes back of {expression}"


def rules_health(prometheus):
    """The health of all rules once each was evaluated."""
    groups = json.loads(fetch(f"{prometheus}/api/v1/rules"))["data"]["groups"]
    health = {rule["name"]: (rule["health"], rule.get("lastError", "")) for group in groups for rule in group["rules"]}
    return health if health and all(state != "unknown" for state, _ in health.values()) else None


def scrapes(prometheus):
    """Not None once there are enough scrapes for a rate."""
    query = urllib.parse.urlencode({"query": 'count_over_time(up{job="clarion"}[1m]) >= 3 and up == 1'})
    return json.loads(fetch(f"{prometheus}/api/v1/query?{query}"))["data"]["result"] or None


@contextlib.contextmanager
def service_manager(path):
    """A socket as systemd has one; what was sent to it when the block has ended, in order."""
    messages = []
    has_ended = threading.Event()

    def read(listener):
        # Read as it comes: the system keeps ten datagrams at most.
        while True:
            # What was sent before the end is there, so that a look after the end finds it.
            is_last = has_ended.is_set()
            with contextlib.suppress(TimeoutError):
                while True:
                    messages.append(listener.recv(1024).decode())
            if is_last:
                return

    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as listener:
        listener.bind(str(path))
        listener.settimeout(0.1)
        reader = threading.Thread(target=read, args=[listener])
        reader.start()
        try:
            yield messages
        finally:
            has_ended.set()
            reader.join()


def check_messages(messages):
    """Whether the node was ready once, alive several times, and said that it stops before it did."""
    others = [message for message in messages if message != "WATCHDOG=1"]
    if others != ["READY=1", "STOPPING=1"]:
        yield f"the service manager got {others}"
    if messages.count("WATCHDOG=1") < 3:
        yield f"the watchdog was called {messages.count('WATCHDOG=1')} times"


def main(program):
    problems = []
    with tempfile.TemporaryDirectory(prefix="clarion-operation-") as folder:
        # The node ends before its messages are read.
        with service_manager(Path(folder) / "notify") as messages:
            problems += check_node(program, Path(folder))
        problems += check_messages(messages)
    for problem in problems:
        print(problem, file=sys.stderr)
    if not problems:
        print("Metrics, alert rules, dashboard and service manager are in order")
    return 1 if problems else 0


def run_health_check(port):
    """Whether the health check that the compose file has for nodes passes at a port of this machine."""
    node = yaml.safe_load((metrics.HERE / "compose.yaml").read_text())["services"]["node-1"]
    command = [word.replace("/8080", f"/{port}") for word in node["healthcheck"]["test"]]
    assert command[0] == "CMD"
    return subprocess.run(command[1:], capture_output=True, timeout=TIMEOUT).returncode == 0


def check_node(program, folder):
    problems = []
    with contextlib.ExitStack() as stack:
        if run_health_check(free_port()):
            problems.append("the health check of compose.yaml takes a port without a listener for a node")
        port, own = free_port(), free_port()
        settings = {
            "CLARION_DATA_DIRECTORY": str(folder / "data"), "CLARION_LISTEN_PORT": "0", "CLARION_METRICS_PORT": str(port),
        }
        watched = {"NOTIFY_SOCKET": str(folder / "notify"), "WATCHDOG_USEC": "3000000"}
        subprocess.run(
            [program, "init", "--administrator", "ops", "--config", str(folder / "clarion.yaml")], input=PASSWORD + "\n",
            env={**os.environ, **settings}, check=True, capture_output=True, text=True)
        stack.enter_context(running([program, "serve"], folder / "serve.log", **settings, **watched))
        found = lambda: re.search(r"^Listening on (http:\S+)", (folder / "serve.log").read_text(), re.MULTILINE)
        address = waited_for("the node", found).group(1)
        if not run_health_check(address.rsplit(":", 1)[1]):
            problems.append("the health check of compose.yaml fails on a node that is ready")
        use(address)
        # The levels are read every five seconds: the second reading knows of what was done before.
        ready = lambda: text if "clarion_sends_accepted_total 1" in (text := fetch(f"http://127.0.0.1:{port}/metrics")) else None
        waited_for("the metrics of the send", ready)
        configuration = {
            "global": {"scrape_interval": "1s", "evaluation_interval": "1s"},
            "rule_files": [str(metrics.RULES.resolve())],
            "scrape_configs": [{"job_name": "clarion", "static_configs": [{"targets": [f"127.0.0.1:{port}"]}]}],
        }
        (folder / "prometheus.yaml").write_text(json.dumps(configuration))
        arguments = [
            "prometheus", f"--config.file={folder}/prometheus.yaml", f"--storage.tsdb.path={folder}/series",
            f"--web.listen-address=127.0.0.1:{own}",
        ]
        stack.enter_context(running(arguments, folder / "prometheus.log"))
        prometheus = f"http://127.0.0.1:{own}"
        waited_for("Prometheus with three scrapes", lambda: scrapes(prometheus))
        text = fetch(f"http://127.0.0.1:{port}/metrics")
        problems += check_scrape(text)
        problems += check_queries(prometheus, set(re.findall(r"^# TYPE (\S+)", text, re.MULTILINE)))
        for name, (state, error) in waited_for("the rules", lambda: rules_health(prometheus)).items():
            if state != "ok":
                problems.append(f"{metrics.RULES.name}: {name}: {error}")
    return problems


sys.exit(main(sys.argv[1]))
