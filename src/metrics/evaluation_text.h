#pragma once
// All that is said of an evaluation in a terminal.

#include <string>

#include "metrics/evaluation.h"

namespace allot {

// The table of policies, the service to users where the workloads name them, and the headline where
// there is more than one policy.
std::string EvaluationText(const Evaluation& evaluation);

}  // namespace allot
