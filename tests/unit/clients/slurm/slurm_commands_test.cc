#include "clients/slurm/slurm_commands.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>

#include "clients/slurm/slurm_program.h"
#include "core/cpu_time.h"
#include "tests/unit/clients/slurm/worker_submission.h"

namespace allot {
namespace {

using testing_support::WorkerSubmission;

bool Has(const std::vector<std::string>& words, const std::string& word) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

TEST(SlurmCommands, AWorkerIsHeldAndNoTextIsAnotherWord) {
  const auto words = SubmissionWords("/usr/bin/sbatch", WorkerSubmission());
  EXPECT_EQ(words.front(), "/usr/bin/sbatch");
  EXPECT_TRUE(Has(words, "--hold"));
  EXPECT_TRUE(Has(words, "--propagate=NONE"));
  EXPECT_TRUE(Has(words, "--gres=gpu:v100:1"));
  EXPECT_TRUE(Has(words, "--chdir=/home/a b\n--uid=0"));
  EXPECT_TRUE(Has(words, "--uid=" + std::to_string(1000 + ::geteuid())));
  EXPECT_TRUE(Has(words, "--gid=7"));
  for (const std::string& word : words) {
    EXPECT_FALSE(word.starts_with("--time") || word.starts_with("--mem") ||
                 word.starts_with("--cpus") || word.starts_with("--account"))
        << word;
  }
}

TEST(SlurmCommands, LimitsAsSlurmEncodesThem) {
  SlurmSubmission worker = WorkerSubmission();
  worker.user_id = ::geteuid();
  worker.time_limit = 90;
  worker.cpus_per_task = 3;
  worker.memory = 0x8000000000000000 | 512;
  worker.account = "a";
  auto words = SubmissionWords("sbatch", worker);
  EXPECT_TRUE(Has(words, "--time=90"));
  EXPECT_TRUE(Has(words, "--cpus-per-task=3"));
  EXPECT_TRUE(Has(words, "--mem-per-cpu=512M"));
  EXPECT_TRUE(Has(words, "--account=a"));
  EXPECT_FALSE(Has(words, "--gid=7")) << "sbatch refuses it to all but root";
  worker.time_limit = 0xffffffff;
  worker.cpus_per_task = 0xfffe;
  worker.memory = 64;
  words = SubmissionWords("sbatch", worker);
  EXPECT_TRUE(Has(words, "--time=UNLIMITED"));
  EXPECT_TRUE(Has(words, "--mem=64M"));
  EXPECT_FALSE(Has(words, "--cpus-per-task=65534"));
}

TEST(SlurmProgram, OutputErrorsInputAndEnvironment) {
  SlurmProgramOutput output;
  ASSERT_TRUE(
      RunSlurmProgram({{"/bin/sh", "-c", "cat; echo $A >&2; umask; exit 3", "x"}, {"A=b c"}, "in"},
                      SlurmDeadline(60), &output)
          .ok());
  EXPECT_EQ(output.text, "in0022\n");
  EXPECT_EQ(output.errors, "b c\n");
  EXPECT_EQ(output.exit, 3);
  EXPECT_FALSE(RunSlurmProgram({{"/no/such"}, {}, ""}, SlurmDeadline(60), &output).ok());
}

TEST(SlurmProgram, ItsCpuTimeCountsAsThatOfWhoWaits) {
  SlurmProgramOutput output;
  const double before = ThreadCpuSeconds();
  // Until the system says that it has used a tenth of a second.
  const Status done = RunSlurmProgram(
      {{"/bin/bash", "-c", "while (($(cut -d' ' -f14 /proc/$$/stat) < 10)); do :; done"},
       {"PATH=/usr/bin:/bin"},
       ""},
      SlurmDeadline(600), &output);
  ASSERT_TRUE(done.ok() && output.exit == 0) << output.errors;
  EXPECT_GE(ThreadCpuSeconds() - before, 0.09);
}

}  // namespace
}  // namespace allot
