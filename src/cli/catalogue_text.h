#pragma once
// Explains a catalogue, for `allot trace inspect`.

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "perf/catalogue.h"
#include "workload/workload.h"

namespace allot {

// If `workload` is not null, its jobs are fitted to the types.
std::string CatalogueText(const Catalogue& catalogue, const std::string& name,
                          const Workload* workload);
nlohmann::ordered_json CatalogueJson(const Catalogue& catalogue, const std::string& name,
                                     const Workload* workload);

}  // namespace allot
