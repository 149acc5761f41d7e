"""PyTorch Lightning in jobs that allot resizes by a restart.

    keeper = allot_elastic.lightning.SaveAndEnd("checkpoints/resize.ckpt")
    trainer = Trainer(..., callbacks=[keeper], use_distributed_sampler=False)
    trainer.fit(module, allot_elastic.restart.Loader(dataset, batch=64), ckpt_path=keeper.found())

Lightning keeps the place in the data of loaders that have a state_dict, as this one has; others begin the epoch again.
"""

import os
import sys

from allot_elastic.restart import Stop

try:
    from lightning.pytorch.callbacks import Callback
except ImportError:
    from pytorch_lightning.callbacks import Callback


class SaveAndEnd(Callback):
    """At SIGTERM: a checkpoint after the step at hand, in all processes the same, and the program ends."""

    def __init__(self, path):
        self.path = str(path)
        self._stop = Stop()

    def found(self):
        """The path, if a checkpoint is there."""
        return self.path if os.path.exists(self.path) else None

    def on_train_start(self, trainer, module):
        self._stop.listen()  # Lightning's own handler broadcasts, in the middle of whatever it interrupts

    def on_train_batch_end(self, trainer, module, outputs, batch, number):
        if self._stop.wanted():
            trainer.save_checkpoint(self.path)
            sys.exit(0)
