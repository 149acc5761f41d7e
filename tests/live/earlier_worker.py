"""A worker as those of an earlier commit spoke, alone in its job: joins, trains 20 steps, is finished.

    earlier_worker.py 797ff95    its `join` has the token, and no line a code
    earlier_worker.py 2a4561a    a `hello` before, and codes

The lines are those that src/elastic/member.cc of these commits wrote. Started by a daemon, with ALLOT_* in its environment.
"""

import json
import os
import socket
import sys

from worker_session import WorkerSession, new_nonce

STEPS = 20
JOB, WORKER, TOKEN = (os.environ[f"ALLOT_{name}"] for name in ("JOB_ID", "WORKER_ID", "TOKEN"))


class Plain:
    """Before there were codes."""

    def __init__(self, connection, _):
        connection.sendall(self.sign({"say": "join", "job": JOB, "worker": WORKER, "token": TOKEN, "epoch": -1, "heard": -1,
                                      "step": 0, "address": ""}))

    def sign(self, message):
        return json.dumps(message).encode() + b"\n"

    def open(self, line):
        return json.loads(line)


def session_with_codes(connection, lines):
    nonce = new_nonce()
    connection.sendall(json.dumps({"say": "hello", "job": JOB, "worker": WORKER, "nonce": nonce}).encode() + b"\n")
    challenge = next(lines)
    session = WorkerSession("worker", TOKEN, JOB, WORKER, nonce, json.loads(challenge)["nonce"])
    session.open(challenge)
    connection.sendall(session.sign({"say": "join", "job": JOB, "worker": WORKER, "epoch": -1, "heard": -1, "step": 0,
                                     "address": ""}))
    return session


def main():
    kind, _, where = os.environ["ALLOT_DAEMON"].partition(":")
    connection = socket.socket(socket.AF_UNIX if kind == "unix" else socket.AF_INET)
    host, _, port = where.rpartition(":")
    connection.connect(where if kind == "unix" else (host, int(port)))
    lines = iter(connection.makefile("r"))
    session = {"797ff95": Plain, "2a4561a": session_with_codes}[sys.argv[1]](connection, lines)

    def say(**message):
        connection.sendall(session.sign(message))

    for line in lines:
        heard = session.open(line)
        print(heard["say"], flush=True)
        if heard["say"] == "epoch":
            assert heard["members"] == [WORKER], heard
            say(say="reached", epoch=heard["epoch"], step=0)
            for step in range(STEPS + 1):
                say(say="progress", epoch=heard["epoch"], step=step, work=64.0 * step, rate=100.0, total=64.0 * STEPS, loss=1.0)
            say(say="saved", step=STEPS, work=64.0 * STEPS)
            say(say="finished", step=STEPS, work=64.0 * STEPS)
        elif heard["say"] in ("acknowledged", "stop"):
            return


if __name__ == "__main__":
    main()
