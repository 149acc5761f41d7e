#!/usr/bin/env python3
"""A throw-away Slurm cluster in a folder: munged, slurmctld and a slurmd per node, all of its own.

    cluster.py start DIR     start it and wait until all nodes are idle; prints SLURM_CONF=...
    cluster.py stop DIR      end what `start` started, by its process ids

Loopback only, no systemd, nothing outside the folder; as root, jobs run as the users who submit
them, else only as oneself. Several clusters may run side by side: each takes ports that are free.
Four nodes with 20 GPUs of three types that exist in Slurm's books alone. Jobs that users submit
wait in the partition `elastic`, which is down, until somebody moves them to `main`.
"""

import argparse
import contextlib
import os
import pwd
import random
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import slurm_releases

NODES = (("n1", 16, "v100", 4), ("n2", 16, "v100", 4), ("n3", 16, "p100", 4), ("n4", 16, "k80", 8))
LATER = ("n5", 16, "p100", 2)  # Slurm shows it to nobody before add_node()
PROGRAMS = ("munged", "slurmctld", "slurmd", "scontrol", "sbatch", "scancel")
SBIN = "/usr/local/sbin:/usr/sbin:/sbin"
JOB_SUBMIT = Path(__file__).resolve().parents[2] / "deploy" / "slurm" / "job_submit.lua"


def missing():
    """Why no cluster can run here, or None."""
    path = f"{os.environ.get('PATH', os.defpath)}:{SBIN}"
    absent = [program for program in PROGRAMS if not shutil.which(program, path=path)]
    return f"Slurm is not installed: {', '.join(absent)} not found" if absent else None


# States of a job that is over. Of the others there are many: STOPPED and SIGNALING run.
ENDED = {"BOOT_FAIL", "CANCELLED", "COMPLETED", "COMPLETING", "DEADLINE", "FAILED", "NODE_FAIL", "OUT_OF_MEMORY",
         "PREEMPTED", "TIMEOUT"}


class ClusterError(RuntimeError):
    pass


