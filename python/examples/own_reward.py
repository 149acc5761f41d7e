"""A reward of your own: as jct, but long waits of few jobs count more than short waits of many.

    python own_reward.py --decisions 200

An environment sums it over an episode; an agent that is trained on it cares for the worst waits.
"""

import argparse

import gymnasium
import numpy as np

import allot


def tail_waits(step, observation):
    """Minus the square root of the mean of squared ages, times the seconds of the step (hours squared)."""
    if len(observation.submit) == 0:
        return 0.0
    ages = (observation.now - observation.submit) / 3600
    return -float(np.sqrt(np.mean(ages**2))) * step.elapsed / 3600


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--decisions", type=int, default=200)
    given = parser.parse_args()
    allot.register_reward("tail_waits", tail_waits)
    for reward in ("jct", "tail_waits"):
        env = gymnasium.make("allot/Philly-v0", reward=reward, max_jobs=64, disable_env_checker=True)
        env.reset(seed=1)
        total = 0.0
        for _ in range(given.decisions):
            # The fixed index that all jobs share: priority 0, then sizes by marginal gain.
            action = np.zeros(env.action_space.shape, np.float32)
            _, gained, terminated, truncated, _ = env.step(action)
            total += gained
            if terminated or truncated:
                break
        print(f"{reward:>10}: {total:.1f} after {given.decisions} decisions")
        env.close()


if __name__ == "__main__":
    main()
