// Least attained service first (Nuyens & Wierman's survey, Perf. Eval. 2008). With thresholds the
// service is counted in queues, first come first served inside each: Tiresias' discretised
// two-dimensional LAS (Gu et al., NSDI'19, section 4.2). With `promote` (its PROMOTEKNOB) a job
// that has waited for that many times the time it had run returns to the first queue, and its
// service is counted anew.

#include <algorithm>

#include "core/error.h"
#include "sched/incremental_stages.h"

namespace allot {
namespace {

class AttainedOrder : public Ordering, public IncrementalOrdering {
 public:
  AttainedOrder(std::vector<double> queues, bool gpu_seconds, double promote, bool by_entry)
      : queues_(std::move(queues)),
        gpu_seconds_(gpu_seconds),
        promote_(promote),
        by_entry_(by_entry) {}

  void OnEpisodeStart() override {
    forgiven_.clear();
    entered_.clear();
  }

  const IncrementalOrdering* incremental() const override { return this; }
  bool by_own_service() const override { return !(promote_ > 0); }

  void Keys(const Observation& o, std::span<const std::int32_t> rows,
            std::vector<double>* keys) override {
    keys->resize(rows.size());
    for (std::size_t i = 0; i < rows.size(); ++i) {
      if (promote_ > 0 && o.now >= PromotedAt(o, rows[i])) Promote(o, rows[i]);
      const double service = Service(o, rows[i]);
      if (queues_.empty()) {
        (*keys)[i] = service;
      } else {
        const auto queue = std::upper_bound(queues_.begin(), queues_.end(), service);
        (*keys)[i] = static_cast<double>(queue - queues_.begin());
        if (by_entry_) (*keys)[i] = WithEntry(o, rows[i], (*keys)[i]);
      }
    }
  }

  Drift DriftOf(const Observation& o, std::int32_t row, std::int32_t configuration) const override {
    const auto r = static_cast<std::size_t>(row);
    const double rate = gpu_seconds_ ? (*o.table[r])[configuration].demand.gpus : 1.0;
    if (queues_.empty()) return {rate, kNever};
    const double service = Service(o, row);
    const auto next = std::upper_bound(queues_.begin(), queues_.end(), service);
    return {0, next == queues_.end() ? kNever : o.now + (*next - service) / rate};
  }

  Seconds WaitMoves(const Observation& o, std::span<const std::int32_t> rows) const override {
    Seconds first = kNever;
    if (!(promote_ > 0)) return first;
    for (const std::int32_t row : rows) first = std::min(first, PromotedAt(o, row));
    return first;
  }

 private:
  struct Forgiven {  // what was attained before the last promotion
    double gpu_seconds = 0;
    Seconds seconds = 0;
  };

  // Queues are further apart than all times. Whoever is in the first queue came with its
  // submission.
  double WithEntry(const Observation& o, std::int32_t row, double queue) {
    constexpr double kApart = 1e12;
    if (queue == 0) return 0;
    const auto job = static_cast<std::size_t>(o.job[static_cast<std::size_t>(row)]);
    if (job >= entered_.size()) entered_.resize(job + 1);
    if (entered_[job].queue != queue) entered_[job] = {queue, o.now};
    return queue * kApart + entered_[job].time;
  }

  // A job that has not run since it was last in the first queue stays there.
  Seconds PromotedAt(const Observation& o, std::int32_t row) const {
    const auto r = static_cast<std::size_t>(row);
    const double run = o.attained_seconds[r] - ForgivenTo(o.job[r]).seconds;
    if (!(promote_ > 0) || !(run > 0)) return kNever;
    if (!queues_.empty() && Service(o, row) < queues_.front()) return kNever;
    return o.waiting_since[r] + promote_ * run;  // of a running row: now
  }

  Forgiven ForgivenTo(JobIndex job) const {
    const auto j = static_cast<std::size_t>(job);
    return j < forgiven_.size() ? forgiven_[j] : Forgiven{};
  }

  double Service(const Observation& o, std::int32_t row) const {
    const auto r = static_cast<std::size_t>(row);
    if (forgiven_.empty()) return gpu_seconds_ ? o.attained_gpu_seconds[r] : o.attained_seconds[r];
    const Forgiven forgiven = ForgivenTo(o.job[r]);
    return gpu_seconds_ ? o.attained_gpu_seconds[r] - forgiven.gpu_seconds
                        : o.attained_seconds[r] - forgiven.seconds;
  }

  void Promote(const Observation& o, std::int32_t row) {
    const auto r = static_cast<std::size_t>(row);
    const auto job = static_cast<std::size_t>(o.job[r]);
    if (job >= forgiven_.size()) forgiven_.resize(job + 1);
    forgiven_[job] = {o.attained_gpu_seconds[r], o.attained_seconds[r]};
  }

  std::vector<double> queues_;
  bool gpu_seconds_;
  double promote_;
  bool by_entry_;
  struct Entered {
    double queue = 0;
    Seconds time = 0;
  };
  std::vector<Entered> entered_;    // by job, where by_entry_
  std::vector<Forgiven> forgiven_;  // by job; empty until a job is promoted
};

ALLOT_REGISTER(
    OrderingInfo, ([] {
      OrderingInfo info;
      info.id = "attained";
      info.summary = "least attained service first, optionally in queues (Tiresias)";
      info.time_driven = true;
      info.rates = RatesRead::kNone;
      info.params = {
          {"queues", "",
           "ascending service thresholds between queues, joined by '|'; none: plain LAS", 0, 1e15},
          {"service", "gpu-seconds", "what counts as service: gpu-seconds or seconds"},
          {"promote", "0",
           "a job that waited this many times as long as it ran goes to the first queue (0: never)",
           0, 1e9},
          {"within", "submit",
           "order inside a queue: submit, or entry: who came into the queue first"}};
      info.make = [](const Params& params) {
        std::vector<double> queues = params.Numbers("queues");
        if (!std::is_sorted(queues.begin(), queues.end())) {
          throw UsageError("ordering 'attained': 'queues' must ascend, got '{}'",
                           params.Text("queues"));
        }
        const std::string& service = params.Text("service");
        if (service != "gpu-seconds" && service != "seconds") {
          throw UsageError(
              "ordering 'attained': 'service' must be gpu-seconds or seconds, got '{}'", service);
        }
        const std::string& within = params.Text("within");
        if (within != "submit" && within != "entry") {
          throw UsageError("ordering 'attained': 'within' must be submit or entry, got '{}'",
                           within);
        }
        return std::make_unique<AttainedOrder>(std::move(queues), service == "gpu-seconds",
                                               params.Number("promote"), within == "entry");
      };
      return info;
    }()));

}  // namespace
}  // namespace allot
