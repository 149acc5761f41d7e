#pragma once
// How much CPU scheduling by goodput costs (docs/goodput.md): single decisions on crowds of jobs,
// and whole simulations of Pollux's world. CPU time of one thread.

#include <nlohmann/json_fwd.hpp>

namespace allot {

// Decisions of index and pollux on 160 and 2,000 jobs of setting `pollux` that all came at once, on
// 64 and 2,000 GPUs, and of index and sia on as many of setting `sia` on its three GPU types; mean,
// median and worst of the decisions from the sixth on. Believed rates are renewed between them,
// which is not counted.
nlohmann::ordered_json MeasureGoodputDecisions();

// A workload of 160 jobs of setting `pollux`, under beliefs `online`: median of some runs each.
nlohmann::ordered_json MeasureGoodputSimulations();

}  // namespace allot
