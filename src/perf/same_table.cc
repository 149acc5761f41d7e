#include "perf/same_table.h"

#include <algorithm>

namespace allot {

bool SameTable(const ConfigurationTable& a, const ConfigurationTable& b) {
  return a.name() == b.name() && a.limits() == b.limits() &&
         std::equal(a.configurations().begin(), a.configurations().end(),
                    b.configurations().begin(), b.configurations().end(),
                    [](const Configuration& x, const Configuration& y) {
                      return x.units == y.units && x.gpu_type == y.gpu_type &&
                             x.demand == y.demand && x.cost == y.cost && x.rate == y.rate;
                    });
}

}  // namespace allot
