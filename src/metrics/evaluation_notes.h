#pragma once
// Sentences on the world of an evaluation that its figures depend on: length estimates, nodes that
// go down, jobs that had not ended, what reading left out. Below the tables of commands and of the
// report.

#include <string>
#include <string_view>
#include <vector>

#include "metrics/evaluation.h"

namespace allot {

// "the users' time limits (user)"; as LengthEstimates::ToString names them.
std::string LengthEstimatesInWords(std::string_view estimates);

// How many jobs keep their size because their speed at others is unknown; "" for none.
std::string FixedSizesInWords(const Evaluation& evaluation);

// For how many jobs throughput profiles were drawn, and from what: "drawn at random for 750 of 750
// jobs, from measured throughput (traces/catalogue.csv)"; "" for none.
std::string DrawnInWords(const Evaluation& evaluation);

// A sentence each.
std::vector<std::string> EvaluationNotes(const Evaluation& evaluation);

// What reading the trace and the list of nodes left out, a sentence each, where there is no other
// place that says so: `read` and `cluster_read` as Evaluation has them.
std::vector<std::string> LeftOutNotes(const nlohmann::ordered_json& read,
                                      const nlohmann::ordered_json& cluster_read);

}  // namespace allot
