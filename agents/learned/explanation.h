#pragma once
// Why a trained index network gave each job its GPUs: the features, the three outputs, the key of
// every step of the job's hull, and why the job got no further step. Computed by the code that
// decides. Used by 'allot explain'.

#include <array>
#include <string>
#include <vector>

#include "agents/learned/agent.h"
#include "agents/learned/index_agent.h"
#include "cluster/allocation.h"

namespace allot {

// A step up a job's hull: key = u + gain - beta x level +- kappa.
struct ExplainedStep {
  enum class Outcome { kTaken, kDidNotFit, kNotReached };
  std::int32_t from = -1;  // configurations of the job's table; -1: nothing
  std::int32_t to = -1;
  float gain = 0;      // ln of speed gained per cost, in speeds of the smallest configuration
  float level = 0;     // ln of the speed at the step's middle
  bool keeps = false;  // within what the job runs on now: + kappa, else - kappa
  float key = 0;
  Outcome outcome = Outcome::kNotReached;
  Resources free{};  // of its GPU type when it was considered, the job's own included
};

struct ExplainedJob {
  JobIndex job = 0;
  std::array<float, kJobFeatures> features{};
  Score score;
  std::int32_t running = -1;
  std::int32_t filled = -1;          // what the fill gave; -1: nothing
  std::int32_t granted = -1;         // what placement made of that
  std::vector<ExplainedStep> steps;  // as considered; then, if the climb was not over, the next one
  std::string why;                   // what ended its climb, in words
};

struct Explanation {
  std::vector<float> context;
  std::vector<ExplainedJob> jobs;  // as the rows of the observation
  float last_key = 0;              // of the least step that was taken; NaN: none was
  Allocation allocation;
};

// Made by NetworkInfo::make_explainer, where a network has one.
class Explainer {
 public:
  // UsageError unless the network is an index network.
  explicit Explainer(const Agent& agent, std::string_view placement = "packed");

  void OnEpisodeStart() { encoder_.OnEpisodeStart(); }
  // To be called for every decision before the one explained: forecasts learn from them.
  void Observe(const Observation& observation) { encoder_.Observe(observation); }
  Explanation Explain(const Observation& observation);

 private:
  IndexNet net_;
  FeatureEncoder encoder_;
  std::unique_ptr<Placement> placement_;
};

// "4 GPUs", "2 worker + 1 ps", with the type where the cluster has several; "nothing" for -1.
std::string ConfigurationText(const Observation& observation, std::int32_t row,
                              std::int32_t configuration);

// Of the policy that `policy` names ("learned:checkpoint=DIR"); null: its decisions are not
// explained.
std::unique_ptr<Explainer> MakeExplainer(const NamedParams& policy);
// Of an agent, likewise.
std::unique_ptr<Explainer> MakeExplainer(const Agent& agent, const std::string& placement);

}  // namespace allot
