"""The program `allot`: python -m allot COMMAND ..."""

import sys

from allot._allot import main


def run() -> int:
    """Runs the command line of this process; returns the exit code."""
    return main(["allot", *sys.argv[1:]])


if __name__ == "__main__":
    sys.exit(run())
