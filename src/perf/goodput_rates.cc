#include "perf/goodput_rates.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include "core/index.h"

namespace allot {

std::shared_ptr<const GoodputCandidates> MakeGoodputCandidates(
    const ConfigurationTable& table, const std::function<const BatchLimits*(GpuTypeIndex)>& limits,
    double fixed_batch) {
  auto made = std::make_shared<GoodputCandidates>();
  std::map<std::int64_t, std::int32_t> batch_of;
  made->configurations.reserve(At(table.size()));
  for (const Configuration& c : table.configurations()) {
    const BatchLimits* of_type = c.partner == kNoPartner ? limits(c.gpu_type) : nullptr;
    const GpuCount gpus = c.demand.gpus;
    const auto add = [&](const BatchChoice& choice) {
      if (choice.local_batch <= 0) return;
      const auto [batch, is_new] =
          batch_of.try_emplace(choice.local_batch, static_cast<std::int32_t>(batch_of.size()));
      if (is_new) made->batches.push_back(static_cast<double>(choice.local_batch));
      made->candidates.push_back({static_cast<double>(choice.accumulation),
                                  of_type->initial / choice.total(gpus), batch->second});
    };
    if (of_type != nullptr && gpus > 0) {
      if (fixed_batch > 0) {
        add(SplitFixedBatch(*of_type, gpus, fixed_batch));
      } else {
        for (const BatchChoice& choice : BatchCandidates(*of_type, gpus)) add(choice);
      }
    }
    made->configurations.push_back({made->candidates.size(), c.gpu_type, gpus, c.span.least > 1});
  }
  return made;
}

GoodputRates::GoodputRates(std::shared_ptr<const GoodputCandidates> candidates)
    : candidates_(std::move(candidates)), found_(candidates_->configurations.size(), 0) {
  for (const auto& c : candidates_->configurations) {
    if (types_.size() <= At(c.type)) types_.resize(At(c.type) + 1);
  }
}

void GoodputRates::SetTimings(const std::function<const StepTiming*(GpuTypeIndex)>& timing) {
  speed_.resize(candidates_->candidates.size());
  std::fill(found_.begin(), found_.end(), 0);
  for (std::size_t type = 0; type < types_.size(); ++type) {
    const StepTiming* const of_type = timing(static_cast<GpuTypeIndex>(type));
    types_[type].known = of_type != nullptr;
    if (of_type == nullptr) continue;
    types_[type].timing = *of_type;
    types_[type].powers.assign(candidates_->batches.size(), -1);
  }
}

// As StepTiming::Iteration. The power of a pass is that of all configurations with its batch.
void GoodputRates::FindSpeeds(std::size_t configuration, std::size_t begin) {
  const GoodputCandidates::OfConfiguration& c = candidates_->configurations[configuration];
  OfType& type = types_[At(c.type)];
  found_[configuration] = 1;
  const StepTiming& timing = type.timing;
  const double synchronisation =
      std::pow(timing.Synchronisation(c.several_nodes, c.gpus), timing.gamma);
  for (std::size_t i = begin; i < c.end; ++i) {
    const GoodputCandidates::Candidate& candidate = candidates_->candidates[i];
    const double gradient = timing.Gradient(candidates_->batches[At(candidate.batch)]);
    double& power = type.powers[At(candidate.batch)];
    if (power < 0) power = std::pow(gradient, timing.gamma);
    const double last = std::pow(power + synchronisation, 1 / timing.gamma);
    speed_[i] = 1 / (candidate.passes * gradient + last);
  }
}

void GoodputRates::RatesAt(const GradientStatistics& statistics, std::vector<double>* rates,
                           GpuCount most) {
  const double sum = statistics.variance + statistics.square;
  const std::size_t count = candidates_->configurations.size();
  rates->assign(count, 0);
  std::size_t begin = 0;
  for (std::size_t c = 0; c < count; ++c) {
    const GoodputCandidates::OfConfiguration& configuration = candidates_->configurations[c];
    const std::size_t first = begin;
    begin = configuration.end;
    if (configuration.gpus > most || !types_[At(configuration.type)].known) continue;
    if (found_[c] == 0) FindSpeeds(c, first);
    double best = 0;
    for (std::size_t i = first; i < configuration.end; ++i) {
      const double left =
          statistics.variance * candidates_->candidates[i].shrink + statistics.square;
      const double gain = left > 0 ? sum / left : 1.0;
      best = std::max(best, gain * speed_[i]);
    }
    (*rates)[c] = best;
  }
}

TimedBatches::TimedBatches(const StepTiming& timing, const BatchLimits& limits, bool several_nodes,
                           GpuCount gpus) {
  const std::vector<BatchChoice> candidates = BatchCandidates(limits, gpus);
  batches_.reserve(candidates.size());
  for (const BatchChoice& choice : candidates) {
    batches_.push_back(
        {choice, choice.total(gpus) / limits.initial,
         timing.Iteration(several_nodes, gpus, static_cast<double>(choice.local_batch),
                          choice.accumulation)});
  }
}

BatchChoice TimedBatches::Best(const GradientStatistics& statistics) const {
  BatchChoice best;
  for (const Timed& batch : batches_) {
    const double rate = statistics.Gain(batch.scale) / batch.iteration;
    if (!(rate > best.rate)) continue;
    best = batch.choice;
    best.rate = rate;
  }
  return best;
}

}  // namespace allot
