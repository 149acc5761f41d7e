"""Whether users have even shares of the GPUs: one check for every runtime of `allot serve`."""

from waiting import wait_until


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
