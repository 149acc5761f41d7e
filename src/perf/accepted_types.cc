#include "perf/accepted_types.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <map>

#include "core/error.h"
#include "core/strings.h"
#include "perf/throughput_model.h"

namespace allot {

AcceptedTypes::AcceptedTypes(const std::vector<GpuTypeSpec>& types) {
  for (const GpuTypeSpec& type : types) known_.push_back({type.name, type.memory_gb});
}

const std::vector<bool>& AcceptedTypes::Of(const std::string& names) {
  const auto [at, is_new] = accepted_.emplace(names, std::vector<bool>());
  if (!is_new) return at->second;
  std::vector<bool>& accepted = at->second;
  accepted.assign(known_.size(), names.empty());
  for (std::size_t k = 0; k < known_.size(); ++k) {
    if (known_[k].name == kUnnamedGpuType) accepted[k] = true;
  }
  if (names.empty()) return accepted;
  for (const std::string_view name : Split(names, '|')) {
    for (const std::size_t k : FindGpuTypes(Trim(name), known_)) accepted[k] = true;
  }
  return accepted;
}

bool AcceptedTypes::None(const std::string& names) {
  const std::vector<bool>& accepted = Of(names);
  return std::find(accepted.begin(), accepted.end(), true) == accepted.end();
}

void AcceptedTypes::RequireOne(const Workload& workload) {
  constexpr std::size_t kMostNames = 12;
  struct Asking {
    std::int64_t jobs = 0;
    const Job* first = nullptr;
  };
  std::map<std::int32_t, Asking> lacking;  // by Job::gpu_types
  for (const Job& job : workload.jobs) {
    if (job.gpu_types < 0 || !None(workload.gpu_types[job.gpu_types])) continue;
    Asking& asking = lacking[job.gpu_types];
    if (asking.jobs++ == 0) asking.first = &job;
  }
  if (lacking.empty()) return;
  std::vector<std::string> parts;
  for (const auto& [names, asking] : lacking) {
    if (parts.size() == kMostNames) {
      parts.push_back(fmt::format("{} more types", lacking.size() - kMostNames));
      break;
    }
    parts.push_back(fmt::format("{} job{} for '{}' (first: '{}'{})", asking.jobs,
                                asking.jobs == 1 ? " asks" : "s ask", workload.gpu_types[names],
                                asking.first->id, workload.PlaceOf(*asking.first)));
  }
  std::vector<std::string> types;
  for (const KnownGpuType& type : known_) types.push_back(type.name);
  const std::string& example = workload.gpu_types[lacking.begin()->first];
  throw DataError(
      "a job must accept a GPU type of the cluster, which has {}: {}; --type-map '{}=TYPE' gives a "
      "type its name in the cluster, --oversized drop leaves out jobs of types that it lacks",
      Join(types, ", "), Join(parts, ", "), example.substr(0, example.find('|')));
}

}  // namespace allot
