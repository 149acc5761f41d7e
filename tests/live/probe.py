"""The Slurm runtime, driven by hand through tests/tools/runtime_probe.cc."""

import json
import subprocess

from waiting import wait_until

NOT_NOW = ("the controller must answer within", "is learning its nodes")  # the daemon asks again too


class Probe:
    """The runtime, asked and told as the daemon would."""

    def __init__(self, cluster, tools, state):
        self.command = [tools["probe"], f"slurm:launcher={tools['launcher']}", state]
        self.cluster = cluster
        self.process = None
        self.open()

    def open(self):
        self.process = subprocess.Popen(self.command, env=self.cluster.environment, text=True, stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE)
        assert json.loads(self.process.stdout.readline())["ok"]

    def kill(self):
        self.process.kill()
        self.process.wait()

    def ask(self, *words):
        self.process.stdin.write(" ".join(map(str, words)) + "\n")
        self.process.stdin.flush()
        return json.loads(self.process.stdout.readline())

    def answer(self, *words):
        """Its answer that is not "not now"."""
        def answered():
            answer = self.ask(*words)
            if answer["ok"] or not any(why in answer["why"] for why in NOT_NOW):
                return answer
            self.ask("wait", 0.02)
            self.ask("look")  # what it knows of the controller is of its latest look
            return None
        return wait_until(answered, f"an answer to {words}")

    def do(self, *words):
        answer = self.answer(*words)
        assert answer["ok"], f"{words}: {answer}"
        return answer

    def look(self):
        self.do("wait", 0.02)
        return self.do("look")

    def job(self, number):
        """The daemon's name of Slurm's job."""
        return wait_until(lambda: next((job for job in self.look()["jobs"] if job.startswith(f"{number}-")), None),
                          f"job {number} to be seen")

    def start(self, job, *places):
        """Workers on nodes, one GPU each; their names."""
        count = getattr(self, "count", 0)
        self.count = count + len(places)
        workers = [f"{job}.{count + i}" for i in range(len(places))]
        self.look()
        self.do("start", job, *(f"{worker} {node} {gpus:x}" for worker, (node, gpus) in zip(workers, places)))
        return workers

    def until(self, worker, state):
        return wait_until(lambda: (w := self.look()["workers"].get(worker, {})).get("state") == state and w,
                          lambda: f"{worker} to be {state}: {self.look()['workers'].get(worker)}")

    def regroup(self, job, epoch, members):
        """Announces them once all have joined, and waits until they train."""
        for member in members:
            self.until(member, "ready")
        self.do("announce", job, epoch, *members)
        wait_until(lambda: self.progress(job)["epoch"] == epoch, lambda: f"epoch {epoch}: {self.progress(job)}")

    def progress(self, job):
        self.do("wait", 0.02)
        return self.do("progress", job)

    def trains(self, job):
        step = self.progress(job)["step"]
        wait_until(lambda: self.progress(job)["step"] > step, f"{job} to train behind step {step}")
