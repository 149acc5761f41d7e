#include "trace_testing.h"

namespace allot {
namespace {

// The rates are those of traces/gavel_rates.csv.

TEST(Gavel, TenFieldsGiveRunTimePriorityAndDeadline) {
  const Workload workload = ReadText(
      "gavel",
      "ResNet-18 (batch size 32)\tpython3 a \"b\"\tdir\t--num_steps\t1\t94249\t2\t5\t1.2\t7\n"
      "A3C\tpython3 a\tdir\t--num_steps\t1\t7175.77\t1\t1\t-1\t9\n");
  ASSERT_EQ(workload.jobs.size(), 2u);
  const Job& job = workload.jobs[0];
  EXPECT_EQ(job.id, "0");
  EXPECT_EQ(job.submit, 7);
  EXPECT_EQ(job.gpus, 2);
  EXPECT_NEAR(job.duration, 1000, 0.01);  // 94.2489 steps/s on two V100
  EXPECT_EQ(job.priority, 5);
  EXPECT_NEAR(job.deadline, 7 + 1200, 0.01);
  EXPECT_EQ(workload.models[job.model], "resnet18:32");
  EXPECT_EQ(workload.groups[job.group], "ResNet-18 (batch size 32)");
  EXPECT_NEAR(workload.jobs[1].duration, 1000, 0.01);
  EXPECT_EQ(workload.jobs[1].deadline, kNever);
  EXPECT_EQ(workload.jobs[1].model, -1);  // no profile in the catalogue
}

TEST(Gavel, SevenFieldsGiveBackThePhillyRunTime) {
  const Workload workload = ReadText(
      "gavel", "Transformer (batch size 128)\tpython3\t-step\t1\t5635991\t219316.000000\t16\n");
  ASSERT_EQ(workload.jobs.size(), 1u);
  EXPECT_EQ(workload.jobs[0].submit, 219316);
  EXPECT_EQ(workload.jobs[0].gpus, 16);
  EXPECT_NEAR(workload.jobs[0].duration, 976570, 20);  // of the same job in ElasticFlow's trace
}

TEST(Gavel, JobsWithoutARateAreDropped) {
  ReadReport report;
  ReadText("gavel",
           "A3C\tpython3 a\tdir\t--num_steps\t1\t100\t4\t1\t-1\t9\n"
           "A3C\tpython3 a\tdir\t--num_steps\t1\t100\t1\t1\t-1\t9\n",
           false, &report);
  EXPECT_EQ(Drops(report), "1 no rate was measured at its GPU count");
}

TEST(Gavel, BadInputNamesRuleValueAndPlace) {
  ExpectBadData("gavel",
                {{"job type",
                  "GPT-5\tpython3\t-step\t1\t5635991\t0.0\t16\n",
                  {"'job_type' must be one that Gavel measured", "'GPT-5'", "t.csv:1"}},
                 {"fields",
                  "A3C\tpython3\t-step\t1\t5635991\t0.0\t1\nA3C\tx\n",
                  {"7 fields", "2", "t.csv:2"}},
                 {"neither form", "A3C\tpython3\t-step\n", {"10 fields", "3", "t.csv:1"}}});
}

TEST(GavelSteps, CsvGivesStepsOfTheJobType) {
  ReadReport report;
  const Workload workload = ReadText(
      "gavel-steps",
      "job_id,arrival_time_s,job_type,scale_factor,total_steps,priority_weight,v100_duration_s\n"
      "a,0,A3C,1,7175.77,1,500\n"
      "b,3.5,A3C,1,7175.77,5,0\n"
      "c,4,My model,2,60,1,0\n",
      false, &report);
  ASSERT_EQ(workload.jobs.size(), 3u);
  EXPECT_EQ(workload.jobs[0].work, 7175.77);
  EXPECT_EQ(workload.jobs[0].duration, 500);
  EXPECT_EQ(workload.models[workload.jobs[0].model], "A3C");
  EXPECT_EQ(workload.jobs[1].submit, 3.5);
  EXPECT_EQ(workload.jobs[1].priority, 5);
  EXPECT_NEAR(workload.jobs[1].duration, 1000, 0.01);  // by the rates that come with allot
  EXPECT_EQ(workload.jobs[2].gpus, 2);
  EXPECT_EQ(workload.jobs[2].duration, 60);  // of a model that nobody knows
  EXPECT_EQ(Counts(report.adjusted), "1 its run time is not known: a second a step");
}

TEST(GavelSteps, TenFieldsAreReadTheSame) {
  const Workload workload =
      ReadText("gavel-steps", "A3C\tpython3 a\tdir\t--num_steps\t1\t7175.77\t1\t1\t2\t9\n");
  ASSERT_EQ(workload.jobs.size(), 1u);
  EXPECT_EQ(workload.jobs[0].work, 7175.77);
  EXPECT_EQ(workload.models[workload.jobs[0].model], "A3C");
  EXPECT_NEAR(workload.jobs[0].deadline, 9 + 2000, 0.01);
}

TEST(GavelSteps, RefusesWeightsAndDeadlinesOfZero) {
  const std::string head =
      "job_id,arrival_time_s,job_type,scale_factor,total_steps,priority_weight,slo\n";
  ExpectBadData("gavel-steps",
                {{"weight", head + "0,0,A3C,1,100,0,-1\n", {"'priority_weight'", "> 0", "t.csv:2"}},
                 {"deadline", head + "0,0,A3C,1,100,1,0\n", {"'slo'", "> 0", "t.csv:2"}}});
}

TEST(GavelSteps, RefusesRunTimesBelowZero) {
  ExpectBadData("gavel-steps",
                {{"run time",
                  "job_id,arrival_time_s,job_type,scale_factor,total_steps,v100_duration_s\n"
                  "0,0,A3C,1,100,-4\n",
                  {"'v100_duration_s' must be >= 0", "-4", "t.csv:2"}}});
}

}  // namespace
}  // namespace allot
