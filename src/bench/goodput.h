#pragma once
// Measures the CPU time of scheduling by goodput (docs/goodput.md) on one thread: single decisions
// with many jobs, and whole simulations of Pollux's world.

#include <nlohmann/json_fwd.hpp>

namespace allot {

// Decisions of index and pollux with 160 and 2,000 jobs of setting `pollux`, submitted at once, on
// 64 and 2,000 GPUs, and of index and sia with as many jobs of setting `sia` on its three GPU
// types; mean, median and worst of the decisions from the sixth on. The renewal of believed rates
// between them is not counted.
nlohmann::ordered_json MeasureGoodputDecisions();

// A workload of 160 jobs of setting `pollux`, under beliefs `online`: median of some runs each.
nlohmann::ordered_json MeasureGoodputSimulations();

}  // namespace allot
