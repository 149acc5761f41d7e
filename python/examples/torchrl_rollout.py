"""A rollout by TorchRL: masks as it takes them, rewards-to-go discounted by simulated time.

    python torchrl_rollout.py --steps 500
"""

import argparse

import torch

import allot.torchrl


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--steps", type=int, default=500)
    given = parser.parse_args()
    torch.manual_seed(0)
    env = allot.torchrl.make(setting="dl2:size=S", action="increments", max_jobs=10, reward="jct")
    env.set_seed(1)
    # Random actions are legal ones: the transform ActionMask tells the action spec.
    rollout = env.rollout(given.steps, break_when_any_done=False)
    legal = rollout["action_mask"].gather(-1, rollout["action"].unsqueeze(-1))
    reward = rollout["next", "reward"].squeeze(-1)
    print(rollout)
    print(f"{len(rollout)} steps, {int(rollout['next', 'done'].sum())} episodes ended, all legal: {bool(legal.all())}")
    print(f"job-seconds in the system: {-reward.sum():.0f}")


if __name__ == "__main__":
    main()
