// SlurmClient over Slurm's programs, on scripts that stand for them.

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>

#include "clients/slurm/slurm_commands.h"
#include "core/file.h"
#include "core/temporary_folder.h"
#include "live/runtimes/slurm/slurm_client.h"
#include "tests/unit/clients/slurm/worker_submission.h"
#include "tests/unit/core/expect_error.h"

namespace allot {
namespace {

using testing_support::WorkerSubmission;

class FakePrograms : public testing::Test {
 protected:
  // A script in place of one of the programs; it writes down what it was told.
  void Make(const std::string& name, const std::string& says) {
    const auto path = folder_.path() / name;
    WriteTextFile(path, "#!/bin/sh\nfor w; do printf '%s|' \"$w\"; done >>" + Told() + "\necho >>" +
                            Told() + "\n" + says + "\n");
    std::filesystem::permissions(path, std::filesystem::perms::owner_all);
  }
  std::string Told() const { return (folder_.path() / "told").string(); }

  void SetUp() override {
    for (const char* name : {"squeue", "sinfo", "scontrol", "sbatch", "scancel"}) Make(name, "");
    Make("squeue", "echo '{\"jobs\": []}'");
    Make("scontrol", R"(case "$*" in *--json) echo '{"nodes": []}';; esac)");
  }
  SlurmClient Client(Seconds patience = 60, bool read_only = false) {
    return SlurmClient({.api = "commands", .programs = folder_.path(), .patience = patience},
                       read_only);
  }

  TemporaryFolder folder_{"slurm-programs"};
};

TEST_F(FakePrograms, AWorkerIsReleasedWithItsTag) {
  Make("sbatch", "cat >/dev/null; env >" + Told() + ".env; echo '42;cluster'");
  SlurmSubmission worker = WorkerSubmission();
  worker.environment = {"ALLOT_TOKEN=secret", "PATH=/usr/bin:/bin"};
  std::uint32_t id = 0;
  SlurmClient client = Client();
  ASSERT_TRUE(client.Submit(worker, &id).ok());
  EXPECT_EQ(id, 42U);
  const std::string told = ReadTextFile(Told());
  EXPECT_NE(told.find("update|jobid=42|admincomment=elastic-of:42 job=a worker=a.1 gpus=1|\n"
                      "release|42|\n"),
            std::string::npos)
      << told;
  EXPECT_EQ(told.find("secret"), std::string::npos) << "others can read the words of a program";
  EXPECT_NE(ReadTextFile(Told() + ".env").find("ALLOT_TOKEN=secret\n"), std::string::npos);
}

TEST_F(FakePrograms, OneThatCannotBeTaggedIsEnded) {
  Make("sbatch", "echo 42");
  Make("scontrol", "echo 'slurm_update error: no' >&2; exit 1");
  std::uint32_t id = 0;
  SlurmClient client = Client();
  const Status done = client.Submit(WorkerSubmission(), &id);
  EXPECT_EQ(done.message(), "tagging a worker: Slurm says: slurm_update error: no");
  EXPECT_TRUE(ReadTextFile(Told()).ends_with("\n42|\n")) << "scancel";
}

TEST_F(FakePrograms, WhatAnEarlierDaemonLeftWithoutATagIsEnded) {
  Make("squeue",
       "echo '{\"jobs\": [{\"job_id\": 42, \"user_id\": 1, \"group_id\": 1, \"job_state\": "
       "\"PENDING\", \"priority\": 0, \"comment\": \"elastic-of:7 job=a\"}]}'");
  SlurmClient looks = Client(60, true);
  EXPECT_EQ(looks.TakeSnapshot().jobs.size(), 1U) << "a dry run changes nothing";
  SlurmClient client = Client();
  EXPECT_TRUE(client.TakeSnapshot().jobs.empty());
  EXPECT_NE(ReadTextFile(Told()).find("\n42|\n"), std::string::npos) << "scancel";
}

TEST_F(FakePrograms, TheLastTaskOfAnArrayIsNotTheArray) {
  Make("squeue",
       "echo '{\"jobs\": [{\"job_id\": 10, \"user_id\": 1, \"group_id\": 1, \"job_state\": "
       "\"RUNNING\", \"array_job_id\": 10, \"array_task_id\": 3}]}'");
  SlurmClient client = Client();
  (void)client.TakeSnapshot();
  ASSERT_TRUE(client.Change({.id = 10, .time_limit = 31}).ok());
  ASSERT_TRUE(client.Requeue(10).ok());
  const std::string told = ReadTextFile(Told());
  EXPECT_NE(told.find("update|jobid=10_3|timelimit=31|\nrequeuehold|incomplete|10_3|\n"),
            std::string::npos)
      << told;
}

TEST_F(FakePrograms, AControllerThatDoesNotAnswerHoldsNobodyUp) {
  SlurmClient client = Client(0.2);
  (void)client.TakeSnapshot();  // the first may take long
  Make("squeue", "exec sleep 1000");
  ExpectError(ExitCode::kRunFailed, {"slurm: the controller must answer within"},
              [&] { client.TakeSnapshot(); });
}

TEST_F(FakePrograms, WhatSlurmSaysIsToldWithoutControlCharacters) {
  Make("squeue", "printf 'slurm_load_jobs error: \\033[31mno\\n' >&2; exit 1");
  SlurmClient client = Client();
  EXPECT_EQ(ErrorOf(ExitCode::kRunFailed, [&] { client.TakeSnapshot(); }),
            "asking for jobs: Slurm says: slurm_load_jobs error: \\x1b[31mno");
}

TEST_F(FakePrograms, AJobThatIsOverIsCancelled) {
  SlurmClient client = Client();
  Make("scancel", "echo 'Kill job error on job id 9: Invalid job id specified' >&2; exit 1");
  EXPECT_TRUE(client.Cancel("9").ok());
  Make("scancel", "echo 'Access/permission denied' >&2; exit 1");
  EXPECT_FALSE(client.Cancel("9").ok());
}

TEST_F(FakePrograms, AProgramThatIsMissingIsNamed) {
  std::filesystem::remove(folder_.path() / "sinfo");
  ExpectError(ExitCode::kRunFailed, {"Slurm's program sinfo is not in "}, [&] { Client(); });
}

}  // namespace
}  // namespace allot
