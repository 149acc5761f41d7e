#!/usr/bin/env python3
"""A policy in another cluster manager, by ctypes: plugin.py LIBRARY POLICY SNAPSHOT.json

Prints what each job of the snapshot gets, and why. POLICY is as for `allot serve --policy`: "drf",
"learned:checkpoint=FOLDER". The snapshot's format: docs/formats/snapshot.md.
"""

import ctypes
import json
import sys

VERSION = 1  # of the interface, src/plugin/allot_plugin.h


class Policy:
    """`with Policy(library, spec) as policy`: policy.decide(snapshot) and policy.explain() of it."""

    def __init__(self, library, spec):
        self._library = ctypes.CDLL(str(library))
        self._library.allot_last_error.restype = ctypes.c_char_p
        self._library.allot_policy_destroy.argtypes = [ctypes.c_void_p]
        self._library.allot_policy_destroy.restype = None
        self._policy = ctypes.c_void_p()
        version = self._library.allot_plugin_version()
        if version < VERSION:
            raise RuntimeError(f"{library} is of version {version}, {VERSION} is needed")
        self._call("allot_policy_create", spec.encode(), ctypes.byref(self._policy))

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self._library.allot_policy_destroy(self._policy)

    def _call(self, function, *arguments):
        if getattr(self._library, function)(*arguments) != 0:
            raise RuntimeError(self._library.allot_last_error().decode())

    def decide(self, snapshot):
        answer = ctypes.c_char_p()
        self._call("allot_policy_decide_json", self._policy, json.dumps(snapshot).encode(), ctypes.byref(answer))
        return json.loads(answer.value)

    def explain(self):
        answer = ctypes.c_char_p()
        self._call("allot_policy_explain", self._policy, ctypes.byref(answer))
        return json.loads(answer.value)


def main():
    library, spec, path = sys.argv[1:]
    with open(path, encoding="utf-8") as file:
        snapshot = json.load(file)
    with Policy(library, spec) as policy:
        for job in policy.decide(snapshot)["jobs"]:
            places = ", ".join(f"node {share['node']} GPUs {share['gpus']}" for share in job["shares"])
            print(f"{job['job']}: {places}")
        for job in policy.explain().get("jobs", []):
            print(f"{job['job']} gets {job['gets']}: {job['why']}")


if __name__ == "__main__":
    main()
