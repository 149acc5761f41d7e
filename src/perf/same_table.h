#pragma once
// Whether two tables offer the same. For code that keeps data of a table from one decision to
// the next: a live job's table is made anew when its rate is measured, perhaps at the old address.

#include "perf/configuration.h"

namespace allot {

bool SameTable(const ConfigurationTable& a, const ConfigurationTable& b);

}  // namespace allot
