// The script of a job array.

#include "sweep/slurm.h"

#include <gtest/gtest.h>

#include "core/error.h"

namespace allot {
namespace {

SlurmArray Array() {
  SlurmArray array;
  array.program = "/opt/all's/allot";
  array.folder = "/data/my sweep";
  array.tasks = 8;
  array.threads = 4;
  array.options = {"partition=gpu", "--time=1:00:00"};
  return array;
}

TEST(SlurmScript, AsksForAnArrayWithTheUsersOptions) {
  const std::string script = SlurmScript(Array());
  EXPECT_TRUE(script.starts_with("#!/bin/sh\n")) << script;
  for (const char* line :
       {"#SBATCH --array=1-8\n", "#SBATCH --cpus-per-task=4\n", "#SBATCH --partition=gpu\n",
        "#SBATCH --time=1:00:00\n", "#SBATCH --output=\"/data/my sweep/slurm-%A_%a.log\"\n"}) {
    EXPECT_NE(script.find(line), std::string::npos) << line << script;
  }
}

TEST(SlurmScript, RunsOneShardATaskWithWordsQuoted) {
  EXPECT_NE(SlurmScript(Array()).find(
                "exec '/opt/all'\\''s/allot' sweep '/data/my sweep/sweep.json' --out '/data/my "
                "sweep' --shard \"$SLURM_ARRAY_TASK_ID/8\" --threads 4 --quiet\n"),
            std::string::npos)
      << SlurmScript(Array());
}

TEST(SlurmScript, RefusesAnOptionThatWouldBeALineOfTheScript) {
  SlurmArray array = Array();
  array.options = {"time=1\nrm -r x"};
  EXPECT_THROW(SlurmScript(array), Error);
}

}  // namespace
}  // namespace allot
