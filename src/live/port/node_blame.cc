#include "live/port/node_blame.h"

#include <fmt/ranges.h>
#include <spdlog/spdlog.h>

#include <string>
#include <utility>
#include <vector>

namespace allot {

bool NodeBlame::Update() {
  RecordSuccesses();
  const bool avoids = AvoidSuspects();
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

bool NodeBlame::AvoidSuspects() {
  const LiveState& state = writer_.state();
  const Seconds now = writer_.now();
  const auto suspects = state.suspicion().FindSuspects(state.nodes().size(), now);
  for (const SuspectNode& suspect : suspects) {
    spdlog::warn(
        "node {} is avoided for {:.0f} min: the odds are {:.0f} to 1 that it fails jobs "
        "({} failed there)",
        suspect.name, (suspect.until - now) / 60, suspect.odds, fmt::join(suspect.jobs, ", "));
    ++counts_.nodes_avoided;
    writer_.Write(record::Avoid{suspect.name, suspect.until, suspect.odds, suspect.jobs});
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
