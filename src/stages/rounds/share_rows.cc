#include "stages/rounds/share_rows.h"

#include <algorithm>

#include "core/error.h"
#include "core/index.h"
#include "core/strings.h"
#include "length_model/remaining.h"

namespace allot {

ShareRows ReadShareRows(const Observation& o, std::span<const std::int32_t> rows) {
  const std::size_t types = o.cluster->types().size();
  ShareRows read;
  for (std::size_t g = 0; g < types; ++g) {
    read.problem.capacity.push_back(o.cluster->total_of(static_cast<GpuTypeIndex>(g)).gpus);
  }
  std::vector<std::int32_t> order(rows.begin(), rows.end());
  std::sort(order.begin(), order.end(),
            [&](std::int32_t a, std::int32_t b) { return o.job[At(a)] < o.job[At(b)]; });
  std::vector<double> rates(types);
  std::vector<std::int32_t> configurations(types);
  for (const std::int32_t row : order) {
    const ConfigurationTable& table = *o.table[At(row)];
    const std::int32_t requested = o.requested[At(row)];
    bool fits = false;
    for (std::size_t g = 0; g < types; ++g) {
      const auto type = static_cast<GpuTypeIndex>(g);
      const std::int32_t c = table.OnType(requested, type);
      const bool runs =
          c >= 0 && table[c].rate > 0 && table[c].demand.FitsIn(o.cluster->total_of(type));
      configurations[g] = runs ? c : -1;
      rates[g] = runs ? table[c].rate : 0;
      fits = fits || (runs && read.problem.capacity[g] > 0);
    }
    if (!fits) continue;
    const double gpus = std::max(1, table[requested].demand.gpus);
    read.problem.Add(gpus, WeightOf(o, row), rates);
    read.row.push_back(row);
    read.configuration.insert(read.configuration.end(), configurations.begin(),
                              configurations.end());
  }
  return read;
}

std::vector<double> WorkLeft(const Observation& o, const ShareRows& rows) {
  std::vector<double> work;
  work.reserve(rows.jobs());
  for (const std::int32_t row : rows.row) {
    // An estimate may be 0.
    const double least = 1e-6 * o.table[At(row)]->reference_rate();
    work.push_back(std::max(least, AssumedRemaining(o, row)));
  }
  return work;
}

std::vector<double> SinceSubmit(const Observation& o, const ShareRows& rows) {
  std::vector<double> seconds;
  seconds.reserve(rows.jobs());
  for (const std::int32_t row : rows.row) {
    seconds.push_back(std::max(0.0, o.now - o.submit[At(row)]));
  }
  return seconds;
}

void AppendShares(const ShareRows& rows, std::span<const double> of,
                  std::vector<TimeShare>* shares) {
  const std::size_t types = rows.problem.types();
  for (std::size_t v = 0; v < of.size(); ++v) {
    if (!(of[v] > 0) || rows.configuration[v] < 0) continue;
    shares->push_back({rows.row[v / types], rows.configuration[v], std::min(1.0, of[v])});
  }
}

void AssumeSpeeds(const std::string& speeds, const Observation& o, ShareProblem* problem) {
  if (speeds == "known") return;
  const std::size_t types = problem->types();
  std::size_t reference = types;
  if (speeds != "alike") {
    const auto& names = o.cluster->types();
    const auto found = std::find(names.begin(), names.end(), speeds);
    if (found == names.end()) {
      throw UsageError("'speeds' must be known, alike or a GPU type of the cluster ({}), got '{}'",
                       Join(names, ", "), speeds);
    }
    reference = static_cast<std::size_t>(found - names.begin());
  }
  for (std::size_t i = 0; i < problem->jobs(); ++i) {
    double* rates = problem->rate.data() + i * types;
    double speed = reference < types ? rates[reference] : 0;
    if (!(speed > 0)) speed = *std::max_element(rates, rates + types);
    for (std::size_t g = 0; g < types; ++g) rates[g] = rates[g] > 0 ? speed : 0;
  }
}

}  // namespace allot
