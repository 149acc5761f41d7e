// Golden decision logs: what every policy decides in two small worlds, as a transcript that a
// person can follow: one GPU type and known lengths, and a mixed one. A transcript names at each
// decision the jobs that ended or whose GPUs changed, so that it has all of every allocation. A
// change of behaviour shows up as a changed line; when it is meant, ALLOT_UPDATE_GOLDEN=1 rewrites
// the files, the checkpoint for those that load one included, and the diff belongs in the review.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <tuple>
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

Scenario OneTypeScenario() {
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

struct MixedJob {
  const char* id;
  Seconds submit;
  GpuCount gpus;
  Seconds duration;
  GpuCount most;  // 0: rigid
  const char* model;
  const char* tenant;
  const char* user;
  double priority;
  Seconds deadline;  // after submission; 0: none
};

// Two GPU types, on which models differ by 4 to 8 times, users of three tenants, lengths of which
// policies are told estimates only, and a model whose rate depends on the nodes that it spans. From
// 905 s on many wait together, short and wide ones beside one that is very long.
constexpr MixedJob kMixedJobs[] = {
    {"night", 0, 4, 5200, 8, "resnet18:16", "vision", "ada", 0, 0},
    {"probe", 20, 1, 120, 0, "", "speech", "bob", 1, 900},
    {"tune-1", 40, 2, 1500, 4, "resnet50:64", "vision", "ada", 0, 0},
    {"tune-2", 40, 2, 2600, 4, "resnet50:64", "vision", "ada", 0, 0},
    {"spans", 60, 3, 1900, 6, "spans", "speech", "bob", 0, 0},
    {"parse", 310, 1, 2100, 0, "transformer:64", "language", "cyd", 0, 4000},
    {"speak", 350, 3, 800, 3, "lm:20", "speech", "bob", 0, 0},
    {"crowd-1", 620, 1, 400, 2, "resnet18:64", "speech", "dee", 0, 0},
    {"crowd-2", 630, 1, 1300, 2, "resnet18:64", "speech", "dee", 2, 2500},
    {"crowd-3", 640, 1, 90, 2, "resnet18:64", "speech", "dee", 0, 0},
    {"wide", 905, 4, 1100, 0, "", "language", "cyd", 0, 0},
    {"epic", 905, 2, 9000, 0, "", "language", "eve", 0, 0},
    {"block", 905, 4, 1300, 0, "", "vision", "ada", 0, 0},
    {"bit", 905, 1, 1200, 0, "", "speech", "dee", 0, 0},
    {"bits", 905, 1, 1250, 0, "", "", "fay", 0, 0},
    {"pair", 905, 2, 1400, 0, "", "language", "cyd", 0, 0},
    {"lm", 1210, 2, 3600, 6, "lm:80", "language", "eve", 0, 0},
    {"retry", 1400, 1, 60, 0, "", "", "", 0, 0},
    {"urgent", 1790, 2, 500, 4, "resnet50:128", "vision", "ada", 5, 1500},
    {"dl2", 2000, 2, 1700, 4, "dl2-resnet50", "", "fay", 0, 0},
    {"last", 2950, 3, 240, 0, "transformer:16", "speech", "bob", 0, 0},
    {"morning", 30000, 1, 700, 4, "resnet18:16", "language", "cyd", 0, 0},
};

Catalogue MixedCatalogue() {
  Catalogue catalogue = Catalogue::Embedded();
  catalogue.Add(MakeGpuScalingModel("spans", {{"v100", {{1, 10}, {4, 36}}, {1, 1}},
                                              {"k80", {{1, 4}, {3, 11}}, {1, 1}},
                                              {"k80", {{2, 5}, {6, 14}}, {2, Span::kAny}}}));
  return catalogue;
}

Scenario MixedScenario() {
  Workload workload;
  workload.name = "mixed";
  for (const MixedJob& golden : kMixedJobs) {
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
    job.tenant = workload.tenants.Intern(golden.tenant);
    job.user = workload.users.Intern(golden.user);
    job.group = workload.groups.Intern(golden.model);
    job.priority = golden.priority;
    if (golden.deadline > 0) job.deadline = golden.submit + golden.deadline;
    workload.jobs.push_back(job);
  }
  workload.Finish();
  SimOptions options;
  options.lengths = LengthEstimates::Parse("noisy:1");
  options.seed = 5;
  return Scenario(std::move(workload), ClusterSpec::Parse("1x4:v100,2x3:k80"), options,
                  MixedCatalogue());
}

struct GoldenWorld {
  const char* folder;  // of tests/golden
  const char* what;
  Scenario (*make)();
  bool reasons;  // the transcript names GPU types, what changed, and what policies say at the end
};
constexpr GoldenWorld kWorlds[] = {
    {"", "2 nodes of 4 GPUs; true lengths, decisions every 300 s; what changes at each",
     &OneTypeScenario, false},
    {"mixed",
     "4 v100 and 2 x 3 k80; noisy lengths, tenants, decisions every 300 s; what changes at each",
     &MixedScenario, true},
};

class Transcript : public DecisionListener {
 public:
  Transcript(const Scenario& scenario, bool reasons) : scenario_(scenario), reasons_(reasons) {}

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
      std::string type;
      if (reasons_) {
        const auto node = static_cast<std::size_t>(allocation.shares(entry).front().node);
        type = " " + o.cluster->types()[static_cast<std::size_t>(o.cluster->nodes()[node].type)];
      }
      given[entry.job] =
          fmt::format("{}{} GPU{} ({})", gpus, type, gpus == 1 ? "" : "s", Join(places, "; "));
    }
    std::string changes;
    std::map<JobIndex, std::string> now;
    for (std::int32_t row = 0; row < o.rows(); ++row) {
      const JobIndex job = o.job[static_cast<std::size_t>(row)];
      const auto at = given.find(job);
      now[job] = at == given.end() ? "waits" : at->second;
      changes += Change(o, row, now[job]);
    }
    std::vector<std::string> ended;
    for (const auto& [job, before] : last_) {
      if (!now.contains(job)) ended.push_back(Name(job));
    }
    last_ = std::move(now);
    if (changes.empty() && ended.empty()) {
      if (quiet_++ == 0) quiet_since_ = o.now;
      quiet_until_ = o.now;
      return;
    }
    EndQuiet();
    text += fmt::format("{} s{}{}\n{}", o.now, ended.empty() ? "" : ", after the end of ",
                        Join(ended, ", "), changes);
  }

  void Finish(const std::vector<JobRecord>& records, const PolicyNotes& notes) {
    EndQuiet();
    text += "\nJCT\n";
    for (const JobRecord& record : records) {
      text += fmt::format("  {:<12} {:.3f} s, preemptions {}, restarts {}\n", Name(record.job),
                          record.finish - record.submit, record.preemptions, record.restarts);
    }
    if (!reasons_ || notes.empty()) return;
    text += "\nNotes\n";
    for (const auto& [name, note] : notes) text += fmt::format("  {}: {}\n", name, note);
  }

  std::string text;

 private:
  const std::string& Name(JobIndex job) const {
    return scenario_.workload().jobs[static_cast<std::size_t>(job)].id;
  }

  // Empty if the job continues as it was.
  std::string Change(const Observation& o, std::int32_t row, const std::string& now) const {
    const JobIndex job = o.job[static_cast<std::size_t>(row)];
    const auto before = last_.find(job);
    if (before != last_.end() && before->second == now) return "";
    std::string reason;
    if (reasons_) {
      const bool ran = o.running[static_cast<std::size_t>(row)] >= 0;
      if (now == "waits")
        reason = ran ? ", stopped" : "";
      else
        reason = ran ? ", was " + before->second : ", starts";
    }
    return fmt::format("  {:<12} {}{}\n", Name(job), now, reason);
  }

  // Writes one line for the decisions since the last change.
  void EndQuiet() {
    if (quiet_ == 1) text += fmt::format("{} s: no change\n", quiet_since_);
    if (quiet_ > 1) {
      text += fmt::format("{} s to {} s: no change in {} decisions\n", quiet_since_, quiet_until_,
                          quiet_);
    }
    quiet_ = 0;
  }

  const Scenario& scenario_;
  bool reasons_;
  std::map<JobIndex, std::string> last_;  // what each unfinished job had at the last decision
  int quiet_ = 0;                         // decisions without a change
  Seconds quiet_since_ = 0;
  Seconds quiet_until_ = 0;
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

