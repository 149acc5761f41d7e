#include "perf/table_cache.h"

#include <gtest/gtest.h>

#include <string>

#include "core/error.h"
#include "core/index.h"
#include "tests/unit/core/expect_error.h"

namespace allot {
namespace {

Job MakeJob(GpuCount gpus, GpuCount lowest = 0, GpuCount highest = 0) {
  Job job;
  job.id = "app_17";
  job.gpus = gpus;
  job.min_gpus = lowest;
  job.max_gpus = highest;
  job.duration = 100;
  return job;
}

std::vector<int> Counts(const ConfigurationTable& table, GpuTypeIndex type) {
  std::vector<int> counts;
  for (const Configuration& c : table.configurations()) {
    if (c.gpu_type == type) counts.push_back(c.units.of(0));
  }
  return counts;
}

class TableCacheTest : public testing::Test {
 protected:
  TableCacheTest() {
    catalogue_.Add(
        MakeGpuScalingModel("m", {{"v100", {{1, 10}, {8, 40}}}, {"k80", {{1, 2}, {8, 16}}}}));
    workload_.models.Intern("m");
  }
  Catalogue catalogue_;
  Workload workload_;
};

TEST_F(TableCacheTest, GridIsEveryCountThenEvery4thThenEvery8th) {
  TableCache cache(catalogue_, {{"gpu", 1000}});
  const auto counts = Counts(*cache.TableFor(workload_, MakeJob(1, 1, 80)), 0);
  EXPECT_EQ(counts, (std::vector<int>{1,  2,  3,  4,  5,  6,  7,  8,  12, 16, 20, 24,
                                      28, 32, 36, 40, 44, 48, 52, 56, 60, 64, 72, 80}));
}

TEST_F(TableCacheTest, LowestAndRequestedAreOfferedOffTheGrid) {
  TableCache cache(catalogue_, {{"gpu", 1000}});
  EXPECT_EQ(Counts(*cache.TableFor(workload_, MakeJob(11, 9, 16)), 0),
            (std::vector<int>{9, 11, 12, 16}));
}

TEST_F(TableCacheTest, RigidJobHasOneCount) {
  TableCache cache(catalogue_, {{"gpu", 1000}});
  EXPECT_EQ(Counts(*cache.TableFor(workload_, MakeJob(13)), 0), std::vector<int>{13});
}

TEST_F(TableCacheTest, CountsKeepWithinEachTypesCapacity) {
  TableCache cache(catalogue_, {{"v100", 2}, {"k80", 5}});
  const auto table = cache.TableFor(workload_, MakeJob(4, 1, 16));
  EXPECT_EQ(Counts(*table, 0), (std::vector<int>{1, 2}));
  EXPECT_EQ(Counts(*table, 1), (std::vector<int>{1, 2, 3, 4, 5}));
}

TEST_F(TableCacheTest, ConfigurationsCarryDemandCostAndRate) {
  TableCache cache(catalogue_, {{"v100", 8}});
  Job job = MakeJob(8);
  job.model = 0;
  const Configuration& c = (*cache.TableFor(workload_, job))[0];
  EXPECT_EQ(c.demand, (Resources{8, 0}));
  EXPECT_EQ(c.cost, 8);
  EXPECT_EQ(c.rate, 40);
}

TEST_F(TableCacheTest, EqualProfileAndLimitsShareATable) {
  TableCache cache(catalogue_, {{"gpu", 64}});
  EXPECT_EQ(cache.TableFor(workload_, MakeJob(2, 1, 8)),
            cache.TableFor(workload_, MakeJob(4, 1, 8)));
}

TEST_F(TableCacheTest, RequestedOffTheGridHasItsOwnTable) {
  TableCache cache(catalogue_, {{"gpu", 64}});
  const auto first = cache.TableFor(workload_, MakeJob(9, 1, 16));
  const auto second = cache.TableFor(workload_, MakeJob(11, 1, 16));
  EXPECT_GE(first->Find({9}, 0), 0);
  EXPECT_GE(second->Find({11}, 0), 0);
}

TEST_F(TableCacheTest, JobLargerThanTheClusterIsRefused) {
  TableCache cache(catalogue_, {{"v100", 4}, {"k80", 8}});
  EXPECT_EQ(
      ErrorOf(ExitCode::kBadData, [&] { cache.TableFor(workload_, MakeJob(9, 1, 32)); }),
      "a job must fit the cluster: job 'app_17' asks for 9 GPUs, the largest GPU type 'k80' has 8");
}

// What using these types for jobs of these profiles is refused with; "" if it is not. `accepted`:
// by the first job, in the trace.
std::string TypeError(const std::vector<std::string>& types, const std::vector<int>& models,
                      const std::string& accepted = "") {
  const Catalogue catalogue =
      Catalogue::FromCsv("profile,gpu_type,gpus,rate\nm,v100,1,10\nm,k80,1,2\nn,gpu,1,3\n", "c");
  Workload workload;
  for (const char* name : {"m", "n"}) workload.models.Intern(name);
  for (const int model : models) {
    Job job;
    if (workload.jobs.empty() && !accepted.empty()) {
      job.gpu_types = workload.gpu_types.Intern(accepted);
    }
    job.id = fmt::format("job{}", workload.jobs.size());
    job.duration = 100;
    job.gpus = 1;
    job.model = model;
    workload.jobs.push_back(job);
  }
  std::vector<GpuTypeSpec> specs;
  specs.reserve(types.size());
  for (const std::string& type : types) specs.push_back({.name = type, .gpus = 4});
  TableCache cache(catalogue, specs);
  return ErrorOf(ExitCode::kBadData, [&] {
    cache.CheckTypes(workload);
    for (const Job& job : workload.jobs) cache.OfferFor(workload, job);
  });
}

TEST(GpuTypesTest, AMisspeltTypeIsRefusedWithTheNearest) {
  const std::string known = "; the catalogue knows v100, k80 (did you mean 'v100'?)";
  const auto refusal = [&](int job) {
    return fmt::format(
        "a GPU type must be one that throughput was measured on or that a job names, got 'v1OO', "
        "and job 'job{}' names profile 'm'{}",
        job, known);
  };
  EXPECT_EQ(TypeError({"v1OO"}, {0}), refusal(0));
  EXPECT_EQ(TypeError({"k80", "v1OO"}, {0, 1}), refusal(0));
  EXPECT_EQ(TypeError({"k80", "v1OO"}, {-1, 1, 0}), refusal(2));  // others could run there
}

TEST(GpuTypesTest, JobsWithoutMeasuredProfileRunOnAnyType) {
  EXPECT_EQ(TypeError({"h100"}, {-1, -1}), "");
  EXPECT_EQ(TypeError({"h100", "k80"}, {-1, 1}), "");
}

TEST(GpuTypesTest, ATypeThatAJobNamesIsNotMisspelt) {
  EXPECT_EQ(TypeError({"h100", "k80"}, {-1, 0}, "h100|a100"), "");
  EXPECT_EQ(TypeError({"h100"}, {-1, 0}, "h100"),
            "a job must run on some GPU type: profile 'm' of job 'job1' has rates for none of the "
            "cluster's (h100); the catalogue knows v100, k80 (did you mean 'v100'?)");
}

TEST(GpuTypesTest, MeasuredAndUnnamedTypesAreGood) {
  EXPECT_EQ(TypeError({"v100", "k80"}, {0, 1}), "");
  EXPECT_EQ(TypeError({"gpu"}, {0, 1}), "");
  EXPECT_EQ(TypeError({"k80"}, {1}), "");  // measured on an unnamed type alone: on all the same
}

TEST_F(TableCacheTest, WorkIsDurationTimesRateAtTheRequested) {
  TableCache cache(catalogue_, {{"k80", 8}, {"v100", 8}});
  Job job = MakeJob(8, 1, 8);
  job.model = 0;
  EXPECT_DOUBLE_EQ(cache.WorkOf(workload_, job), 100 * 40);  // the v100 is the fastest here
}

TEST_F(TableCacheTest, WorkUsesATypeThatCanHoldTheRequested) {
  TableCache cache(catalogue_, {{"k80", 8}, {"v100", 4}});
  Job job = MakeJob(8, 1, 8);
  job.model = 0;
  EXPECT_DOUBLE_EQ(cache.WorkOf(workload_, job), 100 * 16);
}

TEST_F(TableCacheTest, GivenWorkStays) {
  TableCache cache(catalogue_, {{"gpu", 8}});
  Job job = MakeJob(1);
  job.work = 42;
  EXPECT_EQ(cache.WorkOf(workload_, job), 42);
}

TEST_F(TableCacheTest, JobWithoutProfileHasItsDurationAsWork) {
  TableCache cache(catalogue_, {{"gpu", 8}});
  EXPECT_EQ(cache.WorkOf(workload_, MakeJob(4)), 100);
}

TEST_F(TableCacheTest, SpansAreConfigurationsWhereNodesCanHoldThem) {
  catalogue_.Add(MakeGpuScalingModel("spans", {{"v100", {{1, 10}, {8, 80}}, {1, 1}},
                                               {"v100", {{2, 12}, {8, 40}}, {2, Span::kAny}}}));
  Job job = MakeJob(4, 1, 8);
  job.model = workload_.models.Intern("spans");
  TableCache cache(catalogue_, {{.name = "v100", .gpus = 16, .node_gpus = 4}});
  const TableCache::Offer offer = cache.OfferFor(workload_, job);
  std::vector<std::string> keys;
  keys.reserve(At(offer.table->size()));
  for (std::int32_t i = 0; i < offer.table->size(); ++i) {
    keys.push_back(offer.table->KeyText(i, {"v100"}));
  }
  EXPECT_EQ(
      keys,
      (std::vector<std::string>{
          "gpus=1 type=v100 nodes=1", "gpus=2 type=v100 nodes=2+", "gpus=2 type=v100 nodes=1",
          "gpus=3 type=v100 nodes=2+", "gpus=3 type=v100 nodes=1", "gpus=4 type=v100 nodes=2+",
          "gpus=4 type=v100 nodes=1", "gpus=5 type=v100 nodes=2+", "gpus=6 type=v100 nodes=2+",
          "gpus=7 type=v100 nodes=2+", "gpus=8 type=v100 nodes=2+"}));
  EXPECT_EQ(offer.table->KeyText(offer.requested, {"v100"}), "gpus=4 type=v100 nodes=1");
  EXPECT_DOUBLE_EQ(offer.work, 100 * 40);  // 10 + 3/7 x 70 on one node
}

TEST_F(TableCacheTest, TypesThatAJobDoesNotAcceptAreLeftOut) {
  TableCache cache(catalogue_, {{"v100", 8}, {"k80", 8}});
  Job job = MakeJob(2);
  job.gpu_types = workload_.gpu_types.Intern("k80|t4");
  EXPECT_EQ(Counts(*cache.TableFor(workload_, job), 0), std::vector<int>{});
  EXPECT_EQ(Counts(*cache.TableFor(workload_, job), 1), std::vector<int>{2});
  job.gpu_types = workload_.gpu_types.Intern("t4");
  EXPECT_EQ(ErrorOf(ExitCode::kBadData, [&] { cache.TableFor(workload_, job); }),
            "a job must accept a GPU type of the cluster: job 'app_17' accepts 't4', the "
            "cluster has v100, k80");
}

TEST_F(TableCacheTest, TypesAreKnownHoweverTheyAreSpelt) {
  TableCache cache(catalogue_, {{"v100", 8}, {"k80", 8}});
  Job job = MakeJob(2);
  job.gpu_types = workload_.gpu_types.Intern("Tesla V100-SXM2-32GB");
  EXPECT_EQ(Counts(*cache.TableFor(workload_, job), 0), std::vector<int>{2});
  EXPECT_EQ(Counts(*cache.TableFor(workload_, job), 1), std::vector<int>{});
}

TEST_F(TableCacheTest, TypesThatTheClusterLacksAreToldTogether) {
  TableCache cache(catalogue_, {{"v100", 8}, {"k80", 8}});
  for (const char* type : {"p40", "Tesla K80", "p40", "t4|p40"}) {
    workload_.jobs.push_back(MakeJob(2));
    workload_.jobs.back().id = std::to_string(workload_.jobs.size());
    workload_.jobs.back().gpu_types = workload_.gpu_types.Intern(type);
  }
  EXPECT_EQ(ErrorOf(ExitCode::kBadData, [&] { cache.CheckTypes(workload_); }),
            "a job must accept a GPU type of the cluster, which has v100, k80: 2 jobs ask for "
            "'p40' (first: '1'), 1 job asks for 't4|p40' (first: '4'); --type-map 'p40=TYPE' "
            "gives a type its name in the cluster, --oversized drop leaves out jobs of types "
            "that it lacks");
}

TEST_F(TableCacheTest, GpusWithTooLittleMemoryAreLeftOut) {
  TableCache cache(catalogue_, {{.name = "v100", .gpus = 8, .memory_gb = 16},
                                {.name = "k80", .gpus = 8, .memory_gb = 12}});
  Job job = MakeJob(2);
  job.gpu_memory_gb = 14;
  EXPECT_EQ(Counts(*cache.TableFor(workload_, job), 0), std::vector<int>{2});
  EXPECT_EQ(Counts(*cache.TableFor(workload_, job), 1), std::vector<int>{});
  job.gpu_memory_gb = 40;
  EXPECT_EQ(ErrorOf(ExitCode::kBadData, [&] { cache.TableFor(workload_, job); }),
            "a job must accept a GPU type of the cluster: job 'app_17' accepts any with at "
            "least 40 GB, the cluster has v100 (16 GB), k80 (12 GB)");
}

TEST_F(TableCacheTest, HostMemoryIsSharedByTheRequestedGpus) {
  TableCache cache(catalogue_, {{.name = "v100", .gpus = 8, .limits_memory = true}});
  Job job = MakeJob(4, 1, 8);
  job.memory_gb = 10;  // 2.5 GB a GPU
  const auto table = cache.TableFor(workload_, job);
  EXPECT_EQ((*table)[table->Find({8}, 0)].demand, (Resources{8, 0, 8 * 2560}));
}

TEST_F(TableCacheTest, HostMemoryAndCpusThatNoNodesHoldAreRefused) {
  const GpuTypeSpec::Nodes nodes{{.gpus = 4, .cpus = 32, .memory_mb = 100 * 1024}, 2};
  const TableCache cache(
      catalogue_,
      {{.name = "v100", .gpus = 8, .limits_memory = true, .limits_cpus = true, .nodes = {nodes}}});
  Job job = MakeJob(4);
  job.memory_gb = 200;  // 50 GB a GPU: two a node
  EXPECT_TRUE(cache.Fits(workload_, job).ok());
  job.memory_gb = 204;
  EXPECT_EQ(cache.Fits(workload_, job).message(),
            "a job must fit the cluster: job 'app_17' asks for 4 GPUs with 51 GB of host memory "
            "each, the nodes of GPU type 'v100' have up to 100 GB of host memory and hold 2 such "
            "GPUs");
  job.memory_gb = 0;
  job.cpus = 67;  // parts of a CPU do not count: 16 a GPU
  EXPECT_TRUE(cache.Fits(workload_, job).ok());
  job.cpus = 132;
  EXPECT_FALSE(cache.Fits(workload_, job).ok());
}

TEST_F(TableCacheTest, CpusThatTheClusterDoesNotSayDoNotCount) {
  const GpuTypeSpec::Nodes nodes{{.gpus = 4, .cpus = 32}, 2};
  TableCache cache(catalogue_, {{.name = "v100", .gpus = 8, .nodes = {nodes}}});
  Job job = MakeJob(4);
  job.cpus = 1000;
  EXPECT_EQ((*cache.TableFor(workload_, job))[0].demand, (Resources{4, 0, 0}));
}

TEST_F(TableCacheTest, ADurationIsOfTheTypeThatItWasMeasuredOn) {
  TableCache cache(catalogue_, {{"v100", 8}});
  Job job = MakeJob(8);
  job.model = 0;
  job.duration_type = workload_.gpu_types.InternSmall("k80");
  EXPECT_DOUBLE_EQ(cache.WorkOf(workload_, job), 100 * 16);  // the k80 is not in the cluster
  job.duration_type = workload_.gpu_types.InternSmall("h100");
  EXPECT_EQ(ErrorOf(ExitCode::kBadData, [&] { cache.WorkOf(workload_, job); }),
            "a duration is of a GPU type that the profile was measured on: job 'app_17' names "
            "'h100', profile 'm' has v100, k80");
}

}  // namespace
}  // namespace allot
