#pragma once
// Measures the CPU time of simulations on one thread. Policies are specs joined by commas.

#include <nlohmann/json_fwd.hpp>
#include <string>

namespace allot {

// Decisions on 100, 1000, ... `most_active` one-GPU jobs, of which half run.
nlohmann::ordered_json MeasureCrowds(const std::string& policies, int most_active);

// A simulation of 100,000 rounds in which nothing can change.
nlohmann::ordered_json MeasureIdle();

// The cells of preset blox-fig6, including the creation of their workloads.
nlohmann::ordered_json MeasureFigure6();

// 1,000,000 jobs on 100,000 GPUs. Its peak of memory is the process's.
nlohmann::ordered_json MeasureMillion(const std::string& policies);

// Median of 51 runs each of DL2's heuristics on its mid_s1, compared with its Python. `folder` is
// DL2's reference.
nlohmann::ordered_json MeasureDl2(const std::string& folder);

// Median of 21 runs each of Gavel's cont_single_108 (400 jobs on 36:36:36) in its own world,
// without the time for reading it, compared with its Python. `folder` is Gavel's reference.
nlohmann::ordered_json MeasureGavel(const std::string& folder);

}  // namespace allot