class Cluster:
    """One cluster; the folder holds everything, so that another process can find and stop it."""

    def __init__(self, folder, nodes=NODES, settings=None, release=None, service=None, files=None):
        self.folder = Path(folder).resolve()
        self.nodes = nodes
        self.settings = settings or {}  # of slurm.conf, in place of ours
        self.files = files or {}  # name -> text, beside slurm.conf
        self.release = Path(release) if release else None  # a folder of slurm_releases.py; None: what is installed
        self.service = service  # SlurmUser, as root alone may choose it; None: whoever runs this
        self.conf = self.folder / "slurm.conf"
        self.environment = {**os.environ, "SLURM_CONF": str(self.conf)}
        self.environment["PATH"] = f"{os.environ.get('PATH', os.defpath)}:{SBIN}"
        if self.release:
            self.environment["PATH"] = f"{self.release}/programs:{self.environment['PATH']}"
            self.settings = {"PluginDir": slurm_releases.plugins_of(self.release), **self.settings}

    def __enter__(self):
        self.start()
        return self

    def __exit__(self, *_):
        self.stop()

    # ---- daemons ----
    def start(self):
        for name in ("log", "pid", "state", "dev", "spool"):
            (self.folder / name).mkdir(parents=True, exist_ok=True)
            if self.service:  # slurmctld becomes that user
                shutil.chown(self.folder / name, self.service)
        self.folder.chmod(0o755)
        self._spawn("munged", *self._munged())
        self._until(lambda: (self.folder / "munge.socket").exists(), "munged's socket", alive=("munged",))
        self.prepare()
        for attempt in range(5):  # a port may have been taken since it was free
            self.ports = free_ports(2 + len(self.nodes))
            self._write_conf()
            self._spawn("slurmctld", "slurmctld", "-D")
            try:
                # A slurmd that finds no controller at its first try backs off for long.
                self._until(self.controller_answers, "slurmctld", alive=("slurmctld",))
                for node, *_ in self.nodes:
                    self._spawn_slurmd(node)
                self._until(lambda: self.idle_nodes() == len(self.nodes), "idle nodes", alive=self.daemons())
                return self
            except ClusterError:
                self._end(*(f"slurmd-{node}" for node, *_ in self.nodes), "slurmctld")
                if attempt == 4:
                    raise

    def prepare(self):
        """What else runs before slurmctld: nothing (accounting.py)."""

    def daemons(self):
        return ("munged", "slurmctld", *(f"slurmd-{node}" for node, *_ in self.nodes))

    def start_controller(self):
        self._spawn("slurmctld", "slurmctld", "-D")

    def start_node(self, node):
        """Its slurmd, until that takes jobs."""
        self._spawn_slurmd(node)
        self._until(lambda: listens(self._port(node)), f"slurmd of {node}", alive=(f"slurmd-{node}",))

    def resume(self, *nodes):
        """They take jobs again, after they were drained or set down."""
        def back():
            # Slurm refuses it for a node that is back by itself, as one that was down is once its slurmd registers.
            self.client("scontrol", "update", f"nodename={','.join(nodes)}", "state=resume", check=False)
            states = re.findall(r" State=(\S+)", self.client("scontrol", "--oneliner", "show", "node", ",".join(nodes)))
            return len(states) == len(nodes) and all(state in ("IDLE", "MIXED", "ALLOCATED") for state in states)
        self._until(back, f"{nodes} to be back")

    def add_node(self):
        """LATER joins: its slurmd is enough. Its name."""
        self.start_node(LATER[0])
        return LATER[0]

    def remove_node(self):
        """LATER is as it was before it joined. It has no job."""
        self._end(f"slurmd-{LATER[0]}")
        self.client("scontrol", "update", f"nodename={LATER[0]}", "state=future")

    def pid(self, daemon):
        return int((self.folder / "pid" / daemon).read_text())

    def kill(self, daemon, signum=signal.SIGKILL):
        """A signal to one of daemons(); after SIGKILL, waits until it is gone."""
        pid = self.pid(daemon)
        os.kill(pid, signum)
        if signum == signal.SIGKILL:
            self._until(lambda: not alive(pid), f"the end of {daemon}")

    def stop(self):
        """Ends all daemons, those of nodes first; their jobs go with them."""
        if self.conf.exists() and self.running("slurmctld"):
            ids = self.client("squeue", "--noheader", "--format=%i", check=False).split()
            if ids:
                self.client("scancel", "--signal=KILL", "--full", *ids, check=False)
                self.client("scancel", *ids, check=False)
                deadline = time.monotonic() + 10
                while time.monotonic() < deadline and self.client("squeue", "--noheader", check=False).strip():
                    time.sleep(0.1)
        self._end(*(f"slurmd-{node}" for node, *_ in (*self.nodes, LATER)), "slurmctld")
        self._end("munged")

    def running(self, daemon):
        try:
            return alive(self.pid(daemon))
        except (FileNotFoundError, ValueError):
            return False

    # ---- asking ----
    def client(self, *command, check=True, timeout=120, user=None, **options):
        """Runs one of Slurm's programs, as another user if named; its output."""
        options.setdefault("cwd", self.folder)
        if user is not None:
            account = pwd.getpwnam(user)
            options |= {"user": account.pw_uid, "group": account.pw_gid, "extra_groups": []}
        try:
            # Users write what they like into comments, in any bytes.
            done = subprocess.run(command, env=self.environment, capture_output=True, text=True, errors="replace",
                                  timeout=timeout, **options)
        except subprocess.TimeoutExpired:
            if check:
                raise ClusterError(f"{command[0]} did not answer in {timeout} s") from None
            return ""
        if check and done.returncode:
            raise ClusterError(f"{' '.join(map(str, command))}: exit code {done.returncode}\n{done.stdout}{done.stderr}")
        return done.stdout

    def controller_answers(self):
        return "is UP" in self.client("scontrol", "ping", check=False, timeout=10)

    def idle_nodes(self):
        # sinfo -N would list a node once a partition.
        lines = self.client("scontrol", "--oneliner", "show", "node", check=False, timeout=10).splitlines()
        return sum(" State=IDLE " in line for line in lines)

    def jobs(self):
        """Slurm's job records, those that ended lately too: id -> {field: text}."""
        records = {}
        text = self.client("scontrol", "--oneliner", "--details", "show", "job")
        for line in re.split(r"\n(?=JobId=)", text):  # a name may have ends of lines
            record = dict(word.split("=", 1) for word in line.split() if "=" in word)
            if "JobId" in record:
                records[int(record["JobId"])] = record
        return records

    def clear(self):
        """Cancels all jobs, until none is left, not even one that is about to end, and all nodes are idle: the next daemon
        would take a job that is completing for one of its own."""
        def is_clear():
            # By the names of tasks: once the last task of an array is over, 22.05 knows no number of the others.
            names = self.client("squeue", "--noheader", "--format=%i").split()
            if names:
                self.client("scancel", *names, check=False)  # may have ended since
            return not names and self.idle_nodes() == len(self.nodes)
        self._until(is_clear, "a cluster without jobs")

    def wait_for_saved_state(self):
        """Until all that is so now is written down: a controller that is killed before forgets it. It writes some seconds
        after a change, all jobs in one piece: so this makes a change, and waits to see it there."""
        name = f"saved-{time.monotonic_ns()}"
        number = self.client("sbatch", "--parsable", "--hold", "--partition=main", f"--job-name={name}", "--wrap=true",
                             "--output=/dev/null").strip()
        saved = self.folder / "state" / "job_state"
        self._until(lambda: saved.exists() and name.encode() in saved.read_bytes(), "slurmctld to save")
        self.client("scancel", number)

    def gpus_in_use(self):
        """Node -> GPUs that Slurm counts as used."""
        used = {}
        for line in self.client("scontrol", "--oneliner", "--details", "show", "node").splitlines():
            fields = dict(word.split("=", 1) for word in line.split() if "=" in word)
            # gpu:a100:1(IDX:0),gpu:v100:0(IDX:N/A)
            used[fields["NodeName"]] = sum(map(int, re.findall(r":(\d+)\(", fields.get("GresUsed", ""))))
        return used

    # ---- inside ----
    def _munged(self):
        key = self.folder / "munge.key"
        if not key.exists():
            key.touch(mode=0o600)
            key.write_bytes(os.urandom(1024))
        # --force: parents of the folder may be writable by a group, as /tmp is.
        return ("munged", "--foreground", "--force", f"--socket={self.folder}/munge.socket",
                f"--key-file={key}", f"--pid-file={self.folder}/pid/munged.own",
                f"--log-file={self.folder}/log/munged.log", f"--seed-file={self.folder}/munge.seed")

    def _port(self, node):
        """Of its slurmd; slurmctld has the first."""
        names = [name for name, *_ in (*self.nodes, LATER)]
        return self.ports[1 + names.index(node)]

    def _write_conf(self):
        # Slurm looks its controller up by the short host name.
        host, me, here = socket.gethostname().split(".")[0], pwd.getpwuid(os.getuid()).pw_name, self.folder
        settings = {
            "ClusterName": "throwaway", "SlurmctldHost": f"{host}(127.0.0.1)", "SlurmctldPort": self.ports[0],
            "SlurmUser": self.service or me, "SlurmdUser": me, "AuthType": "auth/munge", "CredType": "cred/munge",
            "AuthInfo": f"socket={here}/munge.socket",
            "CommunicationParameters": "NoCtldInAddrAny,NoInAddrAny",
            "StateSaveLocation": f"{here}/state", "SlurmdSpoolDir": f"{here}/spool/%n",
            "SlurmctldPidFile": f"{here}/pid/slurmctld.own", "SlurmdPidFile": f"{here}/pid/slurmd-%n.own",
            "SlurmctldLogFile": f"{here}/log/slurmctld.log", "SlurmdLogFile": f"{here}/log/slurmd-%n.log",
            "ProctrackType": "proctrack/linuxproc", "TaskPlugin": "task/none", "MpiDefault": "none",
            "JobAcctGatherType": "jobacct_gather/none", "AccountingStorageType": "accounting_storage/none",
            "SwitchType": "switch/none", "MailProg": "/bin/true", "RebootProgram": "/bin/true",
            "SelectType": "select/cons_tres", "SelectTypeParameters": "CR_Core",
            "SchedulerType": "sched/builtin", "SchedulerParameters": "batch_sched_delay=0,sched_interval=2",
            "PriorityType": "priority/basic", "PreemptMode": "OFF", "ReturnToService": 2,
            # Limits that only a slow machine, or a fault, comes to.
            "SlurmctldTimeout": 300, "SlurmdTimeout": 300, "MessageTimeout": 30, "KillWait": 30,
            "MinJobAge": 3600,
            "SlurmdParameters": "config_overrides", "GresTypes": "gpu", "JobSubmitPlugins": "lua",
            **self.settings,
        }
        lines = [f"{key}={value}" for key, value in settings.items()]
        gres = []
        for node, cpus, kind, gpus in (*self.nodes, LATER):
            devices = here / "dev" / node
            devices.mkdir(exist_ok=True)
            for number in range(gpus):
                # CUDA_VISIBLE_DEVICES stays empty unless File= leads to a character device.
                link = devices / f"nvidia{number}"
                if not link.is_symlink():
                    link.symlink_to("/dev/null")
            first = 0
            kinds = kind if isinstance(kind, dict) else {kind: gpus}  # a node may have several
            for one, count in kinds.items():
                gres.append(f"NodeName={node} Name=gpu Type={one} File={devices}/nvidia[{first}-{first + count - 1}]")
                first += count
            of_node = ",".join(f"gpu:{one}:{count}" for one, count in kinds.items())
            lines.append(f"NodeName={node} NodeHostname={host} NodeAddr=127.0.0.1 Port={self._port(node)} CPUs={cpus} "
                         f"RealMemory=8000 Gres={of_node} Feature={','.join(kinds)} State={'FUTURE' if node == LATER[0] else 'UNKNOWN'}")
        names = ",".join(node for node, *_ in (*self.nodes, LATER))
        lines.append(f"PartitionName=main Nodes={names} MaxTime=INFINITE State=UP OverSubscribe=NO")
        lines.append(f"PartitionName=elastic Nodes={names} MaxTime=INFINITE State=DOWN Default=YES")
        (here / "gres.conf").write_text("\n".join(gres) + "\n")
        shutil.copy(JOB_SUBMIT, here / "job_submit.lua")
        for name, text in self.files.items():
            (here / name).write_text(text)
        self.conf.write_text("\n".join(lines) + "\n")

    def _spawn_slurmd(self, node):
        step = ("-d", self.release / "programs/slurmstepd") if self.release else ()
        self._spawn(f"slurmd-{node}", "slurmd", "-D", "-N", node, *step)

    def _spawn(self, name, *command):
        with open(self.folder / "log" / f"{name}.out", "ab") as output:
            process = subprocess.Popen(command, env=self.environment, stdin=subprocess.DEVNULL, stdout=output,
                                       stderr=output, start_new_session=True, cwd=self.folder)
        (self.folder / "pid" / name).write_text(str(process.pid))
        CHILDREN[process.pid] = process

    def _end(self, *names):
        pids = {name: self.pid(name) for name in names if self.running(name)}
        for pid in pids.values():
            os.kill(pid, signal.SIGTERM)
        deadline = time.monotonic() + 10
        while any(map(alive, pids.values())) and time.monotonic() < deadline:
            time.sleep(0.02)
        for name, pid in pids.items():
            if alive(pid):
                os.kill(pid, signal.SIGKILL)
            (self.folder / "pid" / name).unlink()

    def _until(self, holds, what, seconds=120, alive=()):
        deadline = time.monotonic() + seconds
        while not holds():
            dead = [daemon for daemon in alive if not self.running(daemon)]
            if dead or time.monotonic() > deadline:
                raise ClusterError(f"waiting for {what}: " + (
                    f"{dead[0]} ended: {self._last_words(dead[0])}" if dead else f"not within {seconds} s"))
            time.sleep(0.05)

    def _last_words(self, daemon):
        return (self.folder / "log" / f"{daemon}.out").read_text(errors="replace")[-600:]


