#include "stages/rounds/equal_share.h"

#include <algorithm>

namespace allot {
namespace {

double Part(std::int32_t demand, std::int32_t total) {
  return total > 0 ? static_cast<double>(demand) / total : 0;
}

// The hull's rate at a cost, linear between its corners and from the origin, constant at its end.
double RateAt(const ConfigurationTable& table, GpuTypeIndex type, double cost) {
  double corner_cost = 0;
  double corner_rate = 0;
  for (const HullStep& step : table.hull(type)) {
    const Configuration& to = table[step.to];
    if (cost < to.cost) {
      return corner_rate + (to.rate - corner_rate) * (cost - corner_cost) / (to.cost - corner_cost);
    }
    corner_cost = to.cost;
    corner_rate = to.rate;
  }
  return corner_rate;
}

}  // namespace

double EqualShareRate(const Observation& o, std::int32_t row, std::int32_t jobs) {
  const ConfigurationTable& table = *o.table[static_cast<std::size_t>(row)];
  double rate = 0;
  for (const GpuTypeIndex type : table.types()) {
    const Configuration& first = table[table.hull(type).front().to];
    const Resources& total = o.cluster->total_of(type);
    const double part =
        std::max(Part(first.demand.gpus, total.gpus), Part(first.demand.cpus, total.cpus));
    if (part > 0) rate += RateAt(table, type, first.cost / (part * jobs));
  }
  return rate;
}

}  // namespace allot
