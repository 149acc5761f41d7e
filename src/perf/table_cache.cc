#include "perf/table_cache.h"

#include <algorithm>
#include <utility>

#include "core/check.h"
#include "core/error.h"

namespace allot {
namespace {

constexpr GpuCount kEveryCountUpTo = 8;
constexpr GpuCount kEveryFourthUpTo = 64;

bool OnGrid(GpuCount gpus) {
  if (gpus <= kEveryCountUpTo) return true;
  return gpus % (gpus <= kEveryFourthUpTo ? 4 : 8) == 0;
}

UnitCounts Gpus(GpuCount gpus) { return {static_cast<UnitCounts::value_type>(gpus)}; }

}  // namespace

TableCache::TableCache(const Catalogue& catalogue, std::vector<std::string> gpu_types,
                       std::vector<GpuCount> type_capacity)
    : catalogue_(catalogue),
      gpu_types_(std::move(gpu_types)),
      type_capacity_(std::move(type_capacity)),
      constant_(MakeConstantModel()) {
  ALLOT_CHECK(!gpu_types_.empty());
  ALLOT_CHECK_EQ(gpu_types_.size(), type_capacity_.size());
}

ModelPtr TableCache::ModelOf(const Workload& workload, const Job& job) const {
  return job.model < 0 ? constant_ : catalogue_.Get(workload.models[job.model]);
}

void TableCache::CheckFits(const Job& job) const {
  const auto largest = std::max_element(type_capacity_.begin(), type_capacity_.end());
  if (job.gpus > *largest) {
    throw DataError(
        "a job must fit the cluster: job '{}' asks for {} GPUs, the largest GPU type '{}' has {}",
        job.id, job.gpus, gpu_types_[static_cast<std::size_t>(largest - type_capacity_.begin())],
        *largest);
  }
  if (job.gpus > kMaxGpusPerJob) {
    throw DataError("a job may have at most {} GPUs, job '{}' asks for {}", kMaxGpusPerJob, job.id,
                    job.gpus);
  }
}

std::shared_ptr<const ConfigurationTable> TableCache::TableFor(const Workload& workload,
                                                               const Job& job) {
  CheckFits(job);
  const ModelPtr model = ModelOf(workload, job);
  const GpuCount lowest = job.lowest();
  const GpuCount highest = std::min(job.highest(), kMaxGpusPerJob);
  auto& table = tables_[Key(model->name(), lowest, highest, OnGrid(job.gpus) ? 0 : job.gpus)];
  if (table != nullptr) return table;

  std::vector<Configuration> configurations;
  for (std::size_t type = 0; type < gpu_types_.size(); ++type) {
    for (GpuCount gpus = lowest; gpus <= std::min(highest, type_capacity_[type]); ++gpus) {
      if (!OnGrid(gpus) && gpus != lowest && gpus != job.gpus) continue;
      Configuration c;
      c.units = Gpus(gpus);
      c.gpu_type = static_cast<GpuTypeIndex>(type);
      c.demand = model->kinds()[0].demand * gpus;
      c.cost = gpus;
      c.rate = model->Rate(c.units, gpu_types_[type]);
      if (c.rate > 0) configurations.push_back(c);
    }
  }
  if (configurations.empty()) {
    throw DataError(
        "a job must run on some GPU type: job '{}' with {} GPUs has rate 0 on all {} types", job.id,
        job.gpus, gpu_types_.size());
  }
  table = std::make_shared<ConfigurationTable>(model->name(), model->kinds(),
                                               std::move(configurations));
  return table;
}

double TableCache::WorkOf(const Workload& workload, const Job& job) {
  if (job.work > 0) return job.work;
  const auto table = TableFor(workload, job);
  for (const GpuTypeIndex type : table->types()) {
    const std::int32_t requested = table->Find(Gpus(job.gpus), type);
    if (requested >= 0) return job.duration * (*table)[requested].rate;
  }
  throw DataError(
      "a job must run at its requested size: job '{}' has rate 0 at {} GPUs on all {} types",
      job.id, job.gpus, gpu_types_.size());
}

}  // namespace allot
