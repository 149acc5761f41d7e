#include "live/slurm/slurm_words.h"

#include <algorithm>
#include <cstddef>
#include <iterator>

#include "core/strings.h"
#include "live/runtime.h"

namespace allot {
namespace {

using StateWords = std::vector<std::string_view>;

struct StateWord {
  const char* word;
  SlurmState state;
};

constexpr StateWord kStates[] = {
    {"PENDING", SlurmState::kPending},     {"RUNNING", SlurmState::kRunning},
    {"SUSPENDED", SlurmState::kRunning},   {"COMPLETED", SlurmState::kCompleted},
    {"CANCELLED", SlurmState::kCancelled}, {"FAILED", SlurmState::kFailed},
    {"TIMEOUT", SlurmState::kFailed},      {"NODE_FAIL", SlurmState::kFailed},
    {"PREEMPTED", SlurmState::kFailed},    {"BOOT_FAIL", SlurmState::kFailed},
    {"DEADLINE", SlurmState::kFailed},     {"OUT_OF_MEMORY", SlurmState::kFailed}};

// Of a node that begins nothing.
constexpr const char* kUnfit[] = {"DRAIN",         "FAIL",          "MAINTENANCE", "POWERED_DOWN",
                                  "POWERING_DOWN", "REBOOT_ISSUED", "INVALID_REG"};

bool Says(const StateWords& words, std::string_view word) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

// Programs of 22.05 say one word: that a job is completing, then, and not from which state. Until
// it is over such a job counts as one that runs, and as one that waits where it will run again.
void ReadState(const SlurmJobWords& said, SlurmJob* job) {
  const StateWords& words = said.state;
  const auto* known = std::find_if(std::begin(kStates), std::end(kStates),
                                   [&](const StateWord& one) { return Says(words, one.word); });
  const bool again = Says(words, "REQUEUED") || Says(words, "REQUEUE_HOLD") ||
                     Says(words, "REQUEUE_FED") || Says(words, "SPECIAL_EXIT");
  if (known != std::end(kStates)) {
    job->state = known->state;
    job->reason = known->word;
  } else {
    job->state =
        again || Says(words, "RESV_DEL_HOLD") ? SlurmState::kPending : SlurmState::kRunning;
    job->reason = words.front();
  }
  job->completing = Says(words, "COMPLETING") || Says(words, "REQUEUED");
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

void ReadWaiting(const SlurmJobWords& said, SlurmJob* job) {
  if (said.reason == "BeginTime") {
    job->waits = "its begin time is to come";
  } else if (!said.dependency.empty()) {
    job->waits = fmt::format("it depends on {}", said.dependency);
  }
  if (job->state != SlurmState::kPending) return;
  job->on_hold = said.priority == 0U;
  job->elsewhere = IsOfNodes(said.reason);
  job->pending = said.reason.empty() || said.reason == "None" ? kNoWord : said.reason;
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
void ReadGpus(const SlurmJobWords& said, SlurmJob* job) {
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

void ReadWords(const SlurmJobWords& words, SlurmJob* job) {
  ReadState(words, job);
  ReadWaiting(words, job);
  ReadTasks(words.tasks, job);
  ReadGpus(words, job);
}

// One that does not respond keeps what it runs: it is lost when Slurm says DOWN, after
// SlurmdTimeout. A controller that was restarted knows nodes again within seconds.
void ReadWords(const std::vector<std::string_view>& state, SlurmNode* node) {
  const bool fit = std::none_of(std::begin(kUnfit), std::end(kUnfit),
                                [&](const char* flag) { return Says(state, flag); });
  const bool answers = Says(state, "IDLE") || Says(state, "ALLOCATED") || Says(state, "MIXED");
  node->up = fit && answers;
  // Both are an administrator's will: what allot calls maintenance are windows of its own rules.
  node->drained = answers && (Says(state, "DRAIN") || Says(state, "MAINTENANCE"));
  node->unknown = fit && Says(state, "UNKNOWN");
}

int LimitOf(std::uint64_t tres) {
  constexpr std::uint64_t kMostGpus = 1U << 30U;  // more is none, as is Slurm's INFINITE
  return tres > kMostGpus ? -1 : static_cast<int>(tres);
}

}  // namespace allot
