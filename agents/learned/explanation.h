#pragma once
// Why a trained network gave each job its GPUs: the features and the three numbers; of an index
// network the key of every step of the job's hull, and why the job got no further step; of offsets
// what was added to the numbers of the fixed index, and what that alone would have given. Computed
// by the code that decides. Used by 'allot explain'.

#include <optional>
#include <string>
#include <string_view>
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
  std::vector<float> features;
  Score score;
  std::int32_t running = -1;
  std::int32_t filled = -1;          // what the fill gave; -1: nothing
  std::int32_t granted = -1;         // what placement made of that
  std::vector<ExplainedStep> steps;  // as considered; then, if the climb was not over, the next one
  std::string why;                   // what ended its climb, in words
  std::optional<Score> of_index{};   // of networks that add to it: its own; score is the sum
};

struct Explanation {
  std::vector<std::string_view> feature_names;
  std::vector<float> context;
  std::vector<ExplainedJob> jobs;  // as the rows of the observation
  float last_key = 0;              // of the least step that was taken; NaN: none was
  Allocation allocation;
};

// Made by NetworkInfo::make_explainer, or a LearnedPolicy that is one, too.
class Explainer {
 public:
  virtual ~Explainer() = default;
  virtual void OnEpisodeStart() = 0;
  // To be called for every decision before the one explained: forecasts learn from them.
  virtual void Observe(const Observation& observation) = 0;
  virtual Explanation Explain(const Observation& observation) = 0;
};

// UsageError unless the network is an index network.
std::unique_ptr<Explainer> MakeIndexExplainer(const Agent& agent,
                                              std::string_view placement = "packed");

// "4 GPUs", "2 worker + 1 ps", with the type where the cluster has several; "nothing" for -1.
std::string ConfigurationText(const Observation& observation, std::int32_t row,
                              std::int32_t configuration);

// Of the policy that `policy` names ("learned:checkpoint=DIR"); null: its decisions are not
// explained.
std::unique_ptr<Explainer> MakeExplainer(const NamedParams& policy);
// Of an agent, likewise.
std::unique_ptr<Explainer> MakeExplainer(const Agent& agent, const Serving& serving);

}  // namespace allot
