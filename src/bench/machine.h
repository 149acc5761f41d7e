#pragma once
// Describes the machine for the results of the commands 'bench ...'.

#include <nlohmann/json.hpp>

namespace allot {

nlohmann::ordered_json BenchMachine();  // {"cpu", "cores", "load"}

// The load of the last minute, for judging the figures; NaN if unknown.
double LoadAverage();

}  // namespace allot
