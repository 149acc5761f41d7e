#include "perf/gavel_tables.h"

#include <gtest/gtest.h>

#include "core/error.h"
#include "perf/catalogue.h"
#include "perf/table_cache.h"
#include "tests/unit/core/expect_error.h"

namespace allot {
namespace {

constexpr const char* kAlone =
    "job_type,model,batch_size,scale_factor,gpu_type,consolidated,steps_per_s\n"
    "A (batch size 1),A,1,1,v100,1,10.25\n"
    "A (batch size 1),A,1,1,v100,0,10.25\n"
    "A (batch size 1),A,1,2,v100,1,18\n"
    "A (batch size 1),A,1,2,v100,0,12\n"
    "A (batch size 1),A,1,1,k80,1,2\n"
    "A (batch size 1),A,1,2,k80,1,0\n"
    "B,B,,1,v100,1,4\n"
    "B,B,,1,a100,1,9\n";
constexpr const char* kBeside =
    "gpu_type,scale_factor,job_type_a,job_type_b,steps_per_s_a,steps_per_s_b\n"
    "v100,1,A (batch size 1),B,7.5,3\n"
    "v100,1,B,B,2,2\n"
    "k80,1,A (batch size 1),B,1,0\n";

Catalogue Read(GavelNodes nodes = GavelNodes::kCounted) {
  return Catalogue::FromCsv(GavelCatalogueCsv(kAlone, "a.csv", kBeside, "b.csv", nodes), "a.csv");
}

ConfigurationTable TableOf(const Catalogue& catalogue, const std::string& model, GpuCount gpus) {
  Workload workload;
  Job job;
  job.id = "j";
  job.gpus = gpus;
  job.duration = 1;
  job.model = workload.models.Intern(model);
  workload.jobs.push_back(job);
  workload.Finish();
  TableCache cache(catalogue, {{.name = "v100", .gpus = 8, .node_gpus = 4},
                               {.name = "k80", .gpus = 8, .node_gpus = 4},
                               {.name = "a100", .gpus = 8, .node_gpus = 4}});
  return *cache.TableFor(workload, workload.jobs.front());
}

std::string Keys(const ConfigurationTable& table) {
  std::string text;
  for (std::int32_t c = 0; c < table.size(); ++c) {
    text += fmt::format("{} {}\n", table.KeyText(c, {"v100", "k80", "a100"}), table[c].rate);
  }
  return text;
}

TEST(GavelTables, JobTypesAreProfilesWithTheirPartners) {
  EXPECT_EQ(Keys(TableOf(Read(), "B", 1)),
            "gpus=1 type=v100 partner=B 2\n"
            "gpus=1 type=v100 partner=A (batch size 1) 3\n"
            "gpus=1 type=v100 4\n"
            "gpus=1 type=a100 9\n");
}

TEST(GavelTables, WhatWasNotMeasuredOrHasRateZeroIsAbsent) {
  const ConfigurationTable one = TableOf(Read(), "A (batch size 1)", 1);
  EXPECT_EQ(Keys(one),
            "gpus=1 type=v100 partner=B 7.5\n"
            "gpus=1 type=v100 nodes=1 10.25\n"
            "gpus=1 type=k80 partner=B 1\n"
            "gpus=1 type=k80 nodes=1 2\n");
  EXPECT_EQ(Keys(TableOf(Read(), "A (batch size 1)", 2)),
            "gpus=2 type=v100 nodes=2+ 12\n"
            "gpus=2 type=v100 nodes=1 18\n");
}

TEST(GavelTables, NodesCanBeIgnoredAsInGavelsSimulator) {
  EXPECT_EQ(Keys(TableOf(Read(GavelNodes::kIgnored), "A (batch size 1)", 2)),
            "gpus=2 type=v100 18\n");
}

void ExpectRefused(const std::string& alone, const std::string& beside,
                   const std::vector<std::string>& parts) {
  ExpectError(ExitCode::kBadData, parts,
              [&] { GavelCatalogueCsv(alone, "a.csv", beside, "b.csv"); });
}

TEST(GavelTables, FaultsNameFileAndLine) {
  const std::string head = "job_type,scale_factor,gpu_type,steps_per_s\n";
  ExpectRefused(head + "A,1,v100,-1\n", "", {"a.csv:2", "steps_per_s", "-1"});
  ExpectRefused(head + "A,1,v100,1\nA,1,v100,2\n", "", {"a.csv:3", "a.csv:2", "once"});
  ExpectRefused(head + "A,0,v100,1\n", "", {"a.csv:2", "scale_factor"});
  ExpectRefused(head + "A,1,v100,1\n",
                "gpu_type,scale_factor,job_type_a,job_type_b,steps_per_s_a,steps_per_s_b\n"
                "v100,1,A,C,1,1\n",
                {"b.csv:2", "'C'", "a.csv"});
}

TEST(GavelTables, OtherTextsAreNoGavelTables) {
  EXPECT_TRUE(IsGavelTable(kAlone));
  EXPECT_FALSE(IsGavelTable("profile,gpu_type,gpus,rate\n"));
}

TEST(MeasuredModel, ARateIsGivenOnce) {
  ExpectError(ExitCode::kBadData, {"c.csv:2 and in c.csv:4"}, [&] {
    Catalogue::FromCsv(
        "profile,kind,gpu_type,gpus,rate,partner\n"
        "A,measured,v100,1,2,\nA,measured,v100,1,3,A\nA,measured,v100,1,4,\n",
        "c.csv");
  });
}

}  // namespace
}  // namespace allot
