"""A cluster of local processes under `allot serve`, for tests and bench/chaos.py."""

import json
import os
import re
import signal
import subprocess
from pathlib import Path

from waiting import json_of, text_of, wait_until

ENDLESS = 10**9  # steps


class Live:
    """One state folder, and the daemon that serves it at the moment."""

    def __init__(self, program, counter, folder, cluster="2x4", worker_timeout=45):
        self.program, self.counter, self.folder = program, counter, folder
        self.cluster, self.worker_timeout = cluster, worker_timeout
        self.state, self.spool = folder / "s", folder / "spool"
        self.spool.mkdir()
        self.daemon, self.environment = None, None

    def arguments(self, *more):
        return [self.program, "serve", "--runtime", f"local:cluster={self.cluster},spool={self.spool}",
                "--state", self.state, "--interval", "0.3", "--poll", "0.05", "--worker-timeout", self.worker_timeout,
                *more]

    def serve(self, *more, policy="drf"):
        log = (self.folder / "log").open("a")
        self.daemon = subprocess.Popen(list(map(str, self.arguments("--policy", policy, *more))), stderr=log,
                                       stdout=log, cwd=self.folder, env=self.environment)
        # With --until-idle it may have nothing left to do before anybody asks.
        wait_until(lambda: self.daemon.poll() == 0 or self.asked(), lambda: f"a daemon that answers: {self.log()[-3000:]}")
        return self

    def log(self):
        return text_of(self.folder / "log")

    def submit(self, name, steps=400, low=1, high=4, pace=10, gpus=1, **keys):
        """A job of so many steps, or until finish(name)."""
        extra = "".join(f"{key} = {json.dumps(value)}\n" for key, value in keys.items())
        text = (f'[[job]]\nname = "{name}"\ngpus = {gpus}\nmin = {low}\nmax = {high}\n{extra}'
                f'command = ["{self.counter}", "--steps", "{steps}", "--pace-ms", "{pace}", "--save-every", "50", '
                f'"--until", "{self.folder / name}.done"]\n')
        part = self.folder / f"{name}.part"
        part.write_text(text)
        part.rename(self.spool / f"{name}.toml")

    def finish(self, name):
        """Its work is done, whatever its steps."""
        (self.folder / f"{name}.done").touch()

    def say(self, *words, exit=0):
        done = subprocess.run(list(map(str, [self.program, *words, "--state", self.state])), capture_output=True,
                              text=True, check=False, timeout=120)
        assert exit is None or done.returncode == exit, done.stderr
        return done

    def asked(self):
        """What the daemon says of itself; None or nothing before it has looked at its cluster."""
        done = self.say("status", "--json", exit=None)
        return json.loads(done.stdout) if done.returncode == 0 else None

    def status(self):
        return wait_until(self.asked, lambda: f"a daemon that answers: {self.log()[-3000:]}")

    def job(self, name):
        return next((job for job in self.status()["jobs"] if job["job"] == name), None)

    def training(self, name, at_least=1, step=0):
        def there():
            job = self.job(name)
            return job and job["stage"] == "training" and job["held"] >= at_least and job["step"] > step and job

        return wait_until(there, lambda: f"{name} training on {at_least} GPUs past step {step}: {self.asked()}")

    def journal(self):
        return json_of(self.state / "journal.jsonl")

    def over(self, name):
        """Its end, once its last worker is gone."""
        wait_until(lambda: any(r["what"] == "retire" and r["job"] == name for r in self.journal()),
                   lambda: f"{name} to be over: {self.asked()}")
        return next(r for r in self.journal() if r["what"] == "over" and r["job"] == name)

    def steps(self, name):
        """(step, loss) as its workers printed them, in order of steps."""
        found = []
        for log in (self.state / "local" / "jobs" / name / "log").glob("*.log"):
            found += re.findall(r"^step=(\d+) loss=([0-9.]+) ", log.read_text(), re.MULTILINE)
        return sorted((int(step), float(loss)) for step, loss in found)

    def workers(self, name):
        """Worker -> pid of its process, of those that live."""
        found = {}
        for file in (self.state / "local" / "jobs" / name / "workers").glob("*.json"):
            try:
                keeper = json.loads(file.read_text())["pid"]
                children = Path(f"/proc/{keeper}/task/{keeper}/children").read_text().split()
            except OSError:  # it has ended meanwhile
                continue
            if children:
                found[file.stem] = int(children[0])
        return found

    def end(self):
        if self.daemon and self.daemon.poll() is None:
            self.daemon.kill()
            self.daemon.wait()
        for file in (self.state / "local" / "jobs").glob("*/workers/*.json"):
            try:
                os.killpg(json.loads(file.read_text())["pid"], signal.SIGKILL)
            except ProcessLookupError:
                pass
