// Golden decision logs: what every policy decides on one small workload, as a transcript that a
// person can follow. A change of behaviour shows up as a changed line; when it is meant,
// ALLOT_UPDATE_GOLDEN=1 rewrites the files, the checkpoint for those that load one included, and
// the diff belongs in the review.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "agents/learned/index_agent.h"
#include "core/file.h"
#include "core/rng.h"
#include "core/strings.h"
#include "models/checkpoint.h"
#include "sim/run.h"

namespace allot {
namespace {

struct GoldenJob {
  const char* id;
  Seconds submit;
  GpuCount gpus;
  Seconds duration;
  GpuCount most;  // 0: rigid; else elastic with 1 to `most` GPUs
  const char* model;
};

// A rush on 8 GPUs: short and long, rigid and elastic, one that takes the whole cluster.
constexpr GoldenJob kJobs[] = {
    {"long", 0, 4, 3000, 0, ""},
    {"short", 0, 1, 200, 0, ""},
    {"elastic", 100, 2, 2400, 8, "resnet18:16"},
    {"pair", 250, 2, 900, 0, ""},
    {"wide", 300, 6, 600, 0, ""},
    {"grower", 600, 1, 4000, 4, "resnet18:16"},
    {"tiny", 650, 1, 30, 0, ""},
    {"whole", 900, 8, 500, 0, ""},
    {"late", 1200, 3, 700, 0, ""},
    {"spread", 1250, 4, 1500, 8, "resnet18:16"},
    {"quick", 1500, 1, 100, 2, "resnet18:16"},
    {"after-a-gap", 40000, 2, 350, 0, ""},
};

Scenario GoldenScenario() {
  Workload workload;
  workload.name = "golden";
  for (const GoldenJob& golden : kJobs) {
    Job job;
    job.id = golden.id;
    job.submit = golden.submit;
    job.gpus = golden.gpus;
    job.duration = golden.duration;
    if (golden.most > 0) {
      job.min_gpus = 1;
      job.max_gpus = golden.most;
    }
    job.model = workload.models.Intern(golden.model);
    workload.jobs.push_back(job);
  }
  workload.Finish();
  SimOptions options;
  options.lengths = LengthEstimates::Parse("true");
  return Scenario(std::move(workload), ClusterSpec::Parse("2x4"), options);
}

class Transcript : public DecisionListener {
 public:
  explicit Transcript(const Scenario& scenario) : scenario_(scenario) {}

  void OnDecision(const Observation& o, const Allocation& allocation) override {
    std::map<JobIndex, std::string> given;
    for (const Allocation::Entry& entry : allocation.entries()) {
      std::vector<std::string> places;
      int gpus = 0;
      for (const NodeShare& share : allocation.shares(entry)) {
        std::vector<std::string> numbers;
        for (int gpu = 0; gpu < kMaxGpusPerNode; ++gpu) {
          if ((share.gpus >> gpu & 1) != 0) numbers.push_back(fmt::format("{}", gpu));
        }
        gpus += static_cast<int>(numbers.size());
        places.push_back(fmt::format("node {}: {}", share.node, Join(numbers, " ")));
      }
      given[entry.job] =
          fmt::format("{} GPU{} ({})", gpus, gpus == 1 ? "" : "s", Join(places, "; "));
    }
    text += fmt::format("\n{} s\n", o.now);
    for (const JobIndex job : o.job) {
      const auto at = given.find(job);
      text += fmt::format("  {:<12} {}\n", Name(job), at == given.end() ? "waits" : at->second);
    }
  }

  void Finish(const std::vector<JobRecord>& records) {
    text += "\nJCT\n";
    for (const JobRecord& record : records) {
      text += fmt::format("  {:<12} {:.3f} s, preemptions {}, restarts {}\n", Name(record.job),
                          record.finish - record.submit, record.preemptions, record.restarts);
    }
  }

  std::string text;

 private:
  const std::string& Name(JobIndex job) const {
    return scenario_.workload().jobs[static_cast<std::size_t>(job)].id;
  }
  const Scenario& scenario_;
};

bool Updating() { return std::getenv("ALLOT_UPDATE_GOLDEN") != nullptr; }

// Weights around a good index, every one of them disturbed, so that each has a part in decisions.
void WriteCheckpoint(const std::string& path) {
  Checkpoint checkpoint;
  checkpoint.feature_version = kFeatureVersion;
  checkpoint.weights = IndexAgentAt({.alpha = 0.3F, .beta = 0.3F, .kappa = 0.3F}, 4, 1);
  Rng rng(1, "golden-checkpoint");
  for (auto& [name, tensor] : checkpoint.weights.tensors) {
    for (float& value : tensor.data) value += static_cast<float>(0.2 * (rng.Uniform() - 0.5));
  }
  checkpoint.state = nlohmann::json::object();
  checkpoint.config = nlohmann::json::object();
  checkpoint.card = "Made by tests/golden/golden_test.cc; not trained.\n";
  SaveCheckpoint(checkpoint, path);
}

std::string SpecOf(const std::string& id) {
  const auto& params = Registry<PolicyInfo>::Global().Get("policy", id).params;
  const bool loads = std::any_of(params.begin(), params.end(),
                                 [](const ParamSpec& param) { return param.name == "checkpoint"; });
  if (!loads) return id;
  const std::string checkpoint = ALLOT_TEST_GOLDEN "/checkpoint";
  if (Updating()) WriteCheckpoint(checkpoint);
  return id + ":checkpoint=" + checkpoint;
}

class GoldenTest : public testing::TestWithParam<std::string> {};

TEST_P(GoldenTest, DecidesAsRecorded) {
  const Scenario scenario = GoldenScenario();
  Transcript transcript(scenario);
  transcript.text =
      fmt::format("{} on 2 nodes of 4 GPUs; true lengths, decisions every 300 s\n", GetParam());
  DecisionListener* const listeners[] = {&transcript};
  transcript.Finish(RunPolicy(scenario, *MakePolicy(SpecOf(GetParam())), listeners).records);

  const std::filesystem::path path =
      std::filesystem::path(ALLOT_TEST_GOLDEN) / (GetParam() + ".txt");
  if (Updating()) WriteTextFile(path, transcript.text);
  ASSERT_TRUE(std::filesystem::exists(path))
      << "policy '" << GetParam() << "' has no golden log: run with ALLOT_UPDATE_GOLDEN=1";
  const std::string golden = ReadTextFile(path.string());
  const auto expected = Split(golden, '\n');
  const auto actual = Split(transcript.text, '\n');
  for (std::size_t i = 0; i < std::max(expected.size(), actual.size()); ++i) {
    ASSERT_EQ(i < actual.size() ? actual[i] : "(end)", i < expected.size() ? expected[i] : "(end)")
        << path.filename() << ":" << i + 1;
  }
}

INSTANTIATE_TEST_SUITE_P(Policies, GoldenTest,
                         testing::ValuesIn(Registry<PolicyInfo>::Global().ids()),
                         [](const auto& test) {
                           std::string name = test.param;
                           std::replace(name.begin(), name.end(), '-', '_');
                           return name;
                         });

}  // namespace
}  // namespace allot
