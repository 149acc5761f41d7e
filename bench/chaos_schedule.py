"""What schedules of random faults have in common on every runtime, and how they are played. bench/chaos.py plays them."""

import queue
import random
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path
from time import sleep

import chaos_faults


class Schedule:
    """One run by its seed: jobs, and faults while they are resized for each other. A runtime says which, and how.

    A fault is a method of its name, "kill a worker": kill_a_worker. It returns False where there was nothing to do it to, and a text
    where it came to be another fault.
    """

    FAULTS = {}  # name -> weight
    JOBS = (2, 4)  # at the begin
    MANY = (4, 8)  # faults
    APART = (0.1, 1.0)  # seconds

    def __init__(self, seed):
        self.random = random.Random(seed)
        self.jobs = []  # by name; or {name: kind}
        self.cancelled = set()
        self.done = Counter()  # faults
        self.let_pass = []  # what was found, and is no fault of allot

    def begin(self):
        """Starts what schedules."""
        raise NotImplementedError

    def submit(self):
        raise NotImplementedError

    def faults_found(self):
        """What must not be, as text, once everything should be over; nothing when all is well."""
        raise NotImplementedError

    def end(self):
        """Whatever happened, the cluster is as before."""
        raise NotImplementedError

    def fault(self, what):
        done = getattr(self, what.replace(" ", "_").lower())()
        if done is not False:
            self.done[done if isinstance(done, str) else what] += 1

    def submit_a_job(self):
        self.submit()

    def run(self):
        self.begin()
        for _ in range(self.random.randint(*self.JOBS)):
            self.submit()
        for what in self.random.choices(list(self.FAULTS), self.FAULTS.values(), k=self.random.randint(*self.MANY)):
            sleep(self.random.uniform(*self.APART))
            self.fault(what)


class World:
    """Clusters of one runtime, each for a schedule at a time."""

    name = ""  # in results
    errors = ()  # of its own, that end a schedule

    def open(self):
        """A cluster that runs and has no jobs."""
        return None

    def close(self, cluster):
        pass

    def schedule(self, build, cluster, folder, seed):
        raise NotImplementedError

    def keep(self, schedule, folder):
        """Puts what else tells of a schedule that failed into its folder."""


class Player:
    """Plays schedules, from any thread; as many clusters as are played at once. One that fails keeps its folder."""

    def __init__(self, world, build):
        self.world, self.build = world, build
        self.free, self.all = queue.SimpleQueue(), []

    def cluster(self):
        try:
            return self.free.get_nowait()
        except queue.Empty:
            self.all.append(self.world.open())
            return self.all[-1]

    def play(self, seed):
        errors = (AssertionError, OSError, ValueError, subprocess.SubprocessError, *self.world.errors)
        folder = Path(tempfile.mkdtemp(prefix=f"chaos-{seed}-"))
        cluster = self.cluster()
        schedule = self.world.schedule(self.build, cluster, folder, seed)
        try:
            schedule.run()
            found = schedule.faults_found()
        except errors as error:
            found = [chaos_faults.told(error)]
        if found:
            print(f"seed {seed}: {found} in {folder}", file=sys.stderr, flush=True)
            self.world.keep(schedule, folder)
        try:
            schedule.end()
            self.free.put(cluster)
        except errors as error:  # the next one gets another
            print(f"seed {seed}: its cluster is given up: {error}", file=sys.stderr, flush=True)
        if not found:
            shutil.rmtree(folder, ignore_errors=True)
        return {"seed": seed, "jobs": len(schedule.jobs), "cancelled": len(schedule.cancelled), "faults": dict(schedule.done),
                "found": found, "let_pass": schedule.let_pass}

    def stop(self):
        for cluster in self.all:
            self.world.close(cluster)
