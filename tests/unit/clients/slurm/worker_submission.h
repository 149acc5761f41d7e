#pragma once
// What the tests of commands submit: a worker of a user's job.

#include <unistd.h>

#include "clients/slurm/slurm_changes.h"

namespace allot::testing_support {

// Of another user than the one who runs the test, in a folder whose name could be an option.
inline SlurmSubmission WorkerSubmission() {
  return {.user_id = 1000 + ::geteuid(),
          .group_id = 7,
          .name = "w1-of-42",
          .comment = "elastic-of:42 job=a worker=a.1 gpus=1",
          .script = "#!/bin/sh\n",
          .partition = "main",
          .node = "n1",
          .gres = "gres:gpu:v100:1",
          .work_dir = "/home/a b\n--uid=0",
          .output = "slurm-42.1.out"};
}

}  // namespace allot::testing_support
