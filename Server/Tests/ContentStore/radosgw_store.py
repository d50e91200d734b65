"""Ceph's S3 store for the tests of the content store, as Debian packages it: a gateway, a monitor and a store of objects in memory.

Usage: radosgw_store.py <folder> [<number of the process that starts it>]
Prints one line of JSON as moto_store.py does, or one that says why there is no store. Ends when the process that started it does, and takes
everything with it. Needs no rights: the user who runs the tests runs the store.
"""

import ctypes
import json
import os
import random
import secrets
import shutil
import signal
import socket
import subprocess
import sys
import time
import uuid

import boto3
import botocore.config

# Nothing is left beside the sources.
sys.dont_write_bytecode = True
from certificates import certificate

# The tests give up after two minutes; a later message would be lost.
DEADLINE = 110

# No other host can reach the monitor and the object store, which ask for no keys. One copy of everything is enough, and a monitor that
# waits a second before each change of its map takes ten for the pools alone. What is deleted leaves memory after half a minute, not two
# hours. Lent keys are tried after the others: in the order that Ceph has by itself a wrong key or secret is AccessDenied and no more.
CONFIGURATION = """
[global]
fsid = {cluster}
mon host = v2:127.0.0.1:{monitor}
public network = 127.0.0.0/8
auth cluster required = none
auth service required = none
auth client required = none
ms mon client mode = crc
paxos propose interval = 0.05
mon allow pool size one = true
mon data avail crit = 1
osd pool default size = 1
osd pool default min size = 1
osd pool default pg num = 1
osd pool default pgp num = 1
osd pool default pg autoscale mode = off
osd crush chooseleaf type = 0
keyring = {folder}/keyring
log file = {folder}/$name.log
run dir = {folder}
admin socket =
pid file =
[mon.a]
mon data = {folder}/monitor
[osd.0]
osd data = {folder}/objects
osd objectstore = memstore
memstore device bytes = 8589934592
[client.rgw]
rgw data = {folder}/gateway
rgw frontends = beast endpoint=127.0.0.1:{plain} ssl_endpoint=127.0.0.1:{secure} ssl_certificate={certificate} ssl_private_key={key}
rgw thread pool size = 128
rgw s3 auth use sts = true
rgw sts key = {token}
rgw s3 auth order = local, sts
rgw gc obj min wait = 20
rgw gc processor period = 20
"""


class Failure(Exception):
    """Why there is no store."""


def free_ports(count):
    """Ports that others are unlikely to take before they are used: the system gives away those above 32768 by itself."""
    probes = {}
    while len(probes) < count:
        probe = socket.socket()
        try:
            port = random.randint(20000, 32000)
            probe.bind(("127.0.0.1", port))
            probes[port] = probe
        except OSError:
            probe.close()
    for probe in probes.values():
        probe.close()
    return list(probes)


def end_with_parent():
    ctypes.CDLL(None).prctl(1, signal.SIGKILL)  # PR_SET_PDEATHSIG


