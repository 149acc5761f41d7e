#include "bindings/columns.h"

#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <cmath>

#include "bindings/python_observation.h"
#include "core/error.h"
#include "core/index.h"

namespace allot {
namespace {

namespace nb = nanobind;

const ExperimentData::Run& RunOf(const ExperimentData& data, std::size_t policy,
                                 std::size_t workload) {
  if (policy >= data.runs.size() || workload >= data.runs[policy].size()) {
    throw UsageError("a run is of one of {} policies and {} workloads, got {} and {}",
                     data.runs.size(), data.names.size(), policy, workload);
  }
  return data.runs[policy][workload];
}

template <typename T, typename Rows, typename Field>
nb::object Column(const Rows& rows, const Field& field) {
  std::vector<T> values;
  values.reserve(rows.size());
  for (const auto& row : rows) values.push_back(static_cast<T>(field(row)));
  return OwnArray(std::move(values));
}

double OrNaN(Seconds time) { return std::isfinite(time) ? time : kUnknown; }

}  // namespace

nb::dict JobColumnsOf(const ExperimentData& data, std::size_t policy, std::size_t workload) {
  const auto& records = RunOf(data, policy, workload).records;
  const ExperimentData::Names& names = data.names[workload];
  using R = JobRecord;
  const auto texts = [&](const auto& text_of) {
    std::vector<std::string> values;
    values.reserve(records.size());
    for (const R& record : records) values.push_back(text_of(At(record.job)));
    return values;
  };
  nb::dict columns;
  columns["job"] = texts([&](std::size_t job) { return names.jobs[job].id; });
  columns["user"] = texts([&](std::size_t job) { return names.jobs[job].user; });
  columns["group"] = texts([&](std::size_t job) { return names.groups[job]; });
  columns["submit_s"] = Column<double>(records, [](const R& r) { return r.submit; });
  columns["first_start_s"] =
      Column<double>(records, [](const R& r) { return OrNaN(r.first_start); });
  columns["finish_s"] = Column<double>(records, [](const R& r) { return OrNaN(r.finish); });
  columns["jct_s"] = Column<double>(records, [](const R& r) { return OrNaN(r.finish - r.submit); });
  columns["queueing_s"] =
      Column<double>(records, [](const R& r) { return OrNaN(r.first_start - r.submit); });
  columns["gpu_seconds"] = Column<double>(records, [](const R& r) { return r.gpu_seconds; });
  columns["preemptions"] = Column<std::int32_t>(records, [](const R& r) { return r.preemptions; });
  columns["restarts"] = Column<std::int32_t>(records, [](const R& r) { return r.restarts; });
  columns["moves"] = Column<std::int32_t>(records, [](const R& r) { return r.moves; });
  columns["evictions"] = Column<std::int32_t>(records, [](const R& r) { return r.evictions; });
  columns["failures"] = Column<std::int32_t>(records, [](const R& r) { return r.failures; });
  return columns;
}

nb::dict TimelineColumnsOf(const ExperimentData& data, std::size_t policy, std::size_t workload) {
  const auto& points = RunOf(data, policy, workload).timeline;
  using P = TimelinePoint;
  nb::dict columns;
  columns["time_s"] = Column<double>(points, [](const P& p) { return p.time; });
  columns["active"] = Column<std::int32_t>(points, [](const P& p) { return p.active; });
  columns["running"] = Column<std::int32_t>(points, [](const P& p) { return p.running; });
  columns["gpus_used"] = Column<std::int32_t>(points, [](const P& p) { return p.gpus_used; });
  columns["nodes"] = Column<std::int32_t>(points, [](const P& p) { return p.nodes; });
  return columns;
}

}  // namespace allot
