"""`allot serve` and its users' jobs on a throw-away Slurm (cluster.py), for tests."""

import json
import os
import subprocess

import cluster as slurm
from waiting import json_of, text_of, wait_until

USER = "nobody" if os.getuid() == 0 else None
ONE_TYPE = tuple((name, cpus, "v100", gpus) for name, cpus, _, gpus in slurm.NODES)  # nodes that a job may have all of
LONG = ("--steps", 1000000, "--pace-ms", 50)  # arguments of a job that trains until it is ended


class Serve:
    """A cluster, a state folder, and the daemon that serves both at the moment."""

    def __init__(self, program, cluster, folder, worker_timeout=45, runtime="slurm", rights=(), **account):
        """`account`: whom the daemon runs as (user, group, extra_groups); `rights`: a command that takes some from it."""
        self.program, self.cluster, self.folder, self.worker_timeout = program, cluster, folder, str(worker_timeout)
        self.runtime, self.policy, self.environment = runtime, "drf", cluster.environment
        self.rights, self.account = rights, account
        self.state = folder / "state"
        self.asked = self.state  # where its control socket is
        self.process = None
        self.homes, self.home = 0, None  # folders of jobs; the latest

    def start(self, *more):
        self.launch(*more)
        self.status()

    def launch(self, *more):
        """Without waiting for it: a standby answers nobody."""
        if "--dry-run" in more:
            self.asked = self.state / "dry-run"
        with (self.folder / "serve.log").open("a") as log:
            self.process = self.popen(log, *more)

    def popen(self, log, *more):
        return subprocess.Popen(
            [*self.rights, self.program, "serve", "--runtime", self.runtime, "--policy", self.policy, "--state", self.state,
             "--interval", "0.5", "--poll", "0.05", "--worker-timeout", self.worker_timeout, *more],
            env=self.environment, stdout=log, stderr=log, **self.account)

    def kill(self):
        self.process.kill()
        self.process.wait()

    def log(self):
        return text_of(self.folder / "serve.log")

    def status(self):
        def asked():
            done = subprocess.run([self.program, "status", "--json", "--state", self.asked], capture_output=True, text=True,
                                  timeout=120)
            told = json.loads(done.stdout) if done.returncode == 0 else {"standby": None}
            return None if "standby" in told else told
        return wait_until(asked, lambda: f"a daemon that answers: {self.log()[-2000:]}")

    def say(self, *words):
        return subprocess.run([self.program, *words, "--state", self.asked], capture_output=True, text=True, timeout=120)

    def submit(self, comment, *arguments, options=(), script=None, user=USER):
        """Slurm's number of a user's job."""
        self.homes += 1
        home = self.cluster.folder.parent / f"{self.folder.name}-{self.homes}"
        home.mkdir()
        home.chmod(0o1777)
        self.home = home
        bin_folder = self.program.parent
        text = script or f'#!/bin/bash\n"{bin_folder}/allot-elastic" run -- "{bin_folder}/examples/elastic_counter" ' \
                         f'{" ".join(map(str, arguments))}\n'
        (home / "train.sh").write_text(text)
        return int(self.cluster.client("sbatch", "--parsable", f"--comment={comment}", *options, "train.sh", user=user,
                                       cwd=home))

    def job(self, number):
        return next((job for job in self.status()["jobs"] if job["job"].startswith(f"{number}-")), None)

    def training(self, number, gpus=1, behind=0, epoch=0):
        """Waits until the job trains on at least so many GPUs, behind a step, in this epoch or a later one."""
        def there():
            job = self.job(number)
            return job and job["stage"] == "training" and job["held"] >= gpus and job["step"] > behind \
                and job["epoch"] >= epoch and job
        return wait_until(there, lambda: f"{number} to train on {gpus}: {self.job(number)}\n{self.log()[-3000:]}")

    def slurm_state(self, number):
        return self.cluster.jobs()[number]["JobState"]

    def ended(self, number, state):
        wait_until(lambda: self.slurm_state(number) == state,
                   lambda: f"{number} to be {state}: {self.slurm_state(number)}\n{self.log()[-3000:]}")

    def workers(self, number):
        """Slurm's numbers of the worker jobs that have not ended."""
        return [worker for worker, job in self.cluster.jobs().items()
                if job["JobName"].endswith(f"-of-{number}") and job["JobState"] not in slurm.ENDED]

    def over(self, number):
        """The journal's record of its end; the daemon writes it some time after the end."""
        def written():
            return next((record for record in json_of(self.state / "journal.jsonl")
                         if record["what"] == "over" and record["job"].startswith(f"{number}-")), None)
        return wait_until(written, lambda: f"the end of {number} to be told: {self.log()[-3000:]}")


def why_not(program):
    """Why such a daemon cannot be tried here, or None."""
    if slurm.missing():
        return slurm.missing()
    if not (program.parent / "examples" / "elastic_counter").exists():
        return "not built: examples/elastic_counter"
    return None
