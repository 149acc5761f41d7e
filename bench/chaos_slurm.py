"""Random faults on `allot serve --runtime slurm`: what bench/chaos.py --runtime slurm plays.

A schedule is a seed: three to six jobs of two users on eight GPUs of two nodes (elastic, resized by a restart, of one size) and four
to eight faults of all parts within some seconds, while the jobs are resized for each other: workers, slurmds, slurmctld and the
daemon are killed, programs hang, nodes are drained and go down, power is lost, the journal is damaged, the daemon and its workers
no longer reach each other, its clock jumps, a second daemon is started, jobs are cancelled. The cluster is a real Slurm
(tests/live/cluster.py) whose GPUs are symbolic links. Then everything must end by itself.

Workers are started through a script that notes each life of a worker, and sends it through a relay that can stop forwarding.
Where Debian's libfaketime is not installed, clocks do not jump.
"""

import json
import os
import pwd
import re
import select
import shutil
import signal
import socket
import tempfile
import threading
import time
from pathlib import Path

import chaos_faults
import chaos_schedule
import cluster as slurm
from allot_on_slurm import Serve
from own_clock import OwnClock
from waiting import lines_of, text_of, wait_until

NODES = (("n1", 16, "v100", 4), ("n2", 16, "v100", 4))
# Ends of jobs within a schedule; records stay as long as one is judged.
SETTINGS = {"KillWait": 5, "MinJobAge": 900}
USERS = ("nobody", "games") if os.getuid() == 0 else (None,)
SAVE_EVERY = 50

# Slurm 22.05 counts GPUs for ever that a job got in the seconds after a restart of the controller (docs/deploy.md). The daemon waits
# them out where it notices the restart: not where the controller is back before it looks.
SLURM_KEPT = "(Slurm kept GPUs that no job has)"

# Saves at SIGTERM, as a torchrun job does. Two copies of one job could not have its lock both. Its end is to come once.
ONCE = """#!/bin/bash
exec "{launcher}" once -- ./work.sh
"""
RESTARTED = """#!/bin/bash
exec 9>>lock
flock -n 9 || echo "doubled" >>log
step=0; [ -e saved ] && step=$(cat saved)
echo "begin $step" >>log
trap 'echo $step >saved.part; mv saved.part saved; echo "saved $step" >>log; exit 143' TERM
while ((step < {steps})); do sleep 0.1 9>&-; ((++step)); done
echo "end $step" >>log
"""
RIGID = """#!/bin/bash
exec 9>>lock
flock -n 9 || echo "doubled" >>log
echo begin >>log
sleep {seconds} 9>&-
echo end >>log
"""
LAUNCHER = """#!/bin/bash
exec 9>>"{folder}/lives/$ALLOT_WORKER_ID"
flock -n 9 || echo "$ALLOT_WORKER_ID" >>"{folder}/doubled"
echo $$ >&9
ALLOT_DAEMON=tcp:127.0.0.1:{port} exec "{launcher}" "$@"
"""


class Relay:
    """Between workers and the daemon. While `cut` it forwards nothing, in either direction, and answers nobody."""

    def __init__(self, address):
        self.address, self.cut, self.over = address, False, False  # address(): the daemon's, or None
        self.server = socket.create_server(("127.0.0.1", 0))
        self.port = self.server.getsockname()[1]
        self.peers = {}  # either way
        threading.Thread(target=self._run, daemon=True).start()

    def close(self):
        self.over = True

    def _run(self):
        self.server.setblocking(False)
        while not self.over:
            if self.cut:
                time.sleep(0.02)
                continue
            ready, _, _ = select.select([self.server, *self.peers], [], [], 0.05)
            for one in ready:
                if one is self.server:
                    self._accept()
                elif one in self.peers:
                    self._pass_on(one)
        for one in (*self.peers, self.server):
            one.close()

    def _accept(self):
        near, _ = self.server.accept()
        where = self.address()
        try:
            far = socket.create_connection(where, 5) if where else None
        except OSError:
            far = None
        if far is None:
            near.close()
            return
        self.peers |= {near: far, far: near}

    def _pass_on(self, one):
        other = self.peers[one]
        try:
            data = one.recv(1 << 16)
            if data:
                other.sendall(data)
        except OSError:
            data = b""
        if not data:
            for end in (one, other):
                self.peers.pop(end, None)
                end.close()


