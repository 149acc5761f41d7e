#pragma once
// What the commands 'bench ...' share: the machine that their figures are from.

#include <nlohmann/json.hpp>

namespace allot {

nlohmann::ordered_json BenchMachine();  // {"cpu", "cores", "load"}

// Of the last minute, for who judges the figures; NaN where the system tells none.
double LoadAverage();

}  // namespace allot
