"""The codes of the worker protocol (docs/formats/worker_protocol.md), as that page describes them: for daemons and workers of
the tests' own, and written apart from src/auth, so that the two check each other."""

import hashlib
import hmac
import json
import secrets


def new_nonce():
    return secrets.token_hex(16)


def keyed_code(key, text):
    return hmac.new(key.encode(), text.encode(), hashlib.sha256).hexdigest()


class WorkerSession:
    """One connection, of one side ("daemon" or "worker"), once both nonces are known."""

    def __init__(self, side, token, job, worker, worker_nonce, daemon_nonce):
        self.key = keyed_code(token, "\n".join(("allot worker protocol 2", worker_nonce, daemon_nonce, job, worker)))
        self.side, self.other = (side, "worker" if side == "daemon" else "daemon")
        self.signed = self.opened = 0

    def sign(self, message):
        """The bytes of the next line, with its end."""
        text = json.dumps(message)
        code = keyed_code(self.key, f"{self.side} {self.signed}\n{text}")
        self.signed += 1
        return f'{text[:-1]},"mac":"{code}"}}\n'.encode()

    def open(self, line):
        """The message of a line; ValueError: it is not the other side's next one."""
        head, _, code = line.rstrip("\n").rpartition(',"mac":"')
        text = head + "}"
        if not hmac.compare_digest(keyed_code(self.key, f"{self.other} {self.opened}\n{text}") + '"}', code):
            raise ValueError(f"a line has a wrong code: {line}")
        self.opened += 1
        return json.loads(text)
