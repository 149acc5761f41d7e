#pragma once
// A catalogue explained, for `allot trace inspect`.

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "perf/catalogue.h"
#include "workload/workload.h"

namespace allot {

// `workload`: whose jobs are fitted to the types; null: none.
std::string CatalogueText(const Catalogue& catalogue, const std::string& name,
                          const Workload* workload);
nlohmann::ordered_json CatalogueJson(const Catalogue& catalogue, const std::string& name,
                                     const Workload* workload);

}  // namespace allot