CHILDREN = {}  # pid -> Popen, so that what ended is reaped


@contextlib.contextmanager
def throw_away(nodes=NODES, settings=None, release=None, service=None, files=None):
    """A running cluster in a folder that other users may enter, unlike pytest's: their jobs run here."""
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as name:
        folder = Path(name)
        folder.chmod(0o755)
        with Cluster(folder / "cluster", nodes, settings, release, service, files) as one:
            yield one


def alive(pid):
    if pid in CHILDREN:
        return CHILDREN[pid].poll() is None
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0]
    except (FileNotFoundError, ProcessLookupError):
        return False
    return state != "Z"


def listens(port):
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


def free_ports(count):
    """That many consecutive ports, free at this moment, below those that the system hands out.

    Workers of pytest-xdist have ranges of their own.
    """
    workers = int(os.environ.get("PYTEST_XDIST_WORKER_COUNT", "1"))
    worker = int(os.environ.get("PYTEST_XDIST_WORKER", "gw0").removeprefix("gw"))
    width = 18000 // workers
    for _ in range(200):
        base = 12000 + width * worker + random.SystemRandom().randrange(width - count)
        sockets = []
        try:
            for port in range(base, base + count):
                probe = socket.socket()
                sockets.append(probe)
                probe.bind(("127.0.0.1", port))
            return list(range(base, base + count))
        except OSError:
            continue
        finally:
            for probe in sockets:
                probe.close()
    raise ClusterError("no free ports between 12000 and 30000")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("command", choices=("start", "stop"))
    parser.add_argument("folder")
    parser.add_argument("--service", metavar="USER", help="SlurmUser, where root starts it (default: root)")
    arguments = parser.parse_args()
    cluster = Cluster(arguments.folder, service=arguments.service)
    try:
        if arguments.command == "stop":
            cluster.stop()
            return
        if missing():
            sys.exit(missing())
        cluster.start()
        print(f"export SLURM_CONF={cluster.conf}")
    except ClusterError as error:
        cluster.stop()
        sys.exit(f"cluster.py: {error}")


if __name__ == "__main__":
    main()
