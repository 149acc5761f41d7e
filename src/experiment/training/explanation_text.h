#pragma once
// Prints an explanation of a decision (agents/learned/explanation.h) as text and as JSON.

#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "agents/learned/explanation.h"
#include "cluster/observation.h"

namespace allot {

// `names` are those of the jobs by row. `only` selects one row; -1 stands for all.
nlohmann::ordered_json ExplanationJson(const Observation& o, const Explanation& explanation,
                                       const std::vector<std::string>& names, std::int32_t only);

// A table, one row a job.
std::string ExplanationText(const Observation& o, const Explanation& explanation,
                            const std::vector<std::string>& names);
// One job with its steps and its features, whose names are given.
std::string ExplanationText(const Observation& o, std::int32_t row, const ExplainedJob& job,
                            const std::string& name,
                            std::span<const std::string_view> feature_names);

}  // namespace allot
