#include "sched/promise_check.h"

#include <algorithm>

#include "core/error.h"
#include "core/index.h"

namespace allot {
namespace {

std::vector<Allocation::Entry> ByJob(const Allocation& answer) {
  std::vector<Allocation::Entry> entries = answer.entries();
  std::sort(entries.begin(), entries.end(),
            [](const auto& a, const auto& b) { return a.job < b.job; });
  return entries;
}

bool Same(const Allocation& a, const Allocation::Entry& x, const Allocation& b,
          const Allocation::Entry& y) {
  const auto of_x = a.shares(x);
  const auto of_y = b.shares(y);
  return x.configuration == y.configuration && x.relaunch == y.relaunch && x.partner == y.partner &&
         std::equal(of_x.begin(), of_x.end(), of_y.begin(), of_y.end());
}

std::string Text(const Allocation& answer, const Allocation::Entry& entry) {
  std::string text = fmt::format("configuration {}", entry.configuration);
  const char* separator = " on ";
  for (const NodeShare& share : answer.shares(entry)) {
    text += fmt::format("{}node {} (GPUs {:#x})", separator, share.node, share.gpus);
    separator = ", ";
  }
  if (entry.partner != kAlone) text += fmt::format(", shared with job {}", entry.partner);
  return entry.relaunch ? text + ", launched again" : text;
}

// What a promise is about: while these stay the same, nothing has happened.
struct Happened {
  explicit Happened(const Observation& o)
      : jobs(o.job), running(o.running), gpus(o.cluster->gpu_masks()), cpus(o.cluster->cpus()) {}
  friend bool operator==(const Happened&, const Happened&) = default;

  std::vector<JobIndex> jobs;
  std::vector<std::int32_t> running;  // a node that goes stops jobs
  std::vector<std::uint64_t> gpus;    // by node
  std::vector<std::int32_t> cpus;     // by node
};

}  // namespace

std::string DifferenceOf(const Allocation& first, const Allocation& second) {
  const std::vector<Allocation::Entry> a = ByJob(first);
  const std::vector<Allocation::Entry> b = ByJob(second);
  auto x = a.begin();
  auto y = b.begin();
  while (x != a.end() || y != b.end()) {
    if (y == b.end() || (x != a.end() && x->job < y->job)) {
      return fmt::format("job {}: {}, but nothing", x->job, Text(first, *x));
    }
    if (x == a.end() || y->job < x->job) {
      return fmt::format("job {}: nothing, but {}", y->job, Text(second, *y));
    }
    if (!Same(first, *x, second, *y)) {
      return fmt::format("job {}: {}, but {}", x->job, Text(first, *x), Text(second, *y));
    }
    ++x;
    ++y;
  }
  return "";
}

void RequireSameAnswer(const Policy& policy, const Observation& o, const AllocationChanges& changes,
                       const Allocation& in_full) {
  const std::string difference = DifferenceOf(InFull(o, changes), in_full);
  if (difference.empty()) return;
  throw RunError(
      "policy '{}', decision {} at {} s: its answer as changes is not its full answer: {}",
      policy.info().id, o.decision, o.now, difference);
}

void PromiseCheck::Answer(const Observation& o, const Allocation& answer) {
  twin_.Decide(o, &twin_answer_);
  const std::string difference = DifferenceOf(answer, twin_answer_);
  if (difference.empty()) return;
  throw RunError(
      "policy '{}', decision {} at {} s: its answer is not that of a twin which is asked in full "
      "at "
      "every interval: {}",
      policy_.info().id, o.decision, o.now, difference);
}

bool PromiseCheck::WaitForChange(Seconds holds_until) {
  if (!policy_.info().time_driven) return cluster_.WaitForChange(holds_until);
  const Seconds promised_at = cluster_.Observe().now;
  const Happened before(cluster_.Observe());
  while (true) {
    if (!cluster_.WaitForChange(0)) return false;
    const Observation& o = cluster_.Observe();
    if (o.now >= holds_until || !(Happened(o) == before)) return true;
    twin_.Decide(o, &twin_answer_);
    const std::string difference = DifferenceOf(InFull(o, {}), twin_answer_);
    if (difference.empty()) continue;
    throw RunError(
        "policy '{}': it promised at {} s that its answer is valid {}, but a twin that is asked at "
        "{} s answers otherwise: {}",
        policy_.info().id, promised_at,
        holds_until == kNever ? std::string("until something happens")
                              : fmt::format("until {} s", holds_until),
        o.now, difference);
  }
}

}  // namespace allot
