#include "perf/catalogue_explanation.h"

#include <algorithm>
#include <set>
#include <utility>

#include "core/error.h"

namespace allot {
namespace {

constexpr GpuCount kNodeGpus = 8;  // nodes that rates are looked up for; of no cluster

// Alone, on as few nodes as the profile's rates say something of.
double RateAt(const ThroughputModel& model, GpuCount gpus, const std::string& type) {
  double best = 0;
  for (const Span& span : model.SpansOn(type)) {
    const auto nodes = FewestNodes(gpus, kNodeGpus, span);
    if (!nodes.empty()) best = std::max(best, model.Rate({type, nodes, {}}, {}));
  }
  return best;
}

bool Listed(const std::vector<std::string>& names, const std::string& name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

std::vector<std::string> TypesOf(const Catalogue& catalogue) {
  std::vector<std::string> types = catalogue.gpu_types();
  for (const ModelPtr& model : catalogue.models()) {
    for (const std::string& type : model->gpu_types()) {
      if (type != kUnnamedGpuType && !Listed(types, type)) types.push_back(type);
    }
  }
  return types;
}

TypeCoverage CoverageOn(const Catalogue& catalogue, const std::string& type) {
  TypeCoverage coverage;
  coverage.gpu_type = type;
  std::set<GpuCount> sizes;
  std::set<std::pair<std::string, std::string>> pairs;
  for (const CatalogueCell& cell : catalogue.cells()) {
    if (cell.gpu_type != type || !(cell.rate > 0)) continue;
    if (cell.partner.empty()) {
      sizes.insert(cell.gpus);
      const std::string span = cell.nodes.empty() ? "any" : cell.nodes;
      if (!Listed(coverage.spans, span)) coverage.spans.push_back(span);
    } else {
      pairs.insert(std::minmax(cell.profile, cell.partner));
    }
  }
  coverage.sizes.assign(sizes.begin(), sizes.end());
  coverage.pairs = pairs.size();
  for (const ModelPtr& model : catalogue.models()) {
    if (Listed(model->gpu_types(), type)) coverage.profiles.push_back(model->name());
  }
  return coverage;
}

ProfileCoverage CoverageOf(const Catalogue& catalogue, const ThroughputModel& model,
                           const std::vector<TypeCoverage>& types) {
  ProfileCoverage coverage;
  coverage.profile = model.name();
  const std::vector<std::string> own = model.gpu_types();
  coverage.reference = own.front();
  std::set<GpuCount> sizes = {1};
  for (const CatalogueCell& cell : catalogue.cells()) {
    if (cell.profile == coverage.profile && cell.partner.empty()) sizes.insert(cell.gpus);
  }
  const auto on_all = std::find_if(sizes.begin(), sizes.end(), [&](GpuCount gpus) {
    return std::all_of(own.begin(), own.end(),
                       [&](const std::string& type) { return RateAt(model, gpus, type) > 0; });
  });
  coverage.gpus = on_all == sizes.end() ? *sizes.begin() : *on_all;
  double fastest = 0;
  for (const TypeCoverage& type : types) {
    const bool measured = Listed(own, type.gpu_type);
    coverage.speeds.push_back(measured ? RateAt(model, coverage.gpus, type.gpu_type) : 0);
    fastest = std::max(fastest, coverage.speeds.back());
  }
  for (double& speed : coverage.speeds) speed = fastest > 0 ? speed / fastest : 0;
  return coverage;
}

const ThroughputModel* Find(const Catalogue& catalogue, const std::string& name) {
  for (const ModelPtr& model : catalogue.models()) {
    if (model->name() == name) return model.get();
  }
  return nullptr;
}

}  // namespace

CatalogueCoverage CoverageOf(const Catalogue& catalogue) {
  CatalogueCoverage coverage;
  for (const std::string& type : TypesOf(catalogue)) {
    coverage.types.push_back(CoverageOn(catalogue, type));
  }
  for (const ModelPtr& model : catalogue.models()) {
    if (model->gpu_types().empty()) {
      coverage.without_types.push_back(model->name());
    } else {
      coverage.profiles.push_back(CoverageOf(catalogue, *model, coverage.types));
    }
  }
  return coverage;
}

JobFit FitJobs(const Catalogue& catalogue, const Workload& workload, CatalogueCoverage* coverage) {
  JobFit fit;
  for (const Job& job : workload.jobs) {
    if (job.model < 0) {
      ++fit.without_profile;
      continue;
    }
    const std::string& profile = workload.models[job.model];
    const ThroughputModel* const model = Find(catalogue, profile);
    std::size_t on = 0;
    for (TypeCoverage& type : coverage->types) {
      const bool runs = model != nullptr && RateAt(*model, job.gpus, type.gpu_type) > 0;
      on += runs;
      type.jobs += runs;
      type.jobs_larger += !runs && model != nullptr && RateAt(*model, 1, type.gpu_type) > 0;
    }
    fit.on_all += on > 0 && on == coverage->types.size();
    if (on > 0 || (model != nullptr && coverage->types.empty())) continue;
    if (fit.on_none++ > 0) continue;
    fit.example = model == nullptr
                      ? fmt::format(
                            "job '{}' names the profile '{}', which the catalogue does not "
                            "have",
                            job.id, profile)
                      : fmt::format("job '{}' asks for {} GPUs, profile '{}' has no rate for them",
                                    job.id, job.gpus, profile);
  }
  return fit;
}

}  // namespace allot
