"""A wall clock of one process's own, which can be set: Debian's libfaketime. The monotonic clock stays."""

from pathlib import Path


class OwnClock:
    """Right at first."""

    def __init__(self, folder):
        self.file = folder / "clock"
        self.set(0)

    @staticmethod
    def _library():
        return next(Path("/usr/lib").glob("*/faketime/libfaketimeMT.so.1"), None)

    def can_be_set(self):
        return self._library() is not None

    def set(self, ahead):
        """So many seconds ahead of the right time, from a second later on."""
        self.file.write_text(f"{ahead:+d}\n")

    def environment(self, own):
        """Of a process that has this clock."""
        if not self.can_be_set():
            return own
        return {**own, "LD_PRELOAD": str(self._library()), "FAKETIME_DONT_FAKE_MONOTONIC": "1",
                "FAKETIME_TIMESTAMP_FILE": str(self.file), "FAKETIME_CACHE_DURATION": "1"}
