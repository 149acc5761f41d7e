#include "perf/application_model.h"

#include <utility>

#include "core/index.h"
#include "perf/application_files.h"
#include "perf/pipelines.h"

namespace allot {

ApplicationModel::ApplicationModel(ApplicationPtr application, double fixed_batch)
    : application_(std::move(application)), fixed_batch_(fixed_batch) {}

ApplicationModel::Candidates* ApplicationModel::CandidatesAt(const ApplicationOnType& type,
                                                             const RunShape& shape) const {
  const std::string canonical = CanonicalPlacement(shape.nodes);
  std::string key = canonical;
  key.push_back('\0');
  key += type.gpu_type;
  {
    const std::lock_guard lock(mutex_);
    const auto found = candidates_.find(key);
    if (found != candidates_.end()) return found->second.get();
  }
  auto made = std::make_unique<Candidates>();
  const ProfiledTimes::Place place = type.times.PlaceOf(canonical);
  const auto add = [&](const BatchChoice& choice) {
    if (choice.local_batch <= 0) return;
    const StepTime time = StepTimeOn(type, place, choice.local_batch);
    if (time.known()) made->all.push_back({choice, time.Iteration(choice.accumulation)});
  };
  if (type.stages > 1) {
    add(PipelineBatch(type, place.gpus));
  } else if (place.gpus > 0 && fixed_batch_ > 0) {
    add(SplitFixedBatch(type.limits, place.gpus, fixed_batch_));
  } else if (place.gpus > 0) {
    for (const BatchChoice& choice : BatchCandidates(type.limits, place.gpus)) add(choice);
  }
  made->best.resize(static_cast<std::size_t>(application_->epochs()));
  made->known.assign(made->best.size(), 0);
  const std::lock_guard lock(mutex_);
  return candidates_.try_emplace(std::move(key), std::move(made)).first->second.get();
}

ModelPtr ApplicationModel::WithBatch(double batch) const {
  const std::lock_guard lock(mutex_);
  ModelPtr& model = with_batch_[batch];
  if (model == nullptr) model = std::make_shared<const ApplicationModel>(application_, batch);
  return model;
}

BatchChoice ApplicationModel::Choose(const RunShape& shape, std::int32_t epoch,
                                     const GradientStatistics* statistics) const {
  BatchChoice best;
  const ApplicationOnType* type = application_->On(shape.gpu_type);
  if (type == nullptr) return best;
  const GpuCount replicas = ReplicasOn(*type, shape.units().of(0));
  Candidates* const candidates = CandidatesAt(*type, shape);
  const auto at = static_cast<std::size_t>(epoch);
  if (statistics == nullptr) {
    const std::lock_guard lock(mutex_);
    if (candidates->known[at] != 0) return candidates->best[at];
  }
  for (const Candidate& candidate : candidates->all) {
    const double total = candidate.choice.total(replicas);
    const double gain = statistics != nullptr
                            ? statistics->Gain(total / application_->initial_batch())
                            : application_->GainIn(epoch, total);
    const double rate = gain / candidate.iteration;
    if (!(rate > best.rate)) continue;
    best = candidate.choice;
    best.rate = rate;
  }
  if (statistics == nullptr) {
    const std::lock_guard lock(mutex_);
    candidates->best[at] = best;
    candidates->known[at] = 1;
  }
  return best;
}

double ApplicationModel::RateWith(const RunShape& shape, std::int32_t epoch,
                                  const BatchChoice& choice) const {
  const ApplicationOnType* type = application_->On(shape.gpu_type);
  if (type == nullptr) return 0;
  const StepTime time =
      StepTimeOn(*type, type->times.PlaceOf(CanonicalPlacement(shape.nodes)), choice.local_batch);
  if (!time.known()) return 0;
  return application_->GainIn(epoch, choice.total(ReplicasOn(*type, shape.units().of(0)))) /
         time.Iteration(choice.accumulation);
}

double ApplicationModel::Rate(const RunShape& shape, const TrainingState& state) const {
  const std::int32_t epoch =
      std::min(application_->EpochAt(state.done_work), application_->epochs() - 1);
  if (!(state.noise_scale >= 0)) return Choose(shape, epoch).rate;
  const auto measured =
      GradientStatistics::OfNoiseScale(state.noise_scale, application_->initial_batch());
  return Choose(shape, epoch, &measured).rate;
}

double ApplicationModel::ConstantUntil(double done) const {
  const std::int32_t epoch = application_->EpochAt(done);
  return epoch + 1 < application_->epochs() ? application_->ProgressUntil(epoch)
                                            : std::numeric_limits<double>::infinity();
}

std::vector<Span> ApplicationModel::SpansOn(std::string_view gpu_type) const {
  if (application_->On(gpu_type) == nullptr) return {};
  return {{1, 1}, {2, Span::kAny}};
}

std::vector<std::string> ApplicationModel::gpu_types() const {
  std::vector<std::string> names;
  const auto& types = application_->types();
  if (types.size() == 1 && types.front().gpu_type == kUnnamedGpuType) return names;
  names.reserve(types.size());
  for (const ApplicationOnType& type : types) names.push_back(type.gpu_type);
  return names;
}

const ApplicationModel* AsApplication(const ThroughputModel& model) {
  return dynamic_cast<const ApplicationModel*>(&model);
}

Catalogue ApplicationCatalogue(std::string_view pack, const std::string& path) {
  Catalogue catalogue;
  for (ApplicationPtr& application : ReadApplications(pack, path)) {
    const double fixed = application->types().front().fixed_batch;
    catalogue.Add(std::make_shared<ApplicationModel>(std::move(application), fixed));
  }
  return catalogue;
}

namespace {

ALLOT_REGISTER(ThroughputModelInfo,
               (ThroughputModelInfo{
                   "application",
                   "measured iteration times and training curves, of a folder (docs/goodput.md)",
                   {},
                   {},
                   nullptr}));

}  // namespace
}  // namespace allot
