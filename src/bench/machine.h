#pragma once
// What the commands 'bench ...' share: the machine that their figures are from.

#include <nlohmann/json.hpp>

namespace allot {

nlohmann::ordered_json BenchMachine();  // {"cpu", "cores", "load"}

// Of the last minute, to judge the figures by; NaN if unknown.
double LoadAverage();

}  // namespace allot
