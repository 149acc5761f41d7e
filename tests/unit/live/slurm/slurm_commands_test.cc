// The back end over Slurm's programs, on scripts that stand for them.

#include "live/slurm/slurm_commands.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>

#include "core/cpu_time.h"
#include "core/file.h"
#include "core/temporary_folder.h"
#include "live/slurm/slurm_program.h"

namespace allot {
namespace {

bool Has(const std::vector<std::string>& words, const std::string& word) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

SlurmSubmission Worker() {
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

TEST(SlurmCommands, AWorkerIsHeldAndNoTextIsAnotherWord) {
  const auto words = SubmissionWords("/usr/bin/sbatch", Worker());
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
  SlurmSubmission worker = Worker();
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
  SlurmSubmission worker = Worker();
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
  const Status done = client.Submit(Worker(), &id);
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
  try {
    client.TakeSnapshot();
    FAIL();
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("slurm: the controller must answer within"),
              std::string::npos);
  }
}

TEST_F(FakePrograms, WhatSlurmSaysIsToldWithoutControlCharacters) {
  Make("squeue", "printf 'slurm_load_jobs error: \\033[31mno\\n' >&2; exit 1");
  SlurmClient client = Client();
  try {
    client.TakeSnapshot();
    FAIL();
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(), "asking for jobs: Slurm says: slurm_load_jobs error: \\x1b[31mno");
  }
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
  try {
    Client();
    FAIL();
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("Slurm's program sinfo is not in "),
              std::string::npos);
  }
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
