// Least attained service first (Nuyens & Wierman's survey, Perf. Eval. 2008). With thresholds the
// service is counted in queues, first come first served inside each: Tiresias' discretised
// two-dimensional LAS (Gu et al., NSDI'19, section 4.2).

#include <algorithm>

#include "core/error.h"
#include "sched/stages.h"

namespace allot {
namespace {

class AttainedOrder : public Ordering {
 public:
  AttainedOrder(std::vector<double> queues, bool gpu_seconds)
      : queues_(std::move(queues)), gpu_seconds_(gpu_seconds) {}

  void Keys(const Observation& o, std::span<const std::int32_t> rows,
            std::vector<double>* keys) override {
    keys->clear();
    for (const std::int32_t row : rows) {
      const auto r = static_cast<std::size_t>(row);
      const double service = gpu_seconds_ ? o.attained_gpu_seconds[r] : o.attained_seconds[r];
      if (queues_.empty()) {
        keys->push_back(service);
      } else {
        const auto queue = std::upper_bound(queues_.begin(), queues_.end(), service);
        keys->push_back(static_cast<double>(queue - queues_.begin()));
      }
    }
  }

  Drift DriftOf(const Observation& o, std::int32_t row, std::int32_t configuration) const override {
    const auto r = static_cast<std::size_t>(row);
    const double rate = gpu_seconds_ ? (*o.table[r])[configuration].demand.gpus : 1.0;
    if (queues_.empty()) return {rate, kNever};
    const double service = gpu_seconds_ ? o.attained_gpu_seconds[r] : o.attained_seconds[r];
    const auto next = std::upper_bound(queues_.begin(), queues_.end(), service);
    return {0, next == queues_.end() ? kNever : o.now + (*next - service) / rate};
  }

 private:
  std::vector<double> queues_;
  bool gpu_seconds_;
};

ALLOT_REGISTER(
    OrderingInfo, ([] {
      OrderingInfo info;
      info.id = "attained";
      info.summary = "least attained service first, optionally in queues (Tiresias)";
      info.time_driven = true;
      info.params = {
          {"queues", "",
           "ascending service thresholds between queues, joined by '|'; none: plain LAS"},
          {"service", "gpu-seconds", "what counts as service: gpu-seconds or seconds"}};
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
        return std::make_unique<AttainedOrder>(std::move(queues), service == "gpu-seconds");
      };
      return info;
    }()));

}  // namespace
}  // namespace allot