class Schedule(chaos_schedule.Schedule):
    """On a cluster that has no jobs."""

    FAULTS = {"kill a worker": 5, "hang a worker": 2, "kill the daemon": 4, "kill slurmctld": 1, "kill a slurmd": 2,
              "drain a node in Slurm": 1, "node down": 1, "drain a node": 2, "pause": 1, "cancel by user": 1, "cancel by allot": 1,
              "lose power": 3, "damage the journal": 3, "partition": 3, "clock jumps": 2, "second daemon": 2, "submit a job": 2}
    JOBS = (3, 6)
    APART = (0.2, 2)

    def __init__(self, build, cluster, folder, seed):
        super().__init__(seed)
        self.build, self.cluster, self.folder = build, cluster, folder
        self.jobs = {}  # Slurm's number -> kind
        self.again = set()  # jobs that Slurm may run again: their node went down, or a killed controller forgot their end
        self.excused = set()  # and those of one size, which may be lost with their node
        folder.chmod(0o755)
        for name in ("lives", "homes"):
            (folder / name).mkdir()
        (folder / "lives").chmod(0o1777)
        (folder / "doubled").touch()
        (folder / "doubled").chmod(0o666)
        self.serve = Serve(build / "allot", cluster, folder, worker_timeout=4)
        self.relay = Relay(self.hub)
        launcher = folder / "launcher"
        launcher.write_text(LAUNCHER.format(folder=folder, port=self.relay.port, launcher=build / "allot-elastic"))
        launcher.chmod(0o755)
        self.serve.runtime = f"slurm:launcher={launcher}"
        self.clock = OwnClock(folder)
        self.serve.environment = self.clock.environment(cluster.environment)
        self.journal = self.serve.state / "journal.jsonl"

    def hub(self):
        found = re.match(r"tcp:(.*):(\d+)$", text_of(self.serve.state / "slurm" / "address").strip())
        return (found[1], int(found[2])) if found else None

    # ---- acting ----
    def begin(self):
        self.serve.start()

    def submit(self):
        kind, work = self.random.choice(("elastic", "elastic", "elastic", "restart", "rigid")), None
        low = self.random.choice((1, 1, 1, 2))
        if kind == "elastic":
            words = (self.build / "examples" / "elastic_counter", "--steps", self.random.randint(150, 500), "--pace-ms",
                     self.random.choice((8, 12, 16)), "--save-every", SAVE_EVERY)
            script = f'#!/bin/bash\n"{self.build / "allot-elastic"}" run -- {" ".join(map(str, words))}\n'
            options = [f"--comment=allot min={low} max={self.random.choice((2, 4, 8))}"]
        elif kind == "restart":
            work, script = RESTARTED.format(steps=self.random.randint(20, 60)), ONCE.format(launcher=self.build / "allot-elastic")
            options = [f"--gres=gpu:{low}", f"--comment=allot min={low} max=4 gpus={low} resize=restart"]
        else:
            script = RIGID.format(seconds=self.random.randint(2, 5))
            options = [f"--gres=gpu:{low}", *self.random.choice(([], ["--no-requeue"]))]
        home = self.folder / "homes" / str(len(self.jobs))
        home.mkdir()
        home.chmod(0o1777)
        (home / "train.sh").write_text(script)
        if work:
            (home / "work.sh").write_text(work)
            (home / "work.sh").chmod(0o755)
        number = int(self.cluster.client("sbatch", "--parsable", *options, "train.sh", user=self.random.choice(USERS), cwd=home))
        self.jobs[number] = kind

    def home(self, number):
        return self.folder / "homes" / str(list(self.jobs).index(number))

    def workers(self):
        """Pids of all that runs of workers."""
        found = []
        for life in (self.folder / "lives").iterdir():
            for pid in lines_of(life):
                # Of this life, and not of a process that came to have its number.
                if life.name.encode() in environment_of(pid):
                    found.append(int(pid))
        return sorted(found)

    def running(self):
        return sorted(number for number, job in self.cluster.jobs().items()
                      if number in self.jobs and job["JobState"] not in slurm.ENDED - {"COMPLETING"})

    def restart(self, between=lambda: None):
        self.serve.kill()
        between()
        time.sleep(self.random.choice((0, 0, 0.3, 1)))
        self.serve.start()

    def kill_a_worker(self, how=signal.SIGKILL):
        victims = self.workers()
        if not victims:
            return False
        try:
            os.kill(self.random.choice(victims), how)
        except ProcessLookupError:
            return False
        return True

    def hang_a_worker(self):
        return self.kill_a_worker(signal.SIGSTOP)

    def kill_the_daemon(self):
        self.restart()

    def kill_slurmctld(self):
        self.again |= set(self.running())
        self.cluster.wait_for_saved_state()  # what it forgets of later is Slurm's own (docs/deploy.md)
        self.cluster.kill("slurmctld")
        time.sleep(self.random.choice((0, 1, 3)))
        self.cluster.start_controller()
        wait_until(self.cluster.controller_answers, "slurmctld")

    def kill_a_slurmd(self):
        node = self.random.choice(NODES)[0]
        self.cluster.kill(f"slurmd-{node}")
        time.sleep(self.random.choice((0, 1, 3)))
        self.cluster.start_node(node)

    def drain_a_node_in_slurm(self):
        node = self.random.choice(NODES)[0]
        self.cluster.client("scontrol", "update", f"nodename={node}", "state=drain", "reason=chaos")
        time.sleep(self.random.choice((0.3, 2)))
        self.cluster.resume(node)

    def node_down(self):
        node = self.random.choice(NODES)[0]
        self.again |= set(self.running())
        self.excused |= {number for number in self.running() if self.jobs[number] == "rigid"}
        self.cluster.client("scontrol", "update", f"nodename={node}", "state=down", "reason=chaos")
        time.sleep(self.random.choice((0.3, 2)))
        self.cluster.resume(node)

    def drain_a_node(self):
        node = self.random.choice(NODES)[0]
        self.serve.say("drain", "--node", node)
        time.sleep(self.random.choice((0.3, 2)))
        self.serve.say("drain", "--node", node, "--undo")

    def pause(self):
        self.serve.say("pause")
        time.sleep(0.5)
        self.serve.say("resume")

    def cancel_by_user(self):
        number = self.random.choice(sorted(self.jobs))
        self.cancelled.add(number)
        self.cluster.client("scancel", str(number), check=False)

    def cancel_by_allot(self):
        number = self.random.choice(sorted(self.jobs))
        if self.serve.say("cancel", str(number)).returncode != 0:
            return False
        self.cancelled.add(number)
        return True

    def lose_power(self):
        self.restart(lambda: chaos_faults.lose_power(self.journal, self.random))

    def damage_the_journal(self):
        """A daemon does not begin on it; `allot journal repair`, and it does."""
        def damage():
            chaos_faults.damage(self.journal, self.random)
            if self.random.random() < 0.3 and self.serve.say("journal", "check").returncode != 0:
                self.refuses(self.serve.state, "journal repair")
            chaos_faults.repaired(self.serve.say)
        self.restart(damage)

    def refuses(self, state, why):
        one = Serve(self.build / "allot", self.cluster, self.folder)
        one.runtime, one.environment, one.state = self.serve.runtime, self.serve.environment, state
        chaos_faults.refused(one.popen, why, self.folder / "refused.log")

    def partition(self):
        self.relay.cut = True
        time.sleep(self.random.choice((1, 3, 8)))
        self.relay.cut = False

    def clock_jumps(self):
        if not chaos_faults.jumps(self.clock, self.random):
            return False
        if self.random.random() < 0.5:
            self.restart()
        return True

    def second_daemon(self):
        """On the same state folder it is refused; with its own it stands by, and goes again."""
        if self.random.random() < 0.5:
            self.refuses(self.serve.state, "one daemon a state folder")
            return
        standby = Serve(self.build / "allot", self.cluster, self.folder)
        standby.runtime, standby.environment, standby.state = self.serve.runtime, self.serve.environment, self.folder / "other"
        with (self.folder / "standby.log").open("a") as log:
            process = standby.popen(log)
        time.sleep(self.random.choice((1, 3)))
        process.kill()
        process.wait()

    # ---- judging ----
    def faults_found(self):
        found = []
        try:
            wait_until(lambda: not self.running(), "the end of all jobs", 40)
        except AssertionError:
            self.end_ghosts()
        try:
            wait_until(lambda: not self.running(), "the end of all jobs", 200)
        except AssertionError:
            found += [f"lost: {number} ({self.jobs[number]}) never ended" for number in self.running()]
        records = self.cluster.jobs()
        for number, kind in self.jobs.items():
            found += self.judged(number, kind, records.get(number, {}))
        for what, there in (("journal entries", self.not_retired), ("workers", self.workers),
                            ("Slurm jobs", self.queued), ("GPUs", self.held), ("tokens", self.tokens)):
            try:
                # Of a job that ends as its slurmd is restarted Slurm holds the GPUs for two minutes, until it says so again.
                wait_until(lambda there=there: not there(), what, 200)
            except AssertionError:
                if what == "GPUs" and self.done["kill slurmctld"] and not there()["allot"] and not self.queued():
                    self.done[SLURM_KEPT] += 1
                else:
                    found.append(f"leaked: {what}: {there()}")
        for life in (self.folder / "lives").iterdir():
            if len(lines_of(life)) > 1:
                found.append(f"doubled: {life.name} was started {len(lines_of(life))} times")
        found += [f"doubled: two of {name} at once" for name in lines_of(self.folder / "doubled")]
        return found

    def end_ghosts(self):
        """Jobs that are over, of which a controller that was killed knows no more than that they ran: Slurm's own fault, which an
        administrator ends."""
        alive = {re.search(rb"\0SLURM_JOB_ID=(\d+)\0", environment_of(entry.name)) for entry in Path("/proc").iterdir()
                 if entry.name.isdigit() and str(self.cluster.conf).encode() in environment_of(entry.name)}
        alive = {int(found[1]) for found in alive if found}
        for number in self.running():
            if number in self.again - alive and self.cluster.jobs()[number]["JobState"] == "RUNNING":
                self.cancelled.add(number)
                self.let_pass.append(f"lost: {number} is over, and runs in Slurm's records")
                self.cluster.client("scancel", str(number), check=False)

    def judged(self, number, kind, record):
        found, state = [], record.get("JobState", "forgotten")
        log = lines_of(self.home(number) / "log")
        ends = sum(line.startswith("end") for line in log)
        found += [f"doubled: two of {number} at once" for line in log if line == "doubled"]
        if state != "COMPLETED" and number not in self.cancelled:
            text = f"lost: {number} ({kind}) ended as {state}: {record.get('AdminComment')}"
            (self.let_pass if number in self.excused else found).append(text)
        again = self.let_pass if number in self.again else found
        if kind == "rigid" and log.count("begin") > 1:
            again.append(f"doubled: {number} of one size ran {log.count('begin')} times")
        if ends > 1:
            again.append(f"doubled: {number} ({kind}) came to its end {ends} times")
        if kind == "restart":
            saved = 0
            for line in log:
                word, step = line.split() if " " in line else (line, 0)
                if word == "saved":
                    saved = int(step)
                elif word == "begin" and int(step) < saved:
                    found.append(f"backward: {number} began at {step} after it saved {saved}")
        if kind == "elastic":
            found += self.judged_elastic(number)
        return found

    def judged_elastic(self, number):
        """No rank of an epoch is two workers, and a group begins no earlier than the last checkpoint of the one before."""
        ranks, begins = {}, {}
        found = []
        for output in sorted(self.home(number).glob(f"slurm-{number}.*.out")):
            for epoch, rank, step in re.findall(r"^epoch=(\d+) rank=(\d+) world=\d+ step=(\d+)", text_of(output), re.MULTILINE):
                before = ranks.setdefault((int(epoch), int(rank)), output.name)
                if before != output.name:
                    found.append(f"doubled: rank {rank} of epoch {epoch} of {number} is {before} and {output.name}")
                if rank == "0":
                    begins[int(epoch)] = int(step)
        steps = [begins[epoch] for epoch in sorted(begins)]
        return found + [f"backward: {number} began at {after} after {before}" for before, after in zip(steps, steps[1:])
                        if after < before - SAVE_EVERY]

    def not_retired(self):
        # An empty line says nothing, and is let be.
        journal = [json.loads(line) for line in lines_of(self.journal) if line]
        return sorted({r["job"] for r in journal if r["what"] == "job"} - {r["job"] for r in journal if r["what"] == "retire"})

    def queued(self):
        # The cluster's own mark of what is saved may come back with a controller that forgot its end.
        return [line for line in self.cluster.client("squeue", "--noheader", "--format=%i %j %T").splitlines()
                if " saved-" not in line]

    def held(self):
        status = self.serve.status()
        held = {node["node"]: node["held"] for node in status["nodes"] if node["held"]}
        used = {node: gpus for node, gpus in self.cluster.gpus_in_use().items() if gpus}
        return {"allot": held, "Slurm": used} if held or used else None

    def tokens(self):
        folder = self.serve.state / "slurm" / "tokens"
        return sorted(path.name for path in folder.iterdir()) if folder.exists() else []

    def end(self):
        self.relay.cut = False
        if self.serve.process and self.serve.process.poll() is None:
            self.serve.kill()
        for pid in self.workers():
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
        if not self.cluster.running("slurmctld"):
            self.cluster.start_controller()
            wait_until(self.cluster.controller_answers, "slurmctld")
        for node, *_ in NODES:
            if not self.cluster.running(f"slurmd-{node}"):
                self.cluster.start_node(node)
            self.cluster.resume(node)
        self.relay.close()
        self.cluster.clear()
        if any(self.cluster.gpus_in_use().values()):
            raise slurm.ClusterError(f"it counts GPUs that no job has: {self.cluster.gpus_in_use()}")
        if self.done["kill slurmctld"]:
            time.sleep(5)  # a daemon that begins now cannot know: Slurm would keep what a job gets in these seconds


