#include "live/port/node_blame.h"

#include <fmt/ranges.h>
#include <spdlog/spdlog.h>

#include <string>
#include <utility>
#include <vector>

namespace allot {

bool NodeBlame::Update(const FailureRule& rule) {
  RecordSuccesses();
  const bool avoids = ActOnSuspects(rule);
  return ReadmitNodes() || avoids;
}

void NodeBlame::RecordSuccesses() {
  const LiveState& state = writer_.state();
  std::map<JobIndex, Start> starts;
  for (const LiveJob* job : state.job_table().active()) {
    if (job->over || job->worker_group.idle()) continue;
    const std::int64_t number = job->worker_group.past().next_number;
    const int failures = state.suspicion().FailuresOf(job->asked->id);
    const auto known = starts_.find(job->index);
    const bool is_new = known == starts_.end() || known->second.next_number != number;
    Start& start = starts[job->index];
    start = is_new ? Start{number, failures} : known->second;
    // What is left of a start that failed in part trains on, but shows nothing of its nodes.
    start.decided = start.decided || failures > start.failures;
    if (start.decided || !job->worker_group.training(job->progress)) continue;
    if (start.trains_since == kNever) {
      start.trains_since = writer_.now();
      start.step = job->progress.step;
    }
    // All members of a hot job's epoch have trained in it. Other workers merely live at first.
    if (job->asked->mode != ResizeMode::kHot && job->progress.step <= start.step &&
        writer_.now() - start.trains_since < NodeSuspicion::kProven) {
      continue;
    }
    start.decided = true;
    writer_.Write(record::Succeeded{job->asked->id});
  }
  starts_ = std::move(starts);
}

bool NodeBlame::ActOnSuspects(const FailureRule& rule) {
  const LiveState& state = writer_.state();
  const Seconds now = writer_.now();
  const auto suspects = state.suspicion().FindSuspects(state.nodes().size(), now, rule);
  const auto warn = [](const SuspectNode& suspect, const std::string& what) {
    spdlog::warn("node {} {}: the odds are {:.0f} to 1 that it fails jobs ({} failed there)",
                 suspect.name, what, suspect.odds, fmt::join(suspect.jobs, ", "));
  };
  if (rule.then == SuspectAction::kTell) {
    std::set<std::string> named;
    for (const SuspectNode& suspect : suspects) {
      if (!named_.contains(suspect.name)) warn(suspect, "is suspect");
      named.insert(suspect.name);
    }
    named_ = std::move(named);
    return false;
  }
  for (const SuspectNode& suspect : suspects) {
    const bool drains = rule.then == SuspectAction::kDrain;
    warn(suspect, drains
                      ? fmt::format("is drained until 'allot drain --node {} --undo'", suspect.name)
                      : fmt::format("is avoided for {:.0f} min", (suspect.until - now) / 60));
    ++counts_.nodes_avoided;
    writer_.Write(record::Avoid{suspect.name, suspect.until, suspect.odds, suspect.jobs});
    if (drains) writer_.Write(record::Drain{suspect.name});
  }
  return !suspects.empty();
}

bool NodeBlame::ReadmitNodes() {
  std::vector<std::string> readmitted;
  for (const auto& [name, node] : writer_.state().suspicion().nodes()) {
    if (node.avoided && writer_.now() >= node.avoided_until) readmitted.push_back(name);
  }
  for (const std::string& name : readmitted) {
    spdlog::info("node {} is tried again", name);
    writer_.Write(record::Readmit{name});
  }
  return !readmitted.empty();
}

}  // namespace allot
