#!/usr/bin/env python3
"""A hundred nodes without machines, for bench/kubernetes.py --measure scale: what kwok does, and workers that say they train.

    kubernetes_nodes.py KUBECONFIG COUNT GPUS

Nodes are registered and kept alive. A pod that is bound to one is Running at once; its worker is a connection to the daemon
that joins, reaches every epoch it is a member of, and tells its progress as often as the daemon wants it, as elastic
programs do.
"""

import base64
import heapq
import http.client
import json
import queue
import selectors
import socket
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path += [str(ROOT / "tests" / "live" / "kubernetes"), str(ROOT / "tests" / "live")]
from kube import STRATEGIC, ApiError, Kube  # noqa: E402
from worker_session import WorkerSession, new_nonce  # noqa: E402

GPU = "nvidia.com/gpu"
HEARTBEAT = 0.5  # of src/elastic/member.cc, where the daemon says nothing


def now():
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())


class Nodes:
    def __init__(self, kubeconfig, count, gpus):
        self.kube, self.names, self.gpus = Kube(kubeconfig), [f"m{n:03d}" for n in range(count)], gpus

    def register(self, name):
        room = {"cpu": "64", "memory": "256Gi", "pods": "110", GPU: str(self.gpus)}
        ready = {"type": "Ready", "status": "True", "reason": "KubeletReady", "message": "", "lastHeartbeatTime": now(),
                 "lastTransitionTime": now()}
        labels = {"kubernetes.io/hostname": name, "nvidia.com/gpu.product": "v100"}
        self.kube.post("/api/v1/nodes", {"metadata": {"name": name, "labels": labels}})
        self.kube.patch(f"/api/v1/nodes/{name}/status",
                        {"status": {"capacity": room, "allocatable": room, "conditions": [ready]}}, STRATEGIC)
        self.kube.post("/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases", self.lease(name))

    @staticmethod
    def lease(name):
        spec = {"holderIdentity": name, "leaseDurationSeconds": 40, "renewTime": now()[:-1] + ".000000Z"}
        return {"metadata": {"name": name, "namespace": "kube-node-lease"}, "spec": spec}

    def keep_alive(self):
        while True:
            for name in self.names:
                try:
                    self.kube.patch(f"/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases/{name}", self.lease(name))
                except (ApiError, OSError, http.client.HTTPException):
                    pass  # the next one comes in time
            time.sleep(8)


class Workers:
    """All connections, in one thread."""

    def __init__(self, ended):
        self.ended, self.coming, self.selector, self.due = ended, queue.SimpleQueue(), selectors.DefaultSelector(), []

    def run(self):
        while True:
            while not self.coming.empty():
                self.join(self.coming.get())
            for key, _ in self.selector.select(0.02):
                self.hear(key.data)
            while self.due and self.due[0][0] <= time.monotonic():
                at, uid, worker = heapq.heappop(self.due)
                if worker["over"]:
                    continue
                if worker["socket"] is None:
                    self.connect(worker)
                elif worker["session"] and worker["epoch"] >= 0:
                    worker["step"] += 10
                    self.say(worker, say="progress", epoch=worker["epoch"], step=worker["step"], work=64.0 * worker["step"],
                             rate=1280.0, total=2e7, loss=0.1)
                heapq.heappush(self.due, (at + worker["every"], uid, worker))

    def join(self, worker):
        worker |= {"epoch": -1, "step": 0, "socket": None, "session": None, "over": False, "every": HEARTBEAT}
        self.connect(worker)
        heapq.heappush(self.due, (time.monotonic() + HEARTBEAT, worker["uid"], worker))

    def connect(self, worker):
        environment, worker["in"] = worker["environment"], b""
        _, host, port = environment["ALLOT_DAEMON"].split(":")
        try:
            worker["socket"] = socket.create_connection((host, int(port)))
        except OSError:
            return  # the next heartbeat tries again
        self.selector.register(worker["socket"], selectors.EVENT_READ, worker)
        worker["nonce"] = new_nonce()
        hello = {"say": "hello", **self.names(worker), "nonce": worker["nonce"]}
        self.send(worker, json.dumps(hello).encode() + b"\n")

    @staticmethod
    def names(worker):
        return {"job": worker["environment"]["ALLOT_JOB_ID"], "worker": worker["environment"]["ALLOT_WORKER_ID"]}

    def challenged(self, worker, line):
        """Joins the daemon that knows the token; leaves one that does not know the job (yet). ValueError of another one."""
        said = json.loads(line)
        if said["say"] != "challenge":
            self.disconnect(worker)
            return
        session = WorkerSession("worker", worker["environment"]["ALLOT_TOKEN"], *self.names(worker).values(), worker["nonce"],
                                said["nonce"])
        session.open(line)
        worker["session"] = session
        self.say(worker, say="join", **self.names(worker), epoch=worker["epoch"], step=worker["step"], address="127.0.0.1:1",
                 identity=worker["identity"])

    def disconnect(self, worker):
        self.selector.unregister(worker["socket"])
        worker["socket"].close()
        worker["socket"] = worker["session"] = None

    def say(self, to, /, **message):
        self.send(to, to["session"].sign(message))

    def send(self, to, line):
        try:
            to["socket"].sendall(line)
        except OSError:
            self.disconnect(to)

    def hear(self, worker):
        try:
            chunk = worker["socket"].recv(65536)
        except OSError:
            chunk = b""
        if not chunk:
            self.disconnect(worker)
            return
        *lines, worker["in"] = (worker["in"] + chunk).split(b"\n")
        for text in map(bytes.decode, lines):
            if worker["session"] is None:
                self.challenged(worker, text)
                if worker["socket"] is None:
                    return
                continue
            line = worker["session"].open(text)
            said = line["say"]
            if said == "welcome":
                worker["every"] = line.get("every", HEARTBEAT)
            elif said == "epoch" and worker["environment"]["ALLOT_WORKER_ID"] in line["members"]:
                worker["epoch"] = line["epoch"]
                self.say(worker, say="reached", epoch=worker["epoch"], step=worker["step"])
            elif said == "stop" or (said == "epoch" and worker["epoch"] >= 0):
                worker["over"] = True
            if worker["socket"] is None:
                return
        if worker["over"]:
            self.disconnect(worker)
            self.ended(worker["uid"])


