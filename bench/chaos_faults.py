"""Faults of the daemon's machine that bench/chaos.py plays on every runtime: what power loss and decay leave of a journal, clocks
that jump, second daemons."""

import subprocess


def lose_power(journal, random):
    """What was not yet on disk is missing, or is there as zeros."""
    half = b'{"at":1.5,"what":"gi'
    with journal.open("ab") as file:
        file.write(random.choice((half, bytes(random.randint(1, 4096)), half + bytes(random.randint(1, 600)))))


def damage(journal, random):
    """A flipped bit, a line that is there twice, or an empty one."""
    how = random.choice(("flip", "double", "empty"))
    lines = journal.read_bytes().splitlines(keepends=True)
    at = random.randrange(len(lines))
    if how == "flip":
        line = bytearray(lines[at])
        line[random.randrange(len(line) - 1)] ^= 1 << random.randrange(7)
        lines[at] = bytes(line)
    else:
        lines.insert(at, lines[at] if how == "double" else b"\n")
    journal.write_bytes(b"".join(lines))


def repaired(say):
    """Whether the journal was damaged; it is repaired then. say("journal", "check"): runs the program."""
    if say("journal", "check").returncode == 0:
        return False
    done = say("journal", "repair")
    assert done.returncode == 0, f"stuck: a journal cannot be repaired: {done.stderr}"
    return True


def refused(start, why, log):
    """A daemon that is started now must end by itself, and say why. start(file): its Popen."""
    with log.open("a+") as file:
        begin = file.tell()
        process = start(file)
        try:
            code = process.wait(60)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
            raise AssertionError("doubled: a daemon began that must not") from None
        file.seek(begin)
        said = file.read()
    assert code != 0 and why in said, f"doubled: a daemon must say '{why}', it ended with {code}: {said[-500:]}"


def told(error):
    """What ended a schedule, as one of what was found."""
    text = str(error)
    return text if text.startswith(("doubled", "stuck")) else f"stuck: {text}"


def jumps(clock, random):
    """An hour ahead, an hour back, or to the right time; False: no clock can be set here."""
    if not clock.can_be_set():
        return False
    clock.set(random.choice((3600, -3600, 0)))
    return True
