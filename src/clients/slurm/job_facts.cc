#include "clients/slurm/job_facts.h"

#include <fmt/format.h>

#include <cstddef>

#include "core/strings.h"

namespace allot {
namespace {

// A flag alone says as much as programs of 22.05 do: until the job is over, it counts as one that
// runs, and as one that waits where it will run again.
SlurmState SummaryOf(SlurmJobState state) {
  const SlurmJobStateFacts& facts = FactsOf(state);
  if (facts.phase == SlurmJobPhase::kWaiting || facts.phase == SlurmJobPhase::kRequeued) {
    return SlurmState::kPending;
  }
  if (facts.phase == SlurmJobPhase::kRunning) return SlurmState::kRunning;
  return facts.end == SlurmJobEnd::kCompleted   ? SlurmState::kCompleted
         : facts.end == SlurmJobEnd::kCancelled ? SlurmState::kCancelled
                                                : SlurmState::kFailed;
}

void ReadState(const SlurmJobFacts& said, SlurmJob* job) {
  const bool again = said.states.IsRequeued();
  const SlurmJobState state = said.states.Main().value_or(SlurmJobState::kRunning);
  job->state = SummaryOf(state);
  job->reason = FactsOf(state).name;
  job->completing =
      said.states.Has(SlurmJobState::kCompleting) || said.states.Has(SlurmJobState::kRequeued);
  job->ended = job->state != SlurmState::kPending && job->state != SlurmState::kRunning && !again;
  if (job->state == SlurmState::kFailed) {
    job->reason += fmt::format(", exit code {}, signal {}", said.exit_code, said.exit_signal);
  }
}

// Other reasons are limits of the user, the account or the partition.
bool IsOfNodes(std::string_view reason) {
  return reason == "Resources" || reason == "Priority" || reason == "ReqNodeNotAvail" ||
         reason == "Reservation";
}

void ReadWaiting(const SlurmJobFacts& said, SlurmJob* job) {
  if (said.reason == "BeginTime") {
    job->waits = "its begin time is to come";
  } else if (!said.dependency.empty()) {
    job->waits = fmt::format("it depends on {}", said.dependency);
  }
  if (job->state != SlurmState::kPending) return;
  job->on_hold = said.priority == 0U;
  job->elsewhere = IsOfNodes(said.reason);
  job->pending = said.reason.empty() ? std::string_view(kNoReason) : said.reason;
}

// A record that stands for one task is this task.
void ReadTasks(std::string_view tasks, SlurmJob* job) {
  if (const auto lone = ParseInteger(tasks.substr(0, tasks.find('%')))) {
    job->task = *lone;
  } else {
    job->tasks = tasks;
  }
}

// What the job holds, by node; "" where that is no GRES, but the whole node.
void ReadGpus(const SlurmJobFacts& said, SlurmJob* job) {
  for (std::size_t n = 0; n < said.hosts.size(); ++n) {
    const bool has = n < said.gres.size();
    if (has || said.whole_nodes) job->gpus_on[said.hosts[n]] = has ? said.gres[n] : "";
  }
  for (const std::string_view asked : said.asked_otherwise) {
    // Newer releases write CPUs a task there, too.
    if (job->other_gpus.empty() && asked.find("gres") != std::string_view::npos) {
      job->other_gpus = asked;
    }
  }
}

}  // namespace

void ReadJobFacts(const SlurmJobFacts& facts, SlurmJob* job) {
  ReadState(facts, job);
  ReadWaiting(facts, job);
  ReadTasks(facts.tasks, job);
  ReadGpus(facts, job);
}

}  // namespace allot
