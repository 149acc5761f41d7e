#include "metrics/type_use.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "metrics/json_field.h"
#include "perf/accepted_types.h"
#include "perf/load_by_type.h"

namespace allot {
namespace {

// GPU-seconds held by type of node, from the notes of each job to its end; those of a job that did
// not end count until `end`.
std::vector<double> HeldByType(const ClusterSpec& cluster, std::span<const JobRecord> records,
                               std::span<const AllocationNote> notes, Seconds end) {
  std::vector<double> held(cluster.types().size(), 0);
  std::vector<const AllocationNote*> last(records.size(), nullptr);
  const auto add = [&](const AllocationNote& note, Seconds until) {
    for (const NodeHolding& holding : note.nodes) {
      const Node& node = cluster.nodes()[static_cast<std::size_t>(holding.node)];
      held[static_cast<std::size_t>(node.type)] += holding.gpus * (until - note.time);
    }
  };
  for (const AllocationNote& note : notes) {
    const AllocationNote*& before = last[static_cast<std::size_t>(note.job)];
    if (before != nullptr) add(*before, note.time);
    before = &note;
  }
  for (std::size_t job = 0; job < last.size(); ++job) {
    if (last[job] != nullptr) add(*last[job], std::min(records[job].finish, end));
  }
  return held;
}

}  // namespace

std::vector<TypeUse> UseByType(const ClusterSpec& cluster, const Workload& workload,
                               std::span<const JobRecord> records,
                               std::span<const AllocationNote> notes) {
  const std::vector<GpuTypeSpec> specs = cluster.type_specs();
  if (specs.size() < 2 || records.empty()) return {};
  std::vector<TypeUse> types;
  types.reserve(specs.size());
  for (const GpuTypeSpec& spec : specs) types.push_back({.type = spec.name, .gpus = spec.gpus});
  const std::vector<TypeLoad> loads = LoadByType(workload, specs);
  for (std::size_t t = 0; t < loads.size(); ++t) types[t].demand = loads[t].demand;

  AcceptedTypes accepted(specs);
  std::vector<double> queueing(types.size(), 0);
  std::vector<std::int64_t> started(types.size(), 0);
  Seconds begin = kNever;
  Seconds end = 0;
  for (const JobRecord& record : records) {
    begin = std::min(begin, record.submit);
    if (record.finish != kNever) end = std::max(end, record.finish);
    const Job& job = workload.jobs[static_cast<std::size_t>(record.job)];
    const std::vector<bool>& suited = accepted.Of(workload.gpu_types[job.gpu_types]);
    if (std::count(suited.begin(), suited.end(), true) != 1) continue;
    const auto only = std::find(suited.begin(), suited.end(), true) - suited.begin();
    const auto t = static_cast<std::size_t>(only);
    ++types[t].jobs;
    if (record.first_start == kNever) continue;
    queueing[t] += record.first_start - record.submit;
    ++started[t];
  }
  if (!notes.empty()) end = std::max(end, notes.back().time);
  const std::vector<double> held = HeldByType(cluster, records, notes, end);
  for (std::size_t t = 0; t < types.size(); ++t) {
    if (started[t] > 0) types[t].avg_queueing_s = queueing[t] / static_cast<double>(started[t]);
    if (!notes.empty() && end > begin && types[t].gpus > 0) {
      types[t].gpu_utilisation = held[t] / (types[t].gpus * (end - begin));
    }
  }
  return types;
}

nlohmann::ordered_json ToJson(const std::vector<TypeUse>& types) {
  Json json = Json::array();
  for (const TypeUse& type : types) {
    json.push_back({{"type", type.type},
                    {"gpus", type.gpus},
                    {"demand", NumberOrNull(type.demand)},
                    {"gpu_utilisation", NumberOrNull(type.gpu_utilisation)},
                    {"jobs", type.jobs},
                    {"avg_queueing_s", NumberOrNull(type.avg_queueing_s)}});
  }
  return json;
}

std::vector<TypeUse> TypeUseFromJson(const nlohmann::ordered_json& json, std::string_view where) {
  std::vector<TypeUse> types;
  for (const Json& entry : json) {
    TypeUse type;
    type.type = RequireText(entry, "type", where);
    type.gpus = static_cast<GpuCount>(RequireInteger(entry, "gpus", where));
    type.demand = RequireNumber(entry, "demand", where);
    type.gpu_utilisation = RequireNumber(entry, "gpu_utilisation", where);
    type.jobs = RequireInteger(entry, "jobs", where);
    type.avg_queueing_s = RequireNumber(entry, "avg_queueing_s", where);
    types.push_back(std::move(type));
  }
  return types;
}

}  // namespace allot