def environment_of(pid):
    try:
        return Path(f"/proc/{pid}/environ").read_bytes()
    except OSError:
        return b""


class World(chaos_schedule.World):
    name = "slurm, jobs on 2x4"
    errors = (slurm.ClusterError,)

    def open(self):
        home = Path(tempfile.mkdtemp(prefix="allot-slurm-"))
        home.chmod(0o755)
        cluster = slurm.Cluster(home / "cluster", NODES, SETTINGS)
        try:
            cluster.start()
        except BaseException:
            self.close(cluster)
            raise
        return cluster

    def close(self, cluster):
        cluster.stop()
        shutil.rmtree(cluster.folder.parent, ignore_errors=True)

    def schedule(self, build, cluster, folder, seed):
        return Schedule(build, cluster, folder, seed)

    def keep(self, schedule, folder):
        (folder / "jobs.json").write_text(json.dumps(schedule.cluster.jobs(), indent=1))
        shutil.copytree(schedule.cluster.folder / "log", folder / "log")


def missing():
    """Why it cannot be played here, or None."""
    if slurm.missing():
        return slurm.missing()
    absent = [user for user in USERS if user is not None and user not in {entry.pw_name for entry in pwd.getpwall()}]
    return f"users who submit jobs must be there, {', '.join(absent)} is not" if absent else None