// The guard must have had something to judge where the run is a few jobs long.
std::string SpecIn(const GoldenWorld& world, const std::string& id) {
  const bool watchful = world.reasons && id == "guarded";
  return SpecOf(id) + (watchful ? ",min-jobs=3,check-interval=2,margin=0,teacher=index" : "");
}

std::filesystem::path FileOf(const GoldenWorld& world, const std::string& id) {
  return std::filesystem::path(ALLOT_TEST_GOLDEN) / world.folder / (id + ".txt");
}

class GoldenTest : public testing::TestWithParam<std::tuple<GoldenWorld, std::string>> {};

TEST_P(GoldenTest, DecidesAsRecorded) {
  const auto& [world, id] = GetParam();
  const Scenario scenario = world.make();
  Transcript transcript(scenario, world.reasons);
  transcript.text = fmt::format("{} on {}\n", id, world.what);
  DecisionListener* const listeners[] = {&transcript};
  const auto policy = MakePolicy(SpecIn(world, id));
  const std::vector<JobRecord> records = RunPolicy(scenario, *policy, listeners).records;
  transcript.Finish(records, policy->notes());

  const std::filesystem::path path = FileOf(world, id);
  if (Updating()) WriteTextFile(path, transcript.text);
  ASSERT_TRUE(std::filesystem::exists(path))
      << "policy '" << id << "' has no golden log: run with ALLOT_UPDATE_GOLDEN=1";
  const std::string golden = ReadTextFile(path.string());
  const auto expected = Split(golden, '\n');
  const auto actual = Split(transcript.text, '\n');
  for (std::size_t i = 0; i < std::max(expected.size(), actual.size()); ++i) {
    ASSERT_EQ(i < actual.size() ? actual[i] : "(end)", i < expected.size() ? expected[i] : "(end)")
        << path << ":" << i + 1;
  }
}

