#include "perf/transformer_model.h"

#include <gtest/gtest.h>

#include "perf/catalogue.h"
#include "perf/table_cache.h"
#include "plans/stated_plan.h"
#include "tests/unit/core/expect_error.h"

namespace allot {
namespace {

constexpr const char* kHeader =
    "profile,kind,gpu_type,layers,hidden,heads,kv_heads,ffn,vocabulary,experts,top_k,expert_ffn,"
    "sequence,batch,tp,time_factor,peak_tflops,memory_gb,memory_gb_s,link_gb_s,network_gb_s,"
    "architecture";
constexpr const char* kSmall = "small,transformer,,32,4096,32,,11008,32000,,,,4096,1024,,,,,,,,";

std::string Text(const std::string& rows) { return std::string(kHeader) + "\n" + rows; }

const TransformerModel& ModelOf(const Catalogue& catalogue) {
  return *AsTransformer(*catalogue.models().front());
}

TEST(TransformerModel, RateIsTokensOfTheBestPlan) {
  const Catalogue& catalogue = Catalogue::FromName("transformers");
  const ModelPtr model = catalogue.Get("llama-70b");
  const PlanProblem& problem = *AsTransformer(*model)->ProblemOn("h100");
  const std::vector<UnitCounts> nodes(8, UnitCounts(8));
  EXPECT_DOUBLE_EQ(model->Rate({"h100", nodes, {}}, {}),
                   512 * 8192 / BestPlan(problem, {64, 8})->step);
  EXPECT_EQ(model->Rate({8}, "h100"), 0) << "no plan fits";
}

TEST(TransformerModel, ItsPlanIsThatOfTheRate) {
  const ModelPtr model = Catalogue::FromName("transformers").Get("llama-70b");
  const std::vector<UnitCounts> nodes(8, UnitCounts(8));
  const StatedPlan stated = ParsePlan(model->PlanOn({"h100", nodes, {}}).value(), "model");
  EXPECT_EQ(stated.plan, AsTransformer(*model)->PlanFor({"h100", nodes, {}})->plan);
  EXPECT_EQ(stated.batch, 512);
  EXPECT_EQ(stated.layers, 80);
  const std::vector<UnitCounts> one = {8};
  EXPECT_EQ(model->PlanOn({"h100", one, {}}), std::nullopt) << "no plan fits";
}

TEST(TransformerModel, TheSmallestNodeLimitsTensorSplits) {
  const ModelPtr model = Catalogue::FromName("transformers").Get("llama-70b");
  const std::vector<UnitCounts> whole(4, UnitCounts(8));
  std::vector<UnitCounts> ragged(4, UnitCounts(8));
  ragged[0] = 6;
  ragged.emplace_back(2);
  EXPECT_LT(AsTransformer(*model)->PlanFor({"h100", ragged, {}})->plan.tensor, 4);
  EXPECT_LT(model->Rate({"h100", ragged, {}}, {}), model->Rate({"h100", whole, {}}, {}));
}

TEST(TransformerModel, TablesHoldUsefulCountsAndTheFloor) {
  const Catalogue catalogue = Catalogue::FromName("transformers");
  TableCache cache(catalogue, {{"h100", 128, 8}});
  Workload workload;
  Job job;
  job.id = "j";
  job.model = workload.models.Intern("llama-405b");
  job.gpus = 128;
  job.min_gpus = 1;
  job.max_gpus = 128;
  job.duration = 100;
  std::vector<int> counts;
  for (const Configuration& c : cache.TableFor(workload, job)->configurations()) {
    counts.push_back(c.units.of(0));
  }
  EXPECT_EQ(counts, (std::vector<int>{104, 128}));
}

TEST(TransformerModel, AJobBelowTheFloorIsNoUnknownType) {
  const Catalogue catalogue = Catalogue::FromName("transformers");
  TableCache cache(catalogue, {{"h100", 64, 8}});
  Workload workload;
  Job job;
  job.id = "j";
  job.model = workload.models.Intern("llama-405b");
  job.gpus = 64;
  job.duration = 100;
  ExpectError(ExitCode::kBadData,
              {"a job must have a number of GPUs that its profile runs on: job 'j' may have 64 to "
               "64 of the cluster's 64, profile 'llama-405b' needs at least 104 GPUs of type h100"},
              [&] { (void)cache.TableFor(workload, job); });
}

TEST(TransformerModel, ASplitThatNoCountFitsIsNoUnknownType) {
  const Catalogue catalogue = Catalogue::FromCsv(
      Text("wide,transformer,,32,4096,32,,11008,32000,,,,4096,1024,16,,,,,,,"), "c.csv");
  TableCache cache(catalogue, {{"h100", 64, 8}});
  Workload workload;
  Job job;
  job.id = "j";
  job.model = workload.models.Intern("wide");
  job.gpus = 16;
  job.duration = 100;
  ExpectError(ExitCode::kBadData,
              {"profile 'wide' of job 'j' runs on no number of GPUs of the cluster's (h100)"},
              [&] { (void)cache.TableFor(workload, job); });
}

TEST(TransformerModel, ARowOfATypeChangesItsFacts) {
  const Catalogue catalogue = Catalogue::FromCsv(
      Text(std::string(kSmall) + "\nsmall,transformer,h100,,,,,,,,,,,,,2,,,,,,\n"
                                 "small,transformer,mine,,,,,,,,,,,,,,500,40,2000,300,25,\n"),
      "c.csv");
  const TransformerModel& model = ModelOf(catalogue);
  EXPECT_EQ(model.ProblemOn("h100")->training.time_factor, 2);
  EXPECT_EQ(model.ProblemOn("a100")->training.time_factor, 1);
  EXPECT_EQ(model.ProblemOn("mine")->gpu.memory_gb, 40);
  EXPECT_EQ(model.ProblemOn("yours"), nullptr);
  EXPECT_EQ(model.ProblemOn(""), model.ProblemOn("h100")) << "the first type with a row";
}

struct BadRows {
  const char* rows;
  const char* message;
};

class TransformerRows : public testing::TestWithParam<BadRows> {};

TEST_P(TransformerRows, AreRefusedWithPlaceAndRule) {
  ExpectError(ExitCode::kBadData, {GetParam().message},
              [] { (void)Catalogue::FromCsv(Text(GetParam().rows), "c.csv"); });
}

INSTANTIATE_TEST_SUITE_P(
    All, TransformerRows,
    testing::Values(
        BadRows{"s,transformer,,32,4096,32,,11008,32000,,,,4096,0,,,,,,,,",
                "'batch' must be a whole number from 1 to 16777216, got '0' (c.csv:2)"},
        BadRows{"s,transformer,,32,4096,32,,11008,32000,,,,4096,1.5,,,,,,,,",
                "'batch' must be a whole number from 1 to 16777216, got '1.5' (c.csv:2)"},
        BadRows{"s,transformer,,32,4096,32,5,11008,32000,,,,4096,8,,,,,,,,",
                "'kv_heads' must divide 'heads', got 5 and 32 (c.csv:2)"},
        BadRows{"s,transformer,,32,4095,32,,11008,32000,,,,4096,8,,,,,,,,",
                "'heads' must divide 'hidden' where no 'head_size' is given, got 32 and 4095 "
                "(c.csv:2)"},
        BadRows{"s,transformer,,32,4096,32,,,32000,8,9,1024,4096,8,,,,,,,,",
                "'top_k' must be at most 'experts', got 9 of 8 (c.csv:2)"},
        BadRows{"s,transformer,,32,4096,32,,11008,32000,,,,4096,8,128,,,,,,,",
                "'tp' must be at most the GPUs of a node, got 128 of 64 (c.csv:2)"},
        BadRows{"s,transformer,,32,4096,32,,11008,32000,,,,16777217,8,,,,,,,,",
                "'sequence' must be a whole number from 1 to 16777216, got '16777217' (c.csv:2)"},
        BadRows{"s,transformer,,32,4096,32,,11008,32000,,,,4096,8,,,,,,,,mamba",
                "only decoders can be predicted: 'architecture' must be decoder, got 'mamba' "
                "(c.csv:2)"},
        BadRows{"s,transformer,,32,4096,32,,11008,32000,,,,4096,8,,,,,,,,\n"
                "s,transformer,h1000,,,,,,,,,,,,,2,,,,,,",
                "GPU type 'h1000' has no known facts, so its row needs 'peak_tflops'; known: "
                "v100-16, v100, a100-40, a100, h100, h100-500w, h200, b200, gb200 (c.csv:3)"},
        BadRows{"s,transformer,h100,32,4096,32,,11008,32000,,,,4096,8,,,,,,,,",
                "the first row of a transformer describes its shape and has no 'gpu_type': profile "
                "'s' has 'h100' (c.csv:2)"},
        BadRows{
            "s,transformer,,32,4096,32,,11008,32000,,,,4096,8,,,900,,,,,",
            "'peak_tflops' belongs to a row with a 'gpu_type', got '900' without one (c.csv:2)"},
        BadRows{"s,transformer,,32,4096,32,,11008,32000,,,,4096,8,,,,,,,,\n"
                "s,transformer,,,,,,,,,,,,,,2,,,,,,",
                "rows behind the first of a transformer name a GPU type, got '' (c.csv:3)"},
        BadRows{"s,transformer,,32,4096,32,,11008,32000,,,,4096,8,,,,,,,,\n"
                "s,transformer,h100,,,,,,,,,,,16,,2,,,,,,",
                "'batch' stands in the first row of a profile only, got '16' for 'h100' (c.csv:3)"},
        BadRows{"s,transformer,,32,4096,32,,11008,32000,,,,4096,8,,,,,,,,\n"
                "s,transformer,h100,,,,,,,,,,,,,2,,,,,,\n"
                "s,transformer,h100,,,,,,,,,,,,,3,,,,,,",
                "a GPU type has one row: 'h100' of profile 's' stands in c.csv:3 and in c.csv:4"}));

}  // namespace
}  // namespace allot
