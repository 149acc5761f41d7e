#include "live/daemon/shadow.h"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <chrono>
#include <vector>

#include "core/error.h"
#include "core/metric_text.h"
#include "live/port/live_rules.h"

namespace allot {
namespace {

std::size_t RowOf(const Observation& o, const Allocation::Entry& entry) {
  const auto row = std::lower_bound(o.job.begin(), o.job.end(), entry.job);
  return static_cast<std::size_t>(row - o.job.begin());
}

double CostOf(const Observation& o, const Allocation::Entry& entry) {
  return (*o.table[RowOf(o, entry)])[entry.configuration].cost;
}

}  // namespace

void Shadow::Fail(const Observation& o, const std::string& why) {
  ++failed_;
  spdlog::warn("shadow '{}', decision {}: {}; active policy unaffected", name_, o.decision, why);
}

void Shadow::OnEpisodeStart(const EpisodeContext& context) {
  try {
    policy_->OnEpisodeStart(context);
  } catch (const std::exception& error) {
    off_ = true;
    ++failed_;
    spdlog::warn("shadow '{}' cannot start and is switched off: {}", name_, error.what());
  }
}

void Shadow::OnDecision(const Observation& o, const Allocation& allocation) {
  if (off_) return;
  const auto begin = std::chrono::steady_clock::now();
  std::string why;
  try {
    own_.Clear();
    policy_->Decide(o, &own_);
    const Status status = ValidateLiveAllocation(o, own_);
    if (!status.ok()) why = status.message();
  } catch (const std::exception& error) {
    why = error.what();
  }
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
  if (took.count() > o.interval) {
    off_ = true;
    why = fmt::format(
        "a decision must take at most the interval of {} s, took {:.1f} s: shadow "
        "switched off",
        o.interval, took.count());
  }
  if (!why.empty()) return Fail(o, why);

  ++decisions_;
  std::vector<double> own(o.job.size(), 0);
  for (const Allocation::Entry& entry : own_.entries()) own[RowOf(o, entry)] = CostOf(o, entry);
  for (const Allocation::Entry& entry : allocation.entries()) {
    const double given = CostOf(o, entry);
    given_ += given;
    same_ += std::min(given, own[RowOf(o, entry)]);
  }
  if (log_ != nullptr) log_->OnDecision(o, own_);
}

ShadowStatus Shadow::status() const { return {name_, decisions_, failed_, agreement(), !off_}; }

std::string Shadow::MetricsText() const {
  return MetricText()
      .Counter("allot_shadow_decisions_total", "legal decisions of the shadow")
      .Value(static_cast<double>(decisions_))
      .Counter("allot_shadow_decisions_failed_total",
               "failed decisions of the shadow: exceptions and broken rules")
      .Value(static_cast<double>(failed_))
      .Gauge("allot_shadow_agreement_ratio",
             "fraction of the GPUs that shadow and active policy allocate alike")
      .Value(agreement().value_or(0))
      .text();
}

}  // namespace allot