INSTANTIATE_TEST_SUITE_P(Policies, GoldenTest,
                         testing::Combine(testing::ValuesIn(kWorlds),
                                          testing::ValuesIn(Registry<PolicyInfo>::Global().ids())),
                         [](const auto& test) {
                           const GoldenWorld& world = std::get<0>(test.param);
                           std::string name = std::get<1>(test.param);
                           std::replace(name.begin(), name.end(), '-', '_');
                           return name + (world.reasons ? "_mixed" : "");
                         });

// A golden that another policy has too does not tell the two apart: then a mistake that makes one
// the other is not seen. Equal in one world is chance, in all of them a gap: none is equal by
// design.
TEST(Goldens, NoTwoPoliciesHaveEqualGoldens) {
  std::map<std::string, std::string> owner;
  for (const std::string& id : Registry<PolicyInfo>::Global().ids()) {
    std::string all;
    for (const GoldenWorld& world : kWorlds) {
      const std::string text = ReadTextFile(FileOf(world, id).string());
      const std::size_t decisions = text.find('\n');  // after the title, which names the policy
      all += text.substr(decisions, text.find("\nNotes\n") - decisions);
    }
    const auto [entry, added] = owner.emplace(all, id);
    EXPECT_TRUE(added) << id << " and " << entry->second << " decide alike in every golden world";
  }
}

// The model that depends on the nodes it spans runs on one, and on two, as policies differ.
TEST(Goldens, SpansAreThere) {
  int on_one = 0;
  int on_two = 0;
  for (const std::string& id : Registry<PolicyInfo>::Global().ids()) {
    const std::string text = ReadTextFile(FileOf(kWorlds[1], id).string());
    for (const std::string_view line : Split(text, '\n')) {
      if (line.substr(0, 8) != "  spans " || line.find("GPU") == std::string_view::npos) continue;
      (line.find("; node") == std::string_view::npos ? on_one : on_two) += 1;
    }
  }
  EXPECT_GT(on_one, 0);
  EXPECT_GT(on_two, 0);
}

}  // namespace
}  // namespace allot
