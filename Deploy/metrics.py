"""What the alert rules and the dashboard ask Prometheus, and the table of metrics that they may ask for."""

import json
import re
from pathlib import Path

import yaml

HERE = Path(__file__).parent
RULES = HERE / "prometheus" / "rules.yaml"
DASHBOARD = HERE / "grafana" / "clarion.json"
PAGE = HERE.parent / "Documentation" / "Metrics.md"
# Prometheus itself writes this one for each target.
OF_PROMETHEUS = {"up"}
SUFFIXES = {"counter": [""], "gauge": [""], "histogram": ["_bucket", "_sum", "_count"]}


def table():
    """The metrics of the page, which a test compares with the code: name to (type, labels)."""
    rows = re.findall(r"^\| `([a-z_]+)` \| (counter|gauge|histogram) \| [a-z]+ \| ([^|]*) \|", PAGE.read_text(), re.MULTILINE)
    return {name: (kind, set(re.findall(r"`([a-z]+)`", labels))) for name, kind, labels in rows}


def expressions():
    """Every expression with the place where it stands."""
    for group in yaml.safe_load(RULES.read_text())["groups"]:
        for rule in group["rules"]:
            yield f"{RULES.name}: {rule['alert']}", rule["expr"]
    for panel in json.loads(DASHBOARD.read_text())["panels"]:
        for target in panel.get("targets", []):
            yield f"{DASHBOARD.name}: {panel['title']}", target["expr"]


def filled(expression):
    """The expression as Grafana would ask it for all nodes."""
    for name, value in (("$__rate_interval", "1m"), ("$job", ".*"), ("$instance", ".*")):
        expression = expression.replace(name, value)
    return expression


def problems():
    """What is asked for and is in no table, what nothing asks for, and panels that lie on one another."""
    known = table()
    if len(known) < 40:
        yield f"{PAGE.name} names only {len(known)} metrics"
    series = {name + suffix: name for name, (kind, _) in known.items() for suffix in SUFFIXES[kind]}
    unasked = set(known)
    for place, expression in expressions():
        found = re.findall(r"\b((?:clarion|process)_[a-z_]+|up)\s*[{\[]", expression)
        if not found:
            yield f"{place}: no metric is asked for"
        for name in found:
            if name not in series and name not in OF_PROMETHEUS:
                yield f"{place}: {name} is no metric"
            unasked.discard(series.get(name))
        labels = set().union({"job", "instance", "le"}, *(known[series[name]][1] for name in found if name in series))
        asked = re.findall(r"([a-z_]+)\s*(?:=~|!~|!=|=)\s*\"", expression)
        for words in re.findall(r"\b(?:by|on) \(([^)]*)\)", expression):
            asked += [word.strip() for word in words.split(",")]
        for label in asked:
            if label not in labels:
                yield f"{place}: no metric has the label {label}"
    for name in sorted(unasked):
        yield f"{DASHBOARD.name}: neither a panel nor an alert asks for {name}"
    yield from overlaps()


def overlaps():
    """Panels that lie on another one."""
    taken = {}
    for panel in json.loads(DASHBOARD.read_text())["panels"]:
        at = panel["gridPos"]
        cells = {(x, y) for x in range(at["x"], at["x"] + at["w"]) for y in range(at["y"], at["y"] + at["h"])}
        for other in sorted({taken[cell] for cell in cells if cell in taken}):
            yield f"{DASHBOARD.name}: {panel['title']} lies on {other}"
        taken |= dict.fromkeys(cells, panel["title"])
