"""HuggingFace's Trainer in jobs that allot resizes by a restart.

    trainer = Trainer(..., callbacks=[allot_elastic.huggingface.SaveAndEnd()])
    trainer.train(resume_from_checkpoint=allot_elastic.huggingface.last_checkpoint(arguments.output_dir))

TrainingArguments' own `enable_jit_checkpoint` waits for three seconds first, and its processes may stop after different steps.
"""

import os
import sys

from transformers import TrainerCallback
from transformers.trainer_callback import TrainerState
from transformers.trainer_utils import PREFIX_CHECKPOINT_DIR

from allot_elastic.restart import Stop


class SaveAndEnd(TrainerCallback):
    """Handles SIGTERM: saves a checkpoint after the present step, the same in all processes, and ends the program."""

    def __init__(self):
        self._stop = Stop()
        self._ends = False

    def on_step_end(self, args, state, control, **_):
        self._ends = self._stop.wanted()
        if self._ends:
            control.should_save = True
        return control

    def on_save(self, *_, **__):
        if self._ends:
            sys.exit(0)


def last_checkpoint(folder):
    """The newest complete checkpoint in an output folder, or None. The state is its last file."""
    found = []
    for name in os.listdir(folder) if os.path.isdir(folder) else ():
        kind, _, step = name.rpartition("-")
        if kind == PREFIX_CHECKPOINT_DIR and step.isdigit() and _is_whole(os.path.join(folder, name)):
            found.append((int(step), os.path.join(folder, name)))
    return max(found)[1] if found else None


def _is_whole(checkpoint):
    try:
        TrainerState.load_from_json(os.path.join(checkpoint, "trainer_state.json"))
    except (OSError, ValueError):
        return False
    return True
