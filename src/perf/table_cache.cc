#include "perf/table_cache.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <string_view>
#include <tuple>
#include <utility>

#include "core/check.h"
#include "core/error.h"
#include "core/strings.h"
#include "perf/application_model.h"
#include "perf/job_room.h"
#include "perf/training_work.h"

namespace allot {
namespace {

constexpr GpuCount kUsualNodeGpus = 8;  // of types that the cluster has not

// What a job that asks for `gpus` asks for: so many GPUs, or so many workers and servers each.
UnitCounts UnitsOf(const ThroughputModel& model, GpuCount gpus) {
  return UnitCounts::OfEach(model.kinds().size(), gpus);
}

// Jobs of two kinds of unit are measured by their sums.
std::vector<UnitCounts> ShapeOf(const ThroughputModel& model, const UnitCounts& units,
                                GpuCount node_gpus, const Span& span) {
  if (model.kinds().size() > 1) return {units};
  return FewestNodes(units.of(0), node_gpus, span);
}

// Alone on its GPUs and with progress: `gpus`, else the next smaller number, else the next larger
// one, on the first type that has it. -1: none.
std::int32_t NearestTo(GpuCount gpus, const ConfigurationTable& table) {
  const auto distance = [&](std::int32_t index) {
    const int units = table[index].units.of(0);
    return units <= gpus ? gpus - units : kMaxGpusPerJob + units;
  };
  std::int32_t nearest = -1;
  for (const GpuTypeIndex type : table.types()) {
    for (std::int32_t index = 0; index < table.size(); ++index) {
      const Configuration& c = table[index];
      if (c.gpu_type != type || c.partner != kNoPartner || !(c.rate > 0)) continue;
      if (nearest < 0 || distance(index) < distance(nearest)) nearest = index;
    }
  }
  return nearest < 0 ? -1 : table.Find(table[nearest].units, table[nearest].gpu_type);
}

}  // namespace

TableCache::TableCache(const Catalogue& catalogue, std::vector<GpuTypeSpec> types)
    : catalogue_(catalogue),
      types_(std::move(types)),
      accepted_(types_),
      constant_(MakeConstantModel()) {
  ALLOT_CHECK(!types_.empty());
}

// Catalogues keep their models, so that addresses identify them.
const ThroughputModel& TableCache::ModelOf(const Workload& workload, const Job& job) const {
  return job.model < 0 ? *constant_ : *allot::ModelOf(catalogue_, workload, job);
}

namespace {

// The other names of a workload that the catalogue lacks, so that one error names all.
std::string OtherUnknownModels(const Catalogue& catalogue, const Workload& workload,
                               const std::string& name) {
  constexpr std::size_t kMostNames = 12;
  std::set<std::string> known = {name};
  for (const ModelPtr& model : catalogue.models()) known.insert(model->name());
  std::vector<std::string> unknown = workload.models.names();
  std::erase_if(unknown, [&](const std::string& each) { return known.contains(each); });
  if (unknown.size() > kMostNames) {
    unknown.resize(kMostNames);
    unknown.emplace_back("...");
  }
  return unknown.empty() ? "" : fmt::format(" (also unknown: {})", Join(unknown, ", "));
}

}  // namespace

ModelPtr ModelOf(const Catalogue& catalogue, const Workload& workload, const Job& job) {
  if (job.model < 0) return nullptr;
  const std::string& name = workload.models[job.model];
  ModelPtr model;
  try {
    model = catalogue.Get(name);
  } catch (const Error& error) {
    throw DataError("{}: job '{}'{}; --model-map '{}=NAME' gives it another name{}", error.what(),
                    job.id, workload.PlaceOf(job), name,
                    OtherUnknownModels(catalogue, workload, name));
  }
  try {
    if (!job.keeps_batch || job.batch <= 0) return model;
    const ApplicationModel* application = AsApplication(*model);
    return application == nullptr ? model : application->WithBatch(job.batch);
  } catch (const Error& error) {
    throw DataError("{}: job '{}'{}", error.what(), job.id, workload.PlaceOf(job));
  }
}

Status TableCache::Fits(const Workload& workload, const Job& job) const {
  const std::string suited = Suited(workload, job);
  const Resources per_gpu = HostDemandPerGpu(job, types_);
  const GpuTypeSpec* largest = nullptr;
  const GpuTypeSpec* roomiest = nullptr;
  for (std::size_t type = 0; type < types_.size(); ++type) {
    if (!suited.empty() && suited[type] == 'n') continue;
    const GpuTypeSpec& spec = types_[type];
    if (largest == nullptr || spec.gpus > largest->gpus) largest = &spec;
    if (roomiest == nullptr || RoomFor(per_gpu, spec) > RoomFor(per_gpu, *roomiest)) {
      roomiest = &spec;
    }
  }
  if (job.gpus > largest->gpus) {
    return Status::Refused(
        "a job must fit the cluster: job '{}' asks for {} GPUs, the largest GPU type '{}' has {}{}",
        job.id, job.gpus, largest->name, largest->gpus, workload.PlaceOf(job));
  }
  if (const GpuCount room = RoomFor(per_gpu, *roomiest); job.gpus > room) {
    Resources most;  // of one node
    for (const GpuTypeSpec::Nodes& nodes : roomiest->nodes) {
      if (per_gpu.cpus > 0) most.cpus = std::max(most.cpus, nodes.each.cpus);
      if (per_gpu.memory_mb > 0) most.memory_mb = std::max(most.memory_mb, nodes.each.memory_mb);
    }
    return Status::Refused(
        "a job must fit the cluster: job '{}' asks for {} GPU{} with {} each, the nodes of GPU "
        "type "
        "'{}' have up to {} and hold {} such GPU{}{}",
        job.id, job.gpus, job.gpus == 1 ? "" : "s", HostDemandInWords(per_gpu), roomiest->name,
        HostDemandInWords(most), room, room == 1 ? "" : "s", workload.PlaceOf(job));
  }
  if (job.gpus > kMaxGpusPerJob) {
    return Status::Refused("a job may have at most {} GPUs, job '{}' asks for {}{}", kMaxGpusPerJob,
                           job.id, job.gpus, workload.PlaceOf(job));
  }
  return Status::Ok();
}

void TableCache::RequireFit(const Workload& workload, const Job& job) const {
  const Status fits = Fits(workload, job);
  if (!fits.ok()) throw DataError("{}", fits.message());
}

std::vector<std::string> TableCache::TypeNames() const {
  std::vector<std::string> names;
  for (const GpuTypeSpec& type : types_) names.push_back(type.name);
  return names;
}

// "; the catalogue knows v100, k80 (did you mean 'v100'?)"; "" where it knows none.
std::string TableCache::KnownTypes(const std::string& type) const {
  const std::vector<std::string>& known = catalogue_.gpu_types();
  if (known.empty()) return "";
  return fmt::format("; the catalogue knows {}{}", Join(known, ", "), DidYouMean(type, known));
}

GpuCount TableCache::TotalGpus() const {
  GpuCount gpus = 0;
  for (const GpuTypeSpec& type : types_) gpus += type.gpus;
  return gpus;
}

std::string TableCache::LeastCounts(const ThroughputModel& model, const std::string& suited) const {
  constexpr GpuCount kEveryCountUpTo = 64, kStep = 8, kMostGpus = 4096;
  if (model.kinds().size() > 1) return "";
  std::vector<std::string> floors;
  for (std::size_t t = 0; t < types_.size(); ++t) {
    if (!suited.empty() && suited[t] == 'n') continue;
    const GpuTypeSpec& type = types_[t];
    const std::vector<Span> spans = model.SpansOn(type.name);
    const auto runs = [&](GpuCount gpus) {
      return std::any_of(spans.begin(), spans.end(), [&](const Span& span) {
        const std::vector<UnitCounts> nodes = FewestNodes(gpus, type.node_gpus, span);
        return !nodes.empty() && model.Rate({type.name, nodes, {}}, {}) > 0;
      });
    };
    GpuCount gpus = 1;
    while (gpus <= kMostGpus && !runs(gpus)) gpus += gpus < kEveryCountUpTo ? 1 : kStep;
    if (gpus > kMostGpus) continue;
    floors.push_back(fmt::format("{} GPU{} of type {}", gpus, gpus == 1 ? "" : "s", type.name));
  }
  if (floors.empty()) return "";
  return fmt::format("profile '{}' needs at least {}", model.name(), Join(floors, " or "));
}

void TableCache::CheckTypes(const Workload& workload) const {
  accepted_.RequireOne(workload);
  const std::vector<std::string>& known = catalogue_.gpu_types();
  std::set<std::string_view> named;  // by jobs
  for (const std::string& names : workload.gpu_types.names()) {
    const std::vector<bool>& accepted = accepted_.Of(names);
    for (std::size_t type = 0; type < types_.size(); ++type) {
      if (accepted[type]) named.insert(types_[type].name);
    }
  }
  const auto unknown = [&](const GpuTypeSpec& spec) {
    return spec.name != kUnnamedGpuType && !named.contains(spec.name) &&
           std::find(known.begin(), known.end(), spec.name) == known.end();
  };
  const auto type = std::find_if(types_.begin(), types_.end(), unknown);
  if (type == types_.end()) return;
  std::int32_t harmless = -1;  // profile: of many jobs one after the other
  for (const Job& job : workload.jobs) {
    if (job.model == harmless || job.model < 0) continue;
    if (!ModelOf(workload, job).gpu_types().empty()) {
      throw DataError(
          "a GPU type must be one that throughput was measured on or that a job names, got '{}', "
          "and job '{}' names profile '{}'{}",
          type->name, job.id, workload.models[job.model], KnownTypes(type->name));
    }
    harmless = job.model;
  }
}

std::string TableCache::Suited(const Workload& workload, const Job& job) const {
  if (job.gpu_types < 0 && job.gpu_memory_gb <= 0) return "";
  const std::string& names = workload.gpu_types[job.gpu_types];
  const std::vector<bool>& accepted = accepted_.Of(names);
  std::string suited;
  std::vector<std::string> known;
  for (std::size_t t = 0; t < types_.size(); ++t) {
    const GpuTypeSpec& type = types_[t];
    const bool room = type.memory_gb <= 0 || type.memory_gb >= job.gpu_memory_gb;
    suited += accepted[t] && room ? 'y' : 'n';
    known.push_back(type.memory_gb > 0 ? fmt::format("{} ({} GB)", type.name, type.memory_gb)
                                       : type.name);
  }
  if (suited.find('y') == std::string::npos) {
    throw DataError(
        "a job must accept a GPU type of the cluster: job '{}' accepts {}{}, the cluster has {}{}",
        job.id, job.gpu_types < 0 ? "any" : fmt::format("'{}'", names),
        job.gpu_memory_gb > 0 ? fmt::format(" with at least {} GB", job.gpu_memory_gb) : "",
        Join(known, ", "), workload.PlaceOf(job));
  }
  return suited;
}

// The same units beside each profile that the model was measured with, wherever the GPUs are.
void TableCache::AddPartnered(const ThroughputModel& model,
                              const std::vector<std::string>& partners, std::size_t type,
                              Configuration c, std::vector<Configuration>* configurations) const {
  c.span = Span{};
  const auto nodes = ShapeOf(model, c.units, types_[type].node_gpus, c.span);
  for (std::size_t p = 0; p < partners.size(); ++p) {
    c.partner = static_cast<std::int16_t>(p);
    c.rate = nodes.empty() ? 0 : model.Rate({types_[type].name, nodes, partners[p]}, {});
    if (c.rate > 0) configurations->push_back(c);
  }
}

std::shared_ptr<const ConfigurationTable> TableCache::TableFor(const Workload& workload,
                                                               const Job& job,
                                                               const SizeRule& sizes) {
  RequireFit(workload, job);
  return TableFor(workload, job, ModelOf(workload, job), sizes);
}

void TableCache::ThrowNoSize(const Workload& workload, const Job& job,
                             const SizeRule& sizes) const {
  throw DataError(
      "a job must have a size that its rule allows: job '{}' may have {} to {} GPUs, "
      "sizes are {} (types {}){}",
      job.id, job.lowest(), job.highest(), sizes.ToString(), Join(TypeNames(), ", "),
      workload.PlaceOf(job));
}

const std::shared_ptr<const ConfigurationTable>& TableCache::TableFor(const Workload& workload,
                                                                      const Job& job,
                                                                      const ThroughputModel& model,
                                                                      const SizeRule& sizes) {
  const GpuCount lowest = job.lowest();
  const GpuCount highest = std::min(job.highest(), kMaxGpusPerJob);
  // Where no node states any, jobs that differ in memory only share a table.
  const Resources per_gpu = HostDemandPerGpu(job, types_);
  const bool offered = std::all_of(types_.begin(), types_.end(), [&](const GpuTypeSpec& type) {
    return model.Offers(job.gpus, type.name);
  });
  Key key{&model,
          lowest,
          highest,
          offered ? 0 : job.gpus,
          per_gpu.cpus,
          per_gpu.memory_mb,
          Suited(workload, job),
          sizes};
  auto& table = tables_[key];
  if (table != nullptr) return table;

  std::vector<UnitKind> kinds = model.kinds();
  kinds.front().demand += per_gpu;
  std::vector<Configuration> configurations;
  const bool grid = kinds.size() > 1;
  if (grid && !sizes.any()) {
    throw DataError("sizes are numbers of GPUs: job '{}' is made of {} and {}, got {}{}", job.id,
                    kinds[0].name, kinds[1].name, sizes.ToString(), workload.PlaceOf(job));
  }
  const std::vector<std::string> partners = model.partners();
  for (std::size_t type = 0; type < types_.size(); ++type) {
    if (!key.suited.empty() && key.suited[type] == 'n') continue;
    const std::vector<Span> spans = model.SpansOn(types_[type].name);
    const auto add = [&](const UnitCounts& units) {
      Configuration c;
      c.units = units;
      c.gpu_type = static_cast<GpuTypeIndex>(type);
      c.demand = DemandOf(kinds, units);
      for (std::size_t kind = 0; kind < kinds.size(); ++kind) {
        c.cost += kinds[kind].price * units.of(kind);
      }
      for (const Span& span : spans) {
        const std::vector<UnitCounts> nodes = ShapeOf(model, units, types_[type].node_gpus, span);
        if (nodes.empty()) continue;
        c.span = span;
        c.rate = model.Rate({types_[type].name, nodes, {}}, {});
        c.state_seconds = static_cast<float>(model.StateSeconds({types_[type].name, nodes, {}}));
        if (c.rate > 0 || grid) configurations.push_back(c);
      }
      if (!partners.empty()) AddPartnered(model, partners, type, c, &configurations);
    };
    if (grid) {
      // All counts of both kinds, and one past the limits: whoever weighs the next unit looks
      // there.
      for (GpuCount a = 0; a <= highest + 1; ++a) {
        for (GpuCount b = a == 0 ? 1 : 0; b <= highest + 1; ++b) {
          add({a, b});
        }
      }
      continue;
    }
    for (GpuCount gpus = lowest; gpus <= std::min(highest, types_[type].gpus); ++gpus) {
      const GpuCount node_gpus = types_[type].node_gpus;
      if (!sizes.Allows(gpus, node_gpus)) continue;
      if (gpus == lowest || gpus == job.gpus || sizes.Names(gpus, node_gpus) ||
          model.Offers(gpus, types_[type].name)) {
        add(UnitsOf(model, gpus));
      }
    }
  }
  if (configurations.empty() && !sizes.any()) {
    tables_.erase(key);
    (void)TableFor(workload, job, model);  // says so where it is not the rule
    ThrowNoSize(workload, job, sizes);
  }
  if (configurations.empty()) {
    const std::string floors = LeastCounts(model, Suited(workload, job));
    if (floors.empty()) {
      const std::vector<std::string> known = model.gpu_types();
      const std::string suited = Suited(workload, job);
      bool too_few = false;
      for (std::size_t t = 0; t < types_.size(); ++t) {
        too_few = too_few || ((suited.empty() || suited[t] == 'y') &&
                              std::find(known.begin(), known.end(), types_[t].name) != known.end());
      }
      throw DataError(
          "a job must run on some GPU type: profile '{}' of job '{}' {} the cluster's ({}){}{}",
          model.name(), job.id, too_few ? "runs on no number of GPUs of" : "has rates for none of",
          Join(TypeNames(), ", "), too_few ? "" : KnownTypes(types_.front().name),
          workload.PlaceOf(job));
    }
    throw DataError(
        "a job must have a number of GPUs that its profile runs on: job '{}' may have {} to {} of "
        "the cluster's {}, {}{}",
        job.id, lowest, highest, TotalGpus(), floors, workload.PlaceOf(job));
  }
  if (std::none_of(configurations.begin(), configurations.end(),
                   [](const Configuration& c) { return c.rate > 0; })) {
    throw DataError(
        "a job must run on some GPU type: job '{}' with {} GPUs has rate 0 on all {} types{}",
        job.id, job.gpus, types_.size(), workload.PlaceOf(job));
  }
  // Equal costs by rate.
  std::sort(configurations.begin(), configurations.end(),
            [](const Configuration& a, const Configuration& b) {
              return std::tie(a.gpu_type, a.cost, a.rate, a.units, a.span.least, a.partner) <
                     std::tie(b.gpu_type, b.cost, b.rate, b.units, b.span.least, b.partner);
            });
  const auto made = std::make_shared<ConfigurationTable>(
      model.name(), std::move(kinds), std::move(configurations),
      grid ? UnitsOf(model, highest) : ConfigurationTable::kNoLimits, partners);
  made->SetSlownessClass(catalogue_.SlownessClassOf(model.name()));
  return table = made;
}

std::int32_t TableCache::RequestedOf(const Workload& workload, const Job& job,
                                     const SizeRule& sizes) {
  return OfferFor(workload, job, sizes).requested;
}

double TableCache::WorkOf(const Workload& workload, const Job& job) {
  return job.work > 0 ? job.work : OfferFor(workload, job).work;
}

TableCache::Offer TableCache::OfferFor(const Workload& workload, const Job& job) {
  RequireFit(workload, job);
  const ThroughputModel& model = ModelOf(workload, job);
  Offer offer;
  offer.table = TableFor(workload, job, model);
  offer.requested = RequestedOf(workload, job, model, *offer.table);
  if (job.work > 0) {
    offer.work = job.work;
  } else if (model.total_work() > 0) {
    offer.work = model.total_work();
  } else if (job.duration_type >= 0) {
    offer.work = MeasuredWork(workload, job, model);
  } else if (const Configuration& asked = (*offer.table)[offer.requested]; model.varies()) {
    const GpuTypeSpec& type = types_[static_cast<std::size_t>(asked.gpu_type)];
    const auto nodes = ShapeOf(model, asked.units, type.node_gpus, asked.span);
    offer.work = WorkIn(model, {type.name, nodes, {}}, job.duration);
  } else {
    offer.work = job.duration * asked.rate;
  }
  return offer;
}

TableCache::Offer TableCache::OfferFor(const Workload& workload, const Job& job,
                                       const SizeRule& sizes) {
  Offer offer = OfferFor(workload, job);
  if (sizes.any()) return offer;
  offer.table = TableFor(workload, job, ModelOf(workload, job), sizes);
  offer.requested = NearestTo(job.gpus, *offer.table);
  if (offer.requested < 0) ThrowNoSize(workload, job, sizes);
  return offer;
}

double TableCache::MeasuredWork(const Workload& workload, const Job& job,
                                const ThroughputModel& model) const {
  const std::vector<std::string> known = model.gpu_types();
  std::string type = workload.gpu_types[job.duration_type];
  if (!known.empty() && std::find(known.begin(), known.end(), type) == known.end()) {
    const auto meant = FindGpuTypes(type, {known.begin(), known.end()});
    if (meant.size() != 1) {
      throw DataError(
          "a duration is of a GPU type that the profile was measured on: job '{}' names "
          "'{}', profile '{}' has {}{}",
          job.id, type, model.name(), Join(known, ", "), workload.PlaceOf(job));
    }
    type = known[meant.front()];
  }
  const auto present = std::find_if(types_.begin(), types_.end(),
                                    [&](const GpuTypeSpec& each) { return each.name == type; });
  const GpuCount node_gpus = present == types_.end() ? kUsualNodeGpus : present->node_gpus;
  double best = 0;
  for (const Span& span : model.SpansOn(type)) {
    const auto nodes = ShapeOf(model, UnitsOf(model, job.gpus), node_gpus, span);
    if (!nodes.empty()) best = std::max(best, WorkIn(model, {type, nodes, {}}, job.duration));
  }
  if (!(best > 0)) {
    throw DataError(
        "a job must run where its duration was measured: job '{}' has rate 0 at {} "
        "GPUs on '{}'{}",
        job.id, job.gpus, type, workload.PlaceOf(job));
  }
  return best;
}

std::int32_t TableCache::RequestedOf(const Workload& workload, const Job& job,
                                     const ThroughputModel& model,
                                     const ConfigurationTable& table) const {
  const UnitCounts units = UnitsOf(model, job.gpus);
  for (const GpuTypeIndex type : table.types()) {
    const std::int32_t requested = table.Find(units, type);
    if (requested >= 0 && table[requested].rate > 0) return requested;
  }
  const std::string floors = LeastCounts(model, Suited(workload, job));
  throw DataError(
      "a job must run at its requested size: job '{}' has rate 0 at {} GPUs on all {} types{}{}",
      job.id, job.gpus, types_.size(), floors.empty() ? "" : "; " + floors, workload.PlaceOf(job));
}

}  // namespace allot
