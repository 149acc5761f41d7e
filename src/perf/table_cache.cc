#include "perf/table_cache.h"

#include <algorithm>
#include <utility>

#include "core/check.h"
#include "core/error.h"
#include "core/strings.h"

namespace allot {
namespace {

constexpr GpuCount kEveryCountUpTo = 8;
constexpr GpuCount kEveryFourthUpTo = 64;

bool OnGrid(GpuCount gpus) {
  if (gpus <= kEveryCountUpTo) return true;
  return gpus % (gpus <= kEveryFourthUpTo ? 4 : 8) == 0;
}

// What a job that asks for `gpus` asks for: so many GPUs, or so many workers and servers each.
UnitCounts UnitsOf(const ThroughputModel& model, GpuCount gpus) {
  UnitCounts units{};
  for (std::size_t kind = 0; kind < model.kinds().size(); ++kind) {
    units[kind] = static_cast<UnitCounts::value_type>(gpus);
  }
  return units;
}

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

// Catalogues keep what they hold, so that it can be told by its address.
const ThroughputModel& TableCache::ModelOf(const Workload& workload, const Job& job) const {
  if (job.model < 0) return *constant_;
  try {
    return *catalogue_.Get(workload.models[job.model]);
  } catch (const Error& error) {
    throw DataError("{}: job '{}'{}", error.what(), job.id, workload.PlaceOf(job));
  }
}

void TableCache::CheckFits(const Workload& workload, const Job& job) const {
  const auto largest = std::max_element(type_capacity_.begin(), type_capacity_.end());
  if (job.gpus > *largest) {
    throw DataError(
        "a job must fit the cluster: job '{}' asks for {} GPUs, the largest GPU type '{}' has "
        "{}{}",
        job.id, job.gpus, gpu_types_[static_cast<std::size_t>(largest - type_capacity_.begin())],
        *largest, workload.PlaceOf(job));
  }
  if (job.gpus > kMaxGpusPerJob) {
    throw DataError("a job may have at most {} GPUs, job '{}' asks for {}{}", kMaxGpusPerJob,
                    job.id, job.gpus, workload.PlaceOf(job));
  }
}

// "; the catalogue knows v100, k80 (did you mean 'v100'?)"; "" where it knows none.
std::string TableCache::KnownTypes(const std::string& type) const {
  const std::vector<std::string>& known = catalogue_.gpu_types();
  if (known.empty()) return "";
  return fmt::format("; the catalogue knows {}{}", Join(known, ", "), DidYouMean(type, known));
}

void TableCache::CheckTypes(const Workload& workload) const {
  const std::vector<std::string>& known = catalogue_.gpu_types();
  const auto names_profile = [](const Job& job) { return job.model >= 0; };
  if (known.empty() || !std::all_of(workload.jobs.begin(), workload.jobs.end(), names_profile)) {
    return;
  }
  for (const std::string& type : gpu_types_) {
    if (type == kUnnamedGpuType || std::find(known.begin(), known.end(), type) != known.end()) {
      continue;
    }
    throw DataError(
        "a GPU type must be one that throughput was measured on, got '{}', and every job names a "
        "profile{}",
        type, KnownTypes(type));
  }
}

std::shared_ptr<const ConfigurationTable> TableCache::TableFor(const Workload& workload,
                                                               const Job& job) {
  CheckFits(workload, job);
  return TableFor(workload, job, ModelOf(workload, job));
}

const std::shared_ptr<const ConfigurationTable>& TableCache::TableFor(
    const Workload& workload, const Job& job, const ThroughputModel& model) {
  const GpuCount lowest = job.lowest();
  const GpuCount highest = std::min(job.highest(), kMaxGpusPerJob);
  auto& table = tables_[Key(&model, lowest, highest, OnGrid(job.gpus) ? 0 : job.gpus)];
  if (table != nullptr) return table;

  std::vector<Configuration> configurations;
  const bool grid = model.kinds().size() > 1;
  for (std::size_t type = 0; type < gpu_types_.size(); ++type) {
    const auto add = [&](const UnitCounts& units) {
      Configuration c;
      c.units = units;
      c.gpu_type = static_cast<GpuTypeIndex>(type);
      for (std::size_t kind = 0; kind < model.kinds().size(); ++kind) {
        c.demand += model.kinds()[kind].demand * units[kind];
        c.cost += model.kinds()[kind].price * units[kind];
      }
      c.rate = model.Rate(units, gpu_types_[type]);
      if (c.rate > 0 || grid) configurations.push_back(c);
    };
    if (grid) {
      // All counts of both kinds, and one past the limits: whoever weighs the next unit looks
      // there.
      for (GpuCount a = 0; a <= highest + 1; ++a) {
        for (GpuCount b = a == 0 ? 1 : 0; b <= highest + 1; ++b) {
          add({static_cast<std::int16_t>(a), static_cast<std::int16_t>(b)});
        }
      }
      continue;
    }
    for (GpuCount gpus = lowest; gpus <= std::min(highest, type_capacity_[type]); ++gpus) {
      if (OnGrid(gpus) || gpus == lowest || gpus == job.gpus) add(UnitsOf(model, gpus));
    }
  }
  if (configurations.empty()) {
    throw DataError(
        "a job must run on some GPU type: profile '{}' of job '{}' has rates for none of the "
        "cluster's ({}){}{}",
        model.name(), job.id, Join(gpu_types_, ", "), KnownTypes(gpu_types_.front()),
        workload.PlaceOf(job));
  }
  if (std::none_of(configurations.begin(), configurations.end(),
                   [](const Configuration& c) { return c.rate > 0; })) {
    throw DataError(
        "a job must run on some GPU type: job '{}' with {} GPUs has rate 0 on all {} types{}",
        job.id, job.gpus, gpu_types_.size(), workload.PlaceOf(job));
  }
  table = std::make_shared<ConfigurationTable>(
      model.name(), model.kinds(), std::move(configurations),
      grid ? UnitsOf(model, highest) : ConfigurationTable::kNoLimits);
  return table;
}

std::int32_t TableCache::RequestedOf(const Workload& workload, const Job& job) {
  return OfferFor(workload, job).requested;
}

double TableCache::WorkOf(const Workload& workload, const Job& job) {
  return job.work > 0 ? job.work : OfferFor(workload, job).work;
}

TableCache::Offer TableCache::OfferFor(const Workload& workload, const Job& job) {
  CheckFits(workload, job);
  const ThroughputModel& model = ModelOf(workload, job);
  Offer offer;
  offer.table = TableFor(workload, job, model);
  offer.requested = RequestedOf(workload, job, model, *offer.table);
  offer.work = job.work > 0 ? job.work : job.duration * (*offer.table)[offer.requested].rate;
  return offer;
}

std::int32_t TableCache::RequestedOf(const Workload& workload, const Job& job,
                                     const ThroughputModel& model,
                                     const ConfigurationTable& table) const {
  const UnitCounts units = UnitsOf(model, job.gpus);
  for (const GpuTypeIndex type : table.types()) {
    const std::int32_t requested = table.Find(units, type);
    if (requested >= 0 && table[requested].rate > 0) return requested;
  }
  throw DataError(
      "a job must run at its requested size: job '{}' has rate 0 at {} GPUs on all {} types{}",
      job.id, job.gpus, gpu_types_.size(), workload.PlaceOf(job));
}

}  // namespace allot
