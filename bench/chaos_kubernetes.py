"""Random faults on `allot serve --runtime kubernetes`: what bench/chaos.py --runtime kubernetes plays.

A schedule is a seed: two to four elastic jobs on eight GPUs of two nodes, and four to eight faults of all parts within a few
seconds, while the jobs are resized for each other: workers, kubelets, API server, scheduler and daemon are killed, workers
hang, pods are deleted, nodes cordoned, the daemon's journal is lost, Jobs come and are deleted. Every fifth schedule has two
daemons and a Lease: the one in charge is killed or sent away, and the other takes over. The control plane is a real one
(tests/live/control_plane.py), whose pods are processes.
"""

import json
import os
import re
import shutil
import signal
import tempfile
import time
from collections import defaultdict
from pathlib import Path

import chaos_schedule
import control_plane as kubernetes
from allot_on_kubernetes import JOBS, PODS, Serve, clear, job_of
from cluster import alive, free_ports
from kube import ApiError
from waiting import json_of, text_of, wait_until

NODES = ("n1", "n2")  # those of the type that the jobs ask for
SAVE_EVERY = 50


class Schedule(chaos_schedule.Schedule):
    """One run by its seed, on a control plane that has no jobs."""

    FAULTS = {"kill a worker": 5, "stop a worker": 2, "kill the daemon": 5, "lose the journal": 2, "kill a kubelet": 2,
              "kill the API server": 2, "kill the scheduler": 1, "cordon a node": 2, "delete a pod": 2, "delete a job": 1,
              "submit a job": 2}
    APART = (0.1, 1.2)

    def __init__(self, build, plane, folder, seed):
        super().__init__(seed)
        self.plane, self.folder = plane, folder
        self.counter, self.admin = build / "examples" / "elastic_counter", plane.api()
        self.two = seed % 5 == 0
        given = {}
        if self.two:
            (folder / "key").write_text(f"{seed:032d}\n")
            (folder / "key").chmod(0o600)
            given = {"lease": f"allot/s{seed}", "key": folder / "key", "listen": f"tcp:127.0.0.1:{free_ports(1)[0]}"}
        self.daemons = [Serve(build / "allot", plane, folder / name, worker_timeout=3, **given)
                        for name in (("first", "second") if self.two else ("first",))]

    # ---- asking ----
    def ask(self, call, *words, **more):
        """Of the API server, which may be away."""
        answer = []

        def answered():
            try:
                answer.append(call(*words, **more))
            except ApiError as error:
                if error.code < 500 and error.code not in (401, 403, 429):
                    answer.append(None)
            except OSError:
                return False
            return bool(answer)
        wait_until(answered, "an answer of the API server")
        return answer[0]

    def items(self, path):
        return self.ask(self.admin.get, path)["items"]

    def workers(self):
        """Pids of the process groups of pods that run."""
        found = []
        for state in sorted(self.plane.folder.glob("node/*/*/state")):
            pid = json.loads(text_of(state) or '{"pid":0}')["pid"]
            if pid and not (state.parent / "exit").exists() and Path(f"/proc/{pid}").exists():
                found.append(pid)
        return found

    # ---- acting ----
    def submit(self):
        name = f"j{len(self.jobs)}"
        home = self.folder / name
        home.mkdir()
        low = self.random.choice((1, 1, 1, 2))
        words = (self.counter, "--steps", self.random.randint(200, 600), "--pace-ms", self.random.choice((8, 12, 16)),
                 "--save-every", SAVE_EVERY)
        # Each worker has a log of its own, which stays when its pod goes.
        command = ["/bin/sh", "-c", f'exec {" ".join(map(str, words))} > "$ALLOT_RUN_DIR/$HOSTNAME.$(date +%s.%N).log" 2>&1']
        body = job_of(name, command, {"min": low, "max": self.random.choice((2, 4, 8)), "types": "v100",
                                      "gpus": self.random.choice((low, 2))},
                      env=[{"name": "ALLOT_RUN_DIR", "value": str(home)}])
        self.ask(self.admin.post, JOBS, body)
        self.jobs.append(name)

    def in_charge(self):
        return next((one for one in self.daemons if "serving" in one.log().rsplit("waiting for the lease", 1)[-1]
                     and one.process.poll() is None), self.daemons[0])

    def wait(self):
        time.sleep(self.random.choice((0, 0, 0.3, 1)))

    def begin(self):
        for one in self.daemons:
            one.start()

    def kill_a_worker(self, what=signal.SIGKILL):
        victims = self.workers()
        if not victims:
            return False
        try:
            os.killpg(self.random.choice(victims), what)
        except ProcessLookupError:
            return False
        return True

    def stop_a_worker(self):
        return self.kill_a_worker(signal.SIGSTOP)

    def kill_the_daemon(self):
        one = self.in_charge()
        one.end(signal.SIGKILL)
        self.wait()
        one.start()
        return "the standby takes over" if self.two else True

    def lose_the_journal(self):
        """With two daemons the journal stays, and the one in charge hands over."""
        one = self.in_charge()
        one.end(signal.SIGTERM if self.two else signal.SIGKILL)
        self.wait()
        if not self.two:
            (one.state / "journal.jsonl").unlink(missing_ok=True)
        one.start()
        return "hand over" if self.two else True

    def kill_a_kubelet(self):
        node = self.random.choice(NODES)
        self.plane.kill(f"node-{node}")
        self.wait()
        self.plane.start_node(node)

    def kill_part(self, part):
        self.plane.kill(part)
        self.wait()
        self.plane.start_part(part)

    def kill_the_api_server(self):
        self.kill_part("apiserver")

    def kill_the_scheduler(self):
        self.kill_part("scheduler")

    def cordon_a_node(self):
        path = f"/api/v1/nodes/{self.random.choice(NODES)}"
        self.ask(self.admin.patch, path, {"spec": {"unschedulable": True}})
        self.wait()
        self.ask(self.admin.patch, path, {"spec": {"unschedulable": None}})

    def delete_a_pod(self):
        pods = [pod["metadata"]["name"] for pod in self.items(PODS)]
        if not pods:
            return False
        self.ask(self.admin.delete, f"{PODS}/{self.random.choice(sorted(pods))}")
        return True

    def delete_a_job(self):
        name = self.random.choice(sorted(self.jobs))
        self.cancelled.add(name)
        self.ask(self.admin.delete, f"{JOBS}/{name}", {"propagationPolicy": "Background"})

    # ---- judging ----
    def faults_found(self):
        found = []
        wanted = set(self.jobs) - self.cancelled
        try:  # workers that never joined are given up after 120 s, and their job waits for 30 s
            wait_until(lambda: self.ended() >= wanted, "the end of all jobs", 240)
        except AssertionError:
            found += [f"lost: {job} never ended" for job in sorted(wanted - self.ended())]
        for job in self.items(JOBS):
            name, ends = job["metadata"]["name"], self.conditions(job)
            if "Failed" in ends:
                found.append(f"lost: {name} failed")
            if "Failed" in ends and "Complete" in ends:
                found.append(f"doubled: {name} failed and is complete")
        for what, there in (("pods", self.pods_left), ("processes", self.workers), ("GPUs", self.held)):
            try:
                wait_until(lambda there=there: not there(), what, 60)
            except AssertionError:
                found.append(f"leaked: {what}: {there()}")
        for one in self.daemons:
            for record in json_of(one.state / "journal.jsonl"):
                if "UnexpectedAdmissionError" in record.get("reason", ""):
                    found.append(f"doubled: GPUs given twice: {record['worker']}: {record['reason']}")
        for job in self.jobs:
            found += self.judged(job)
        return found

    @staticmethod
    def conditions(job):
        return {c["type"] for c in job["status"].get("conditions", []) if c["status"] == "True"}

    def ended(self):
        return {job["metadata"]["name"] for job in self.items(JOBS) if self.conditions(job) & {"Complete", "Failed"}}

    def pods_left(self):
        return sorted(pod["metadata"]["name"] for pod in self.items(PODS)
                      if pod["status"]["phase"] not in ("Succeeded", "Failed"))

    def held(self):
        status = next(filter(None, (one.status() for one in self.daemons)), None)
        return {node["node"]: node["held"] for node in status["nodes"] if node["held"]} if status else "no daemon"

    def judged(self, job):
        """At no time two train as the same rank of an epoch, and a group begins no earlier than the last checkpoint of the one
        before. Without its journal a daemon that finds no worker alive counts epochs anew."""
        lives, ranks = [], defaultdict(list)
        for log in (self.folder / job).glob("*.log"):
            born, last = float(log.stem.split(".", 1)[1]), log.stat().st_mtime
            said = re.findall(r"^epoch=(\d+) rank=(\d+) world=\d+ step=(\d+)", text_of(log), re.MULTILINE)
            lives.append((born, last, {int(epoch): int(step) for epoch, rank, step in said if rank == "0"}))
            for epoch, rank, _ in said:
                ranks[int(epoch), int(rank)].append((born, last, log.name))
        found = []
        for (epoch, rank), of in sorted(ranks.items()):
            of.sort()
            found += [f"doubled: rank {rank} of epoch {epoch} of {job} is {one[2]} and {after[2]}"
                      for one, after in zip(of, of[1:]) if after[0] < one[1]]
        counts, until = [], 0  # of epochs, each of which ends with its last worker
        for born, last, began in sorted(lives, key=lambda life: life[:2]):
            if born > until:
                counts.append({})
            counts[-1].update(began)
            until = max(until, last)
        steps = [count[epoch] for count in counts for epoch in sorted(count)]
        return found + [f"backward: {job} began at {after} after {before}" for before, after in zip(steps, steps[1:])
                        if after < before - SAVE_EVERY]

    def end(self):
        for one in self.daemons:
            if one.process is not None and one.process.poll() is None:
                one.end()
        for pid in self.workers():
            try:
                os.killpg(pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
        for part in kubernetes.PARTS:
            if not alive(self.plane.pid(part)):
                self.plane.start_part(part)
        self.plane.until(self.plane.answers, "the API server")
        for node in NODES:
            self.plane.api().patch(f"/api/v1/nodes/{node}", {"spec": {"unschedulable": None}})
        clear(self.plane)


class World(chaos_schedule.World):
    """Control planes."""

    name = f"kubernetes {kubernetes.VERSION}, jobs on 2x4"
    errors = (ApiError, kubernetes.ClusterError)

    def open(self):
        return kubernetes.ControlPlane(Path(tempfile.mkdtemp(prefix="allot-kubernetes-")) / "cluster").start()

    def close(self, plane):
        plane.stop()
        shutil.rmtree(plane.folder.parent, ignore_errors=True)

    def schedule(self, build, plane, folder, seed):
        return Schedule(build, plane, folder, seed)

    def keep(self, schedule, folder):
        (folder / "pods.json").write_text(json.dumps(schedule.items(PODS), indent=1))
        shutil.copytree(schedule.plane.folder / "log", folder / "log")


def missing():
    return kubernetes.missing()
