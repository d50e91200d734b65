"""Checks the manifests and the compose file, and that each setting they name is one of the server's.

Usage: check.py SETTINGS-PAGE
"""

import re
import subprocess
import sys
from pathlib import Path

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
        for other in service.get("depends_on", []):
            if other not in compose["services"]:
                problems.append(f"compose.yaml: {name} waits for {other}, which is not there")
        if name.startswith("node-"):
            yield from service["environment"]


def main(page):
    problems = []
    known = settings(page)
    if len(known) < 40:
        problems.append(f"{page} names only {len(known)} settings")
    unit = (HERE / "systemd" / "clarion.service").read_text()
    named = set(named_in_manifests(problems, known)) | set(named_in_compose(problems))
    named |= set(re.findall(r"^Environment=(CLARION_[A-Z0-9_]+)=", unit, re.MULTILINE))
    for name in sorted(named - variables(known)):
        problems.append(f"{name} is no setting")
    if len(named) < 10:
        problems.append("hardly any setting is named: this check does not read what it should")
    program = Path(sys.executable).with_name("kubernetes-validate")
    run = subprocess.run([program, "--strict", MANIFESTS], capture_output=True, text=True)
    if run.returncode:
        problems.append(run.stdout + run.stderr)
    for problem in problems:
        print(problem, file=sys.stderr)
    return 1 if problems else 0


sys.exit(main(sys.argv[1]))
