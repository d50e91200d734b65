"""Checks the manifests, the compose file, the alert rules and the dashboard, and that each setting and metric they name exists.

Usage: check.py SETTINGS-PAGE
"""

import ipaddress
import re
import subprocess
import sys
from pathlib import Path

import metrics
import yaml

HERE = Path(__file__).parent
MANIFESTS = HERE / "kubernetes" / "clarion.yaml"


def settings(page):
    return set(re.findall(r"^### `([a-z0-9-]+)`", Path(page).read_text(), re.MULTILINE))


def variables(known):
    names = {"CLARION_" + name.upper().replace("-", "_") for name in known}
    return names | {name + "_FILE" for name in names}


def named_in_manifests(problems, known):
    for document in yaml.safe_load_all(MANIFESTS.read_text()):
        for name, text in document.get("data", {}).items():
            for key in yaml.safe_load(text):
                if key not in known:
                    problems.append(f"{MANIFESTS.name}: {name}: {key} is no setting")
        for container in document.get("spec", {}).get("template", {}).get("spec", {}).get("containers", []):
            yield from (variable["name"] for variable in container.get("env", []))


def named_in_compose(problems):
    compose = yaml.safe_load((HERE / "compose.yaml").read_text())
    patterns = (HERE / "Containerfile.dockerignore").read_text().split() + (HERE.parent / ".gitignore").read_text().split()
    for wanted in ("**/secrets", "**/*.p8", "secrets/", "*.p8"):
        if wanted not in patterns:
            problems.append(f"{wanted} is not left out of the image's build and of git")
    for name, secret in compose["secrets"].items():
        if not secret["file"].startswith("secrets/"):
            problems.append(f"compose.yaml: the secret {name} does not lie in secrets/, which git and the image's build leave out")
    for name, service in compose["services"].items():
        for secret in service.get("secrets", []):
            if secret not in compose["secrets"]:
                problems.append(f"compose.yaml: {name} uses the secret {secret}, which is not there")
        for volume in service.get("volumes", []):
            if volume.split(":")[0] not in compose["volumes"]:
                problems.append(f"compose.yaml: {name} uses the volume {volume}, which is not there")
        if not service.get("healthcheck") and name != "bucket":
            problems.append(f"compose.yaml: {name} has no health check")
        # A version with two parts at least, or MinIO's with its moment.
        if not re.search(r":(\d+\.\d+[^:/]*|RELEASE\.[0-9TZ-]+)(@sha256:[0-9a-f]{64})?$", service["image"]) and "build" not in service:
            problems.append(f"compose.yaml: {name} has an image without an exact version: {service['image']}")
        for other in service.get("depends_on", []):
            if other not in compose["services"]:
                problems.append(f"compose.yaml: {name} waits for {other}, which is not there")
        if name.startswith("node-"):
            yield from service["environment"]


def check_store_key(problems):
    """The nodes have a key of their own, and the root key of the store is in no node."""
    services = yaml.safe_load((HERE / "compose.yaml").read_text())["services"]
    root = services["store"]["environment"]
    for name, service in services.items():
        if not name.startswith("node-"):
            continue
        if service["environment"]["CLARION_S3_KEY_ID"] == root["MINIO_ROOT_USER"]:
            problems.append(f"compose.yaml: {name} uses the root key of the store")
        if Path(root["MINIO_ROOT_PASSWORD_FILE"]).name in service["secrets"]:
            problems.append(f"compose.yaml: {name} can read the root secret of the store")


def check_manifests(problems):
    """What keeps the nodes of a cluster apart, reachable for few, and watched."""
    documents = [document for document in yaml.safe_load_all(MANIFESTS.read_text()) if document]

    def of(kind):
        found = [document for document in documents if document["kind"] == kind]
        if not found:
            raise SystemExit(f"{MANIFESTS.name}: there is no {kind}")
        return found

    nodes = of("StatefulSet")[0]["spec"]["template"]
    labels = nodes["metadata"]["labels"].items()
    container = nodes["spec"]["containers"][0]
    spread = [
        constraint for constraint in nodes["spec"].get("topologySpreadConstraints", [])
        if constraint["topologyKey"] == "kubernetes.io/hostname" and constraint["whenUnsatisfiable"] == "DoNotSchedule"
        and constraint["labelSelector"]["matchLabels"].items() <= labels
    ]
    if not spread:
        problems.append(f"{MANIFESTS.name}: nothing keeps the nodes on different machines")
    for probe in ("startupProbe", "livenessProbe", "readinessProbe"):
        if probe not in container:
            problems.append(f"{MANIFESTS.name}: there is no {probe}")
    if not re.search(r":[^:/@]+@sha256:[0-9a-f]{64}$", container["image"]):
        problems.append(f"{MANIFESTS.name}: the image has no tag with a digest")
    ports = {port["name"]: port["containerPort"] for port in container["ports"]}
    policies = [policy["spec"] for policy in of("NetworkPolicy") if policy["spec"]["podSelector"]["matchLabels"].items() <= labels]
    if not policies:
        problems.append(f"{MANIFESTS.name}: no network policy is for the nodes")
    for rule in (rule for policy in policies for rule in policy["ingress"]):
        opened = {port["port"] for port in rule.get("ports", [])} or set(ports.values())
        labelled = rule.get("from") and all(peer.get("podSelector", {}).get("matchLabels") for peer in rule["from"])
        if ports["metrics"] in opened and not labelled:
            problems.append(f"{MANIFESTS.name}: the metrics are open to pods without a label")
    settings_file = yaml.safe_load(of("ConfigMap")[0]["data"]["clarion.yaml"])
    for text in settings_file["trusted-proxies"]:
        network = ipaddress.ip_network(text)
        if network.prefixlen < (24 if network.version == 4 else 120):
            problems.append(f"{MANIFESTS.name}: {text} trusts more than the ingress to say whose request it forwards")


def main(page):
    problems = []
    known = settings(page)
    if len(known) < 40:
        problems.append(f"{page} names only {len(known)} settings")
    unit = (HERE / "systemd" / "clarion.service").read_text()
    named = set(named_in_manifests(problems, known)) | set(named_in_compose(problems))
    named |= set(re.findall(r"^Environment=(CLARION_[A-Z0-9_]+)=", unit, re.MULTILINE))
    # What the runtime reads; a crash report must not show what was in registers.
    for place in (unit, MANIFESTS.read_text(), (HERE / "Containerfile").read_text()):
        options = re.search(r"enable=yes,[a-z=,]*", place)
        if "SWIFT_BACKTRACE" not in place or not options or "registers=none" not in options.group():
            problems.append("a way to deploy sets no SWIFT_BACKTRACE without registers")
    named.discard("SWIFT_BACKTRACE")
    for name in sorted(named - variables(known)):
        problems.append(f"{name} is no setting")
    if len(named) < 10:
        problems.append("hardly any setting is named: this check does not read what it should")
    check_store_key(problems)
    check_manifests(problems)
    problems += metrics.problems()
    program = Path(sys.executable).with_name("kubernetes-validate")
    run = subprocess.run([program, "--strict", MANIFESTS], capture_output=True, text=True)
    if run.returncode:
        problems.append(run.stdout + run.stderr)
    for problem in problems:
        print(problem, file=sys.stderr)
    return 1 if problems else 0


sys.exit(main(sys.argv[1]))
