#pragma once
// What the commands 'bench ...' share: the CPU clock of one thread and a name for the machine.

#include <nlohmann/json.hpp>

namespace allot {

double ProcessorSeconds();              // CPU time of the calling thread
nlohmann::ordered_json BenchMachine();  // {"cpu", "cores"}

}  // namespace allot
