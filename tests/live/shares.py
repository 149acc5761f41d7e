"""Whether users have even shares of the GPUs: one check for every runtime of `allot serve`."""

import math
import re

from waiting import json_of, wait_until

POLICIES = ["index", "las", "drf", "philly-elastic"]


def spec(policy, root):
    return f"learned:checkpoint={root}/checkpoints/philly-elastic/accepted" if policy == "philly-elastic" else policy


def jains_index(amounts):
    """1 where all have as much, 1/n where one of n has all."""
    return sum(amounts) ** 2 / (len(amounts) * sum(amount ** 2 for amount in amounts))


def used_by(status, owner_of):
    """GPU seconds by owner, from `allot status --json`; `owner_of`: of a job of it, None for one that does not count."""
    used = {}
    for job in status["jobs"]:
        if (owner := owner_of(job)) is not None:
            used[owner] = used.get(owner, 0) + job["gpu_seconds"]
    return used


def expect_even(daemon, owner_of, owners, at_least=40, index=.95):
    """Until these owners, who all have work, have used so many more GPU seconds together; no job of theirs may end meanwhile."""
    begin = used_by(daemon.status(), owner_of)

    def since():
        now = used_by(daemon.status(), owner_of)
        return [now.get(owner, 0) - begin.get(owner, 0) for owner in owners]

    wait_until(lambda: sum(since()) >= at_least, lambda: f"{owners} to use {at_least} GPU seconds: {since()}")
    used = since()
    assert jains_index(used) >= index, dict(zip(owners, used))


def fewest_gpus(state, job, after):
    """The fewest GPUs that this job had allocated after so many records of the journal in a state folder."""
    return min((0 if record["what"] == "take" else int(re.match(r"gpus=(\d+)", record["configuration"])[1])
               for number, record in enumerate(json_of(state / "journal.jsonl"))
               if record["what"] in ("give", "take") and record["job"] == job and number >= after), default=math.inf)
