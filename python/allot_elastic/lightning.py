"""PyTorch Lightning in jobs that allot resizes by a restart.

    keeper = allot_elastic.lightning.SaveAndEnd("checkpoints/resize.ckpt")
    trainer = Trainer(..., callbacks=[keeper], use_distributed_sampler=False)
    trainer.fit(module, allot_elastic.restart.Loader(dataset, batch=64), ckpt_path=keeper.found())

Lightning stores the position in the data if the loader has a state_dict, as this one has; with others the epoch begins again.
"""

import os
import sys

from allot_elastic.restart import Stop

try:
    from lightning.pytorch.callbacks import Callback
except ImportError:
    from pytorch_lightning.callbacks import Callback


class SaveAndEnd(Callback):
    """Handles SIGTERM: saves a checkpoint after the present step, the same in all processes, and ends the program."""

    def __init__(self, path):
        self.path = str(path)
        self._stop = Stop()

    def found(self):
        """The path, if a checkpoint is there."""
        return self.path if os.path.exists(self.path) else None

    def on_train_start(self, trainer, module):
        self._stop.listen()  # Lightning's handler would broadcast in the middle of the interrupted code

    def on_train_batch_end(self, trainer, module, outputs, batch, number):
        if self._stop.wanted():
            trainer.save_checkpoint(self.path)
            sys.exit(0)
