"""A daemon of the tests' own, and one that is none: speaks the worker protocol (docs/formats/worker_protocol.md) to one job.

What a test wants of a daemon and no more: it starts worker processes, announces epochs when told to,
remembers what each worker said last, and can vanish and come back.
"""

import itertools
import json
import os
import socket
import subprocess
import threading

from cluster import free_ports
from waiting import text_of, wait_until
from worker_session import WorkerSession, new_nonce


class Daemon:
    """Use as a context manager; its folder holds the job's checkpoint and the workers' output."""

    def __init__(self, folder, command, environment=None):
        self.folder, self.command, self.environment = folder, command, environment or {}
        self.token = "token-of-the-job"
        self.processes = {}  # worker -> Popen
        self.said = {}  # worker -> {what: last message}
        self.lowest_steps = []  # of every "reached" of rank 0's
        self.addresses = {}
        self.epoch, self.members = -1, []
        self.acknowledges = True
        self.lock = threading.RLock()
        self.connections, self.sessions = {}, {}
        self.server = None
        self.port = 0

    def __enter__(self):
        self.listen()
        return self

    def __exit__(self, *_):
        for process in self.processes.values():
            process.kill()
            process.wait()
        self.vanish()

    # ---- the daemon's own life ----
    def listen(self):
        # None that the system hands out: while the daemon is away, workers' own connections could take it.
        self.port = self.port or free_ports(1)[0]
        self.server = socket.create_server(("127.0.0.1", self.port))
        threading.Thread(target=self._accept, args=(self.server,), daemon=True).start()

    def vanish(self):
        """As a daemon that was killed: all connections break, nobody listens."""
        self.server.shutdown(socket.SHUT_RDWR)
        self.server.close()
        with self.lock:
            for connection in self.connections.values():
                try:
                    connection.shutdown(socket.SHUT_RDWR)
                except OSError:
                    pass  # its worker is gone
            self.connections.clear()

    # ---- workers ----
    def start(self, *workers, token=None, arguments=()):
        for worker in workers:
            environment = {
                **os.environ, **self.environment, "ALLOT_JOB_ID": "job", "ALLOT_WORKER_ID": worker,
                "ALLOT_DAEMON": f"tcp:127.0.0.1:{self.port}", "ALLOT_TOKEN": token or self.token,
                "ALLOT_RUN_DIR": str(self.folder), "OMP_NUM_THREADS": "1",
            }
            self.processes[worker] = self.spawn(environment, self.folder / f"{worker}.out", map(str, arguments))

    def spawn(self, environment, output, arguments):
        with open(output, "w") as file:
            return subprocess.Popen([*self.command, *arguments], env=environment, stdout=file, stderr=subprocess.STDOUT)

    def joined(self, *workers):
        """Waits until all of them have."""
        wait_until(lambda: all(worker in self.addresses for worker in workers),
                   lambda: f"{workers} to join: {[self.output(worker)[-1000:] for worker in workers]}")

    def announce(self, *members, late=()):
        """The next epoch, once all members have joined; those in `late` do not hear of it yet."""
        self.joined(*members)
        with self.lock:
            self.epoch += 1
            self.members = list(members)
            for worker in set(self.connections) - set(late):
                self._send_epoch(worker)
        return self.epoch

    def tell_epoch(self, worker):
        with self.lock:
            self._send_epoch(worker)

    def reached(self, epoch):
        """Waits until all members of the epoch train in it."""
        wait_until(lambda: all(self.heard(member, "reached").get("epoch") == epoch for member in self.members),
                   lambda: f"{self.members} to reach epoch {epoch}; they said {self.said}")

    def regroup(self, *members):
        self.reached(self.announce(*members))

    def tell(self, worker, what, **more):
        with self.lock:
            self._send(worker, {"say": what, **more})

    def heard(self, worker, what):
        with self.lock:
            return self.said.get(worker, {}).get(what, {})

    def step(self, worker):
        return self.heard(worker, "progress").get("step", 0)

    def output(self, worker):
        return text_of(self.folder / f"{worker}.out")

    # ---- the protocol ----
    def _accept(self, server):
        while True:
            try:
                connection, _ = server.accept()
            except OSError:
                return
            threading.Thread(target=self._serve, args=(connection,), daemon=True).start()

    def _serve(self, connection):
        worker = None
        try:
            lines = connection.makefile("r")
            session = self._challenge(connection, json.loads(next(lines)))
            for line in lines:
                with self.lock:
                    message = session.open(line)
                    if worker is None:
                        assert message["say"] == "join", message
                        worker = message["worker"]
                        self.connections[worker], self.sessions[worker] = connection, session
                        self.addresses[worker] = message["address"]
                        self._send(worker, {"say": "welcome"})
                        self._send_epoch(worker)
                    self.said.setdefault(worker, {})[message["say"]] = message
                    if message["say"] == "reached" and self.members[0] == worker:
                        self.lowest_steps.append(message["step"])
                    if message["say"] == "finished" and self.acknowledges:
                        self._send(worker, {"say": "acknowledged"})
        except (OSError, StopIteration):
            pass
        finally:
            with self.lock:
                if self.connections.get(worker) is connection:
                    del self.connections[worker]
                connection.close()

    def _challenge(self, connection, hello):
        nonce = new_nonce()
        session = WorkerSession("daemon", self.token, hello["job"], hello["worker"], hello["nonce"], nonce)
        connection.sendall(session.sign({"say": "challenge", "nonce": nonce}))
        return session

    def _send_epoch(self, worker):
        if self.epoch >= 0:
            self._send(worker, {"say": "epoch", "epoch": self.epoch, "members": self.members,
                                "addresses": [self.addresses[member] for member in self.members]})

    def _send(self, worker, message):
        if worker in self.connections:
            try:
                self.connections[worker].sendall(self.sessions[worker].sign(message))
            except OSError:
                del self.connections[worker]


class FalseDaemon:
    """Listens in the place of a daemon, has no token, and tries everything that could make a worker talk or stop."""

    # A daemon of an earlier version, the orders that end workers, a guess.
    ANSWERS = ({"say": "refused", "why": "a connection begins with 'join'"}, {"say": "welcome"}, {"say": "stop"},
               {"say": "refused", "why": "no such worker"}, {"say": "epoch", "epoch": 9, "members": [], "addresses": []})

    def __init__(self, port):
        self.heard, self.server = [], socket.create_server(("127.0.0.1", port))
        threading.Thread(target=self._accept, daemon=True).start()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.server.shutdown(socket.SHUT_RDWR)
        self.server.close()

    def heard_of(self, worker):
        return [message for message in list(self.heard) if message.get("worker") == worker]

    def _accept(self):
        for turn in itertools.count():
            try:
                connection, _ = self.server.accept()
            except OSError:
                return
            threading.Thread(target=self._serve, args=(connection, turn), daemon=True).start()

    def _serve(self, connection, turn):
        try:
            with connection:
                for line in connection.makefile("r"):
                    hello = json.loads(line)
                    self.heard.append(hello)
                    nonce, answer = new_nonce(), self.ANSWERS[turn % len(self.ANSWERS)]
                    guess = WorkerSession("daemon", "guessed", hello["job"], hello["worker"], hello["nonce"], nonce)
                    challenge = guess.sign({"say": "challenge", "nonce": nonce})
                    for said in (json.dumps(answer).encode() + b"\n", challenge, guess.sign(answer))[turn % 2:]:
                        connection.sendall(said)
        except OSError:
            pass  # the worker has left
