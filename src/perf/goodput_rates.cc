#include "perf/goodput_rates.h"

#include <algorithm>

#include "core/index.h"

namespace allot {

std::shared_ptr<const GoodputCandidates> MakeGoodputCandidates(
    const ConfigurationTable& table, const std::function<const BatchLimits*(GpuTypeIndex)>& limits,
    double fixed_batch) {
  auto made = std::make_shared<GoodputCandidates>();
  made->first.push_back(0);
  for (const Configuration& c : table.configurations()) {
    const BatchLimits* of_type = c.partner == kNoPartner ? limits(c.gpu_type) : nullptr;
    const GpuCount gpus = c.demand.gpus;
    const auto add = [&](const BatchChoice& choice) {
      if (choice.local_batch <= 0) return;
      made->candidates.push_back({static_cast<double>(choice.local_batch),
                                  static_cast<double>(choice.accumulation),
                                  of_type->initial / choice.total(gpus)});
    };
    if (of_type != nullptr && gpus > 0) {
      if (fixed_batch > 0) {
        add(SplitFixedBatch(*of_type, gpus, fixed_batch));
      } else {
        for (const BatchChoice& choice : BatchCandidates(*of_type, gpus)) add(choice);
      }
    }
    made->first.push_back(made->candidates.size());
  }
  return made;
}

void GoodputRates::SetTimings(const ConfigurationTable& table,
                              const std::function<const StepTiming*(GpuTypeIndex)>& timing) {
  speed_.assign(candidates_->candidates.size(), 0);
  for (std::int32_t c = 0; c < table.size(); ++c) {
    const StepTiming* of_type = timing(table[c].gpu_type);
    if (of_type == nullptr) continue;
    const bool several = table[c].span.least > 1;
    for (std::size_t i = candidates_->first[At(c)]; i < candidates_->first[At(c) + 1]; ++i) {
      const GoodputCandidates::Candidate& candidate = candidates_->candidates[i];
      speed_[i] = 1 / of_type->Iteration(several, table[c].demand.gpus, candidate.local_batch,
                                         static_cast<int>(candidate.passes));
    }
  }
}

void GoodputRates::RatesAt(const GradientStatistics& statistics, std::vector<double>* rates) const {
  const double sum = statistics.variance + statistics.square;
  rates->assign(candidates_->first.size() - 1, 0);
  for (std::size_t c = 0; c + 1 < candidates_->first.size(); ++c) {
    double best = 0;
    for (std::size_t i = candidates_->first[c]; i < candidates_->first[c + 1]; ++i) {
      const double left =
          statistics.variance * candidates_->candidates[i].shrink + statistics.square;
      const double gain = left > 0 ? sum / left : 1.0;
      best = std::max(best, gain * speed_[i]);
    }
    (*rates)[c] = best;
  }
}

}  // namespace allot
