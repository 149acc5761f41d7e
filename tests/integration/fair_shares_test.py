"""Fair shares under `allot serve` with local processes (docs/rules.md); tests/conformance/rules_test.cc has all policies in the simulator."""


import pytest

from local import ENDLESS
from shares import POLICIES, expect_even, spec


@pytest.mark.parametrize("policy", POLICIES)
def test_two_accounts_train_on_even_shares(live, root, policy):
    """One elastic job beside eight of one GPU, on eight GPUs: 10 s each, most of it the training that is measured."""
    live.submit("alice", steps=ENDLESS, high=8, account="alice")
    for job in range(8):
        live.submit(f"eve{job}", steps=ENDLESS, high=1, account="eve")
    live.serve(policy=spec(policy, root))
    live.training("alice", at_least=4)
    expect_even(live, lambda job: job["job"].rstrip("0123456789"), ["alice", "eve"])
