"""A policy of your own in twenty lines, in the same table as the well-known ones.

    python own_policy.py --workload embedded --cluster 8x8 --load 0.8 --span 2d
"""

import argparse

import numpy as np

import allot


class OldestFirst(allot.Policy):
    """Jobs that have waited longest first; each gets its most efficient configuration of at least half its best speed."""

    def decide(self, observation):
        configurations = np.full(len(observation.job), -1)
        for row in range(len(observation.job)):
            table = observation.table(row)
            good = table.rate >= 0.5 * table.rate.max()
            per_cost = np.where(good & (table.allocatable == 1), table.rate / table.cost, -np.inf)
            configurations[row] = per_cost.argmax()
        oldest = np.argsort(observation.submit, kind="stable")
        # Served in this order as far as GPUs go; who does not fit waits. Jobs that keep their configuration keep their GPUs.
        return observation.allocate(configurations, order=oldest)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--workload", default="embedded", help="your trace, or 'embedded'")
    parser.add_argument("--cluster", default="8x8", help="8x8: 8 nodes of 8 GPUs")
    parser.add_argument("--load", type=float, default=0.8, help="what the trace is thinned to; it cannot offer more than it has")
    parser.add_argument("--span", default="2d")
    given = parser.parse_args()
    result = allot.compare([OldestFirst, "fifo", "srtf", "index"], **vars(given))
    print(result)  # result.frame(), result.jobs() and result.plot() give pandas and matplotlib


if __name__ == "__main__":
    main()
