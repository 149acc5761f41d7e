"""The learning curves, read with TensorBoard's own reader: needs `tensorboard`."""

import record_example
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator


def test_every_scalar_is_read_back(tmp_path):
    folder = record_example.write_example(tmp_path) / "tensorboard"
    curves = EventAccumulator(str(folder), size_guidance={"scalars": 0}).Reload()
    assert sorted(curves.Tags()["scalars"]) == ["charts/episodic_return", "losses/policy_loss"]
    returns = curves.Scalars("charts/episodic_return")
    assert [point.step for point in returns] == [1000 * i for i in range(300)]
    assert [point.value for point in returns] == [-1000.0 + i for i in range(300)]
    assert len(curves.Scalars("losses/policy_loss")) == 300
