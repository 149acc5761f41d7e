#pragma once
// Supervised warm-up: a network that gives jobs numbers learns the priorities behind a log of any
// policy's decisions. At a contended decision the log shows which steps were taken and which were
// not: hull steps for index networks, to run or to wait where only an order is learned
// (job_numbers.h). The loss is small when every job's last taken step has a larger key than the
// untaken next steps:
//
//   L = mean over taken steps a of -ln( e^{key_a/tau} / (e^{key_a/tau} + sum over untaken b of
//   e^{key_b/tau}) )
//
// the likelihood of the log under the sampled fill with each taken step compared at the margin.

#include <functional>
#include <limits>
#include <vector>

#include "agents/learned/job_numbers.h"
#include "models/index_net.h"
#include "sched/recorded_policy.h"
#include "sim/scenario.h"

namespace allot {

struct ImitationData {
  std::vector<float> jobs;
  std::vector<float> contexts;
  std::vector<std::int64_t> decision_of_job;
  std::vector<MarginStep> taken;        // per job row: the last step within what it was given
  std::vector<MarginStep> untaken;      // per job row: the step after that
  std::vector<std::int64_t> first_row;  // of each decision, and the end

  std::int64_t decisions() const { return static_cast<std::int64_t>(first_row.size()) - 1; }
};

// Which decisions of a log to use: blocks of 48 in a row, every n-th block held out (n = 1 /
// share), so that both parts see all of an episode, its rush and its end, but not the same hours.
struct Part {
  bool held_out = false;
  double hold_out_share = 0.2;
  bool Holds(std::int64_t decision) const;
};

// Keeps every `stride`-th decision of the part in which GPUs were contended: none, or too few, were
// left over, as the network sees it. The second form plays the log in the simulator. UsageError
// where the network does not learn from logs.
void AppendImitationData(const Playback& play, const NetWeights& network, const Part& part,
                         int stride, ImitationData* data);
void AppendImitationData(const Scenario& scenario, const DecisionLog& log,
                         const NetWeights& network, const Part& part, int stride,
                         ImitationData* data);

struct ImitationOptions {
  std::uint64_t seed = 1;
  int epochs = 12;
  int batch_decisions = 128;
  double tau = 0.3;
  double learning_rate = 0.02;
  double final_learning_rate = 0.002;
};

struct ImitationReport {
  int epoch = 0;
  double loss = 0;
  double held_out_loss = 0;
  IndexNetWeights weights;  // after the epoch
};

// Minimises the loss from `start`; `on_epoch` sees each epoch's mean losses (held_out may be
// empty).
IndexNetWeights Imitate(const ImitationData& data, const ImitationData& held_out,
                        const ImitationOptions& options, const IndexNetWeights& start,
                        const std::function<void(const ImitationReport&)>& on_epoch);

// Of the GPUs handed out at contended decisions, how many the network would give to the same jobs:
// sums of min(own, logged) and of logged, over the part of the log.
struct AgreedGpus {
  double same = 0;
  double logged = 0;
  double share() const {  // NaN when nothing was contended
    return logged > 0 ? same / logged : std::numeric_limits<double>::quiet_NaN();
  }
};
AgreedGpus Agreement(const Playback& play, const Part& part, const NetWeights& weights);
AgreedGpus Agreement(const Scenario& scenario, const DecisionLog& log, const Part& part,
                     const NetWeights& weights);

}  // namespace allot