class Cluster:
    def __init__(self, folder):
        self.folder = folder
        self.path = os.path.join(folder, "ceph.conf")
        self.end = time.monotonic() + DEADLINE
        self.daemons = []
        self.certificate, key = certificate(folder)
        self.identity, (self.monitor, self.plain, self.secure) = uuid.uuid4(), free_ports(3)
        for part in ("monitor", "objects", "gateway"):
            os.mkdir(os.path.join(folder, part))
        open(os.path.join(folder, "keyring"), "w").close()
        with open(self.path, "w") as file:
            file.write(
                CONFIGURATION.format(
                    cluster=self.identity, folder=folder, monitor=self.monitor, plain=self.plain, secure=self.secure,
                    certificate=self.certificate, key=key, token=secrets.token_hex(8),
                )
            )

    def command(self, program, *words):
        """What a program prints that ends by itself."""
        try:
            done = subprocess.run(
                [program, "--conf", self.path, *words], capture_output=True, text=True, check=False,
                timeout=max(1, self.end - time.monotonic()), preexec_fn=end_with_parent,
            )
        except FileNotFoundError as error:
            raise self.missing(program) from error
        except subprocess.TimeoutExpired as error:
            raise Failure(f"{program} {words[0]} did not end within {DEADLINE} s") from error
        if done.returncode != 0:
            raise Failure(f"{program} {words[0]} ended with {done.returncode}: {done.stderr[-1000:]}")
        return done.stdout

    def daemon(self, program, *words):
        words = [program, "--conf", self.path, "-f", *words]
        with open(os.path.join(self.folder, f"{program}.out"), "w") as output:
            try:
                started = subprocess.Popen(
                    words, stdin=subprocess.DEVNULL, stdout=output, stderr=output, preexec_fn=end_with_parent
                )
            except FileNotFoundError as error:
                raise self.missing(program) from error
        self.daemons.append(started)

    @staticmethod
    def missing(program):
        return Failure(f"{program} is missing; run scripts/install-dependencies test")

    def start(self):
        plan = os.path.join(self.folder, "monmap")
        self.command(
            "monmaptool", "--create", "--fsid", str(self.identity), "--addv", "a", f"[v2:127.0.0.1:{self.monitor}]", plan
        )
        self.command("ceph-mon", "--mkfs", "-i", "a", "--monmap", plan)
        self.daemon("ceph-mon", "-i", "a")
        objects = str(uuid.uuid4())
        self.command("ceph", "osd", "new", objects)
        self.command("ceph-osd", "-i", "0", "--mkfs", "--osd-uuid", objects)
        self.daemon("ceph-osd", "-i", "0")
        self.daemon("radosgw", "-n", "client.rgw")
        while not self.answers():
            for daemon in self.daemons:
                if daemon.poll() is not None:
                    raise Failure(f"{daemon.args[0]} ended with {daemon.returncode}")
            if time.monotonic() > self.end:
                raise Failure(f"the gateway did not answer within {DEADLINE} s")
            time.sleep(0.05)

    def is_alive(self):
        return all(daemon.poll() is None for daemon in self.daemons)

    def answers(self):
        try:
            socket.create_connection(("127.0.0.1", self.plain), 1).close()
            return True
        except OSError:
            return False

    def user(self, name, rights=""):
        words = ["user", "create", "--uid", name, "--display-name", name, *(["--caps", rights] if rights else [])]
        key = json.loads(self.administer(*words))["keys"][0]
        return {"id": key["access_key"], "secret": key["secret_key"]}

    def administer(self, *words):
        return self.command("radosgw-admin", "-n", "client.rgw", *words)

    def keys(self):
        everything = self.user("all", "user-policy=*")
        listing = self.user("listing")
        maker = {
            "aws_access_key_id": everything["id"], "aws_secret_access_key": everything["secret"],
            "endpoint_url": f"http://127.0.0.1:{self.plain}", "region_name": "us-east-1",
            "config": botocore.config.Config(retries={"max_attempts": 1}, read_timeout=20),
        }

        def document(action, **rest):
            return json.dumps({"Version": "2012-10-17", "Statement": [{"Effect": "Allow", "Action": [action], **rest}]})

        boto3.client("iam", **maker).put_user_policy(
            UserName="listing", PolicyName="rights", PolicyDocument=document("s3:List*", Resource="*")
        )
        trust = document("sts:AssumeRole", Principal={"AWS": ["arn:aws:iam:::user/all"]})
        self.administer("role", "create", "--role-name", "lent", "--path", "/", "--assume-role-policy-doc", trust)
        rights = document("s3:*", Resource="*")
        self.administer("role-policy", "put", "--role-name", "lent", "--policy-name", "rights", "--policy-doc", rights)
        lent = boto3.client("sts", **maker).assume_role(RoleArn="arn:aws:iam:::role/lent", RoleSessionName="test")
        lent = lent["Credentials"]
        return {
            "all": everything, "listing": listing,
            "lent": {"id": lent["AccessKeyId"], "secret": lent["SecretAccessKey"], "token": lent["SessionToken"]},
        }

    def tail(self):
        """The last lines of every log, for a failure."""
        text = ""
        for name in sorted(os.listdir(self.folder)):
            if name.endswith((".log", ".out")):
                with open(os.path.join(self.folder, name), errors="replace") as file:
                    lines = [line[:300] for line in file.read().splitlines()[-8:]]
                if lines:
                    text += "\n".join(["", f"-- {name}", *lines])
        return text

    def stop(self):
        for daemon in self.daemons:
            daemon.kill()
        for daemon in self.daemons:
            daemon.wait()


def main():
    folder = sys.argv[1]
    # The starter passes its process id: after the imports it may have ended, and this process have another parent.
    parent = int(sys.argv[2]) if len(sys.argv) > 2 else os.getppid()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    cluster = Cluster(folder)
    try:
        try:
            cluster.start()
            ports = {"plain": cluster.plain, "secure": cluster.secure, "authority": cluster.certificate}
            line = {**ports, "keys": cluster.keys()}
        except Exception as error:
            line = {"failure": f"{error}{cluster.tail()}"}
            cluster.stop()
        print(json.dumps(line), flush=True)
        is_reported = "failure" in line
        while os.getppid() == parent:
            if not is_reported and not cluster.is_alive():
                print(f"the store of the tests ended by itself{cluster.tail()}", file=sys.stderr, flush=True)
                is_reported = True
            time.sleep(0.2)
    finally:
        cluster.stop()
        shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    main()
