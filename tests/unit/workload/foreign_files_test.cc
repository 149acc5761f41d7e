// Files of other schedulers: each is named, with the command that makes a file that can be read.

#include "workload/foreign_files.h"

#include "table/column_guess.h"
#include "trace_testing.h"
#include "workload/formats/suggested_columns.h"

namespace allot {
namespace {

const std::string kForeignCases = std::string(ALLOT_TEST_DATA) + "/cases/";

struct ForeignInput {
  std::string text;
  std::string what;     // the message says that it is this
  std::string command;  // and names this
};

TEST(ForeignFile, IsNamedWithTheCommandToExport) {
  const std::string sge_record =
      "gpu.q:n1:users:ann:train:101:sge:0:1790812800:1790812860:1790816460:0:0:3600" +
      std::string(18, ':') + "p:d:smp:2:0:1:1:1:-l gpu=1:0:NONE:1\n";
  const std::vector<ForeignInput> inputs = {
      {"apiVersion: v1\nkind: List\nitems:\n", "YAML of kubectl", "-o json > jobs.json"},
      {"---\n# a comment\napiVersion: batch/v1\n", "YAML of kubectl", "-o json"},
      {"NAMESPACE   NAME   READY   STATUS    RESTARTS   AGE\nd   a   1/1   Running   0   5m\n",
       "kubectl prints for people", "-o json"},
      {"10/01/2026 00:00:00;S;101.srv;user=ann queue=gpu\n", "an accounting log of PBS",
       "awk -F';'"},
      {"Job Id: 101.srv\n    Job_Name = x\n    Resource_List.ngpus = 2\n", "qstat -f of PBS",
       "server_priv/accounting"},
      {"{\"timestamp\":1790812800,\"pbs_version\":\"22.05\",\"Jobs\":{}}\n", "qstat -f of PBS",
       "server_priv/accounting"},
      {"10/01/2026 00:00:00.123456;E;101.srv;user=ann queue=gpu\n", "an accounting log of PBS",
       "awk -F';'"},
      {"Name:         a\nNamespace:    d\nLabels:       x=y\n", "kubectl describe", "-o json"},
      {"job-ID  prior  name  user  state submit/start at  queue  slots ja-task-ID\n"
       "-----------------------------------------------------------\n",
       "qstat of Grid Engine", "common/accounting"},
      {"-- Schedd: s@h : <10.0.0.1:9618> @ 10/01/26\nOWNER BATCH_NAME SUBMITTED DONE RUN IDLE\n",
       "condor_q of HTCondor", "condor_history -af:h,"},
      {"{\n\"COMMAND\":\"bjobs\",\n\"JOBS\":1,\n\"RECORDS\":[{\"JOBID\":\"101\"}]\n}\n", "LSF",
       "bjobs -a -u all -o"},
      {"Job id            Name     User      Time Use S Queue\n"
       "----------------  -------- --------- -------- - -----\n101.srv x ann 00:10 R gpu\n",
       "qstat of PBS", "server_priv/accounting"},
      {"JOBID USER STAT QUEUE FROM_HOST EXEC_HOST JOB_NAME SUBMIT_TIME\n"
       "101 ann RUN gpu h1 h2 train Oct 1 10:00\n",
       "LSF (bjobs)", "bjobs -a -u all -o"},
      {"Summary of time in seconds spent in various states:\n"
       "JOBID USER JOB_NAME PEND PSUSP RUN USUSP SSUSP UNKWN TOTAL\n101 ann x 6 0 9 0 0 0 15\n",
       "LSF (bhist)", "bjobs -a -u all -o"},
      {"Job <101>, User <ann>, Project <default>, Command <x>\n", "LSF", "bjobs -a -u all -o"},
      {"==============================\nqname        gpu.q\nhostname     n1\njobnumber    101\n",
       "qacct -j of Grid Engine", "common/accounting"},
      {sge_record, "accounting file of Grid Engine", "awk -F:"},
      {" ID     OWNER   SUBMITTED   RUN_TIME     ST COMPLETED   CMD\n"
       " 101.0  ann     10/1  00:00 0+01:00:00 C  10/1  01:01 x\n",
       "condor_history", "condor_history -af:h,"},
      {"ClusterId = 101\nProcId = 0\nOwner = \"ann\"\n", "condor_history", "condor_history -af:h,"},
      {"[\n{\n \"ClusterId\": 101,\n \"QDate\": 1790812800\n}\n]\n", "condor_history",
       "condor_history -af:h,"},
      {"{\"jobs\": [{\"job_id\": 1, \"job_state\": [\"RUNNING\"]}]}\n", "squeue --json of Slurm",
       "sacct --allusers"},
      {"JobId=101 JobName=x\n   UserId=ann(1) GroupId=g(1)\n", "scontrol show job", "sacct"},
      {"id submit gpus seconds\na 0 1 60\nb 5 2 60\n", "a table of 4 columns that end at blanks",
       "sed 's/^ *//; s/ *$//; s/  */,/g'"},
      {"id  submit               gpus  run\na   2026-10-01 10:00:00  1     60\n",
       "a table of 4 columns that end at blanks", "s/   */,/g"}};
  for (const ForeignInput& input : inputs) {
    SCOPED_TRACE(input.text);
    const TempFile file("jobs.txt", input.text);
    ExpectError(ExitCode::kBadData,
                {input.what, "which is not read as it is", "jobs.txt:1", input.command},
                [&] { ReadTrace(file.path()); });
    EXPECT_FALSE(SuggestColumns(file.path())) << "reading it says what it is";
  }
}

TEST(ForeignFile, TheCasesAreNamed) {
  ExpectError(ExitCode::kBadData, {"an accounting log of PBS", "Resource_List.ngpus", "> jobs.csv"},
              [] { ReadTrace(kForeignCases + "pbs.txt"); });
  ExpectError(ExitCode::kBadData,
              {"YAML of kubectl", "kubectl get jobs,pods --all-namespaces -o json"},
              [] { ReadTrace(kForeignCases + "k.yaml"); });
}

TEST(ForeignFile, ATableOfHtcondorIsReadByItsColumns) {
  const std::string path = kForeignCases + "condor.csv";
  const auto guess = SuggestColumns(path);
  ASSERT_TRUE(guess);
  EXPECT_TRUE(guess->complete);
  EXPECT_NE(guess->text.find("is a table of HTCondor's condor_history"), std::string::npos)
      << guess->text;
  ReadReport report;
  const Workload workload =
      ReadTrace(path, "auto", {.columns = guess->json["columns"].get<std::string>()}, &report);
  ASSERT_EQ(workload.jobs.size(), 2u);
  EXPECT_EQ(workload.jobs[0].gpus, 2);
  EXPECT_EQ(workload.jobs[0].recorded_wait, 60);
  EXPECT_EQ(workload.jobs[0].duration, 3600);
  EXPECT_EQ(Drops(report), "1 no GPU requested");  // undefined
}

TEST(ForeignFile, OtherFilesAreNotTakenForOne) {
  for (const char* text : {"", "hello\n", "1 2 3\n4 5 6\n", "a,b,c\n1,2,3\n", "{\"a\": 1}\n",
                           "one word\nand some more words\n"}) {
    EXPECT_FALSE(RecogniseForeignFile(text, "f")) << text;
  }
}

}  // namespace
}  // namespace allot