class Pods:
    def __init__(self, kubeconfig):
        self.kube, self.follower = Kube(kubeconfig), Kube(kubeconfig)
        self.known, self.pool, self.workers = {}, ThreadPoolExecutor(4), Workers(self.ended)

    def follow(self):
        threading.Thread(target=self.workers.run, daemon=True).start()
        for kind, what in self.follower.follow("/api/v1/namespaces/default/pods"):
            for pod in what if kind == "SYNC" else [what] if kind in ("ADDED", "MODIFIED") else []:
                uid, meta = pod["metadata"]["uid"], pod["metadata"]
                if meta.get("deletionTimestamp"):
                    self.pool.submit(self.remove, meta)
                elif pod["spec"].get("nodeName") and uid not in self.known:
                    self.known[uid] = pod
                    self.pool.submit(self.start, pod)

    def status(self, pod, phase, state):
        container = pod["spec"]["containers"][0]
        body = {"phase": phase, "startTime": now(),
                "containerStatuses": [{"name": container["name"], "image": container["image"], "imageID": "", "restartCount": 0,
                                       "ready": phase == "Running", "state": state}]}
        try:
            self.kube.patch(f"{self.path(pod['metadata'])}/status", {"status": body}, STRATEGIC)
        except ApiError as error:
            if error.code != 404:
                raise

    @staticmethod
    def path(meta):
        return f"/api/v1/namespaces/{meta['namespace']}/pods/{meta['name']}"

    def start(self, pod):
        environment = {}
        for one in pod["spec"]["containers"][0]["env"]:
            environment[one["name"]] = one.get("value", "")
            key = one.get("valueFrom", {}).get("secretKeyRef")
            if key:
                secret = self.kube.get(f"/api/v1/namespaces/default/secrets/{key['name']}")
                environment[one["name"]] = base64.b64decode(secret["data"][key["key"]]).decode()
        self.status(pod, "Running", {"running": {"startedAt": now()}})
        identity = self.kube.identity_of(pod) if "ALLOT_IDENTITY_FILE" in environment else ""
        self.workers.coming.put({"uid": pod["metadata"]["uid"], "environment": environment, "identity": identity})

    def ended(self, uid):
        state = {"terminated": {"exitCode": 0, "reason": "Completed", "finishedAt": now()}}
        self.pool.submit(self.status, self.known[uid], "Succeeded", state)

    def remove(self, meta):
        try:
            self.kube.delete(self.path(meta), {"gracePeriodSeconds": 0, "preconditions": {"uid": meta["uid"]}})
        except (ApiError, OSError, http.client.HTTPException):
            pass  # it is gone


def main():
    kubeconfig, count, gpus = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    nodes = Nodes(kubeconfig, count, gpus)
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(nodes.register, nodes.names))
    threading.Thread(target=nodes.keep_alive, daemon=True).start()
    print("ready", flush=True)
    Pods(kubeconfig).follow()


if __name__ == "__main__":
    main()
