// Figure 6 of Blox (Agarwal et al., EuroSys'24): three policies against load on 128 GPUs. Its
// Optimus is SRTF with progress that is faster than the jobs' rates at low load.

#include "sweep/preset.h"

namespace allot {
namespace {

ALLOT_REGISTER(SweepPreset,
               (SweepPreset{"blox-fig6", "Blox, Figure 6: Tiresias, Optimus and FIFO against load",
                            R"(title = "Blox, Figure 6"
workload = "law:blox"
profile = "blox"
rigid = true
clusters = "32x4"
rates = "1..9"
policies = ["tiresias", "optimus", "fifo"]
reference = "fifo"
window-jobs = "3000..4000"
jobs = 4001
tail = "4000h"
where = [
  { policy = "optimus", rate = 1, speedup = 5 },
  { policy = "optimus", rate = 2, speedup = 3 },
  { policy = "optimus", rate = 3, speedup = 1.4 },
  { policy = "optimus", rate = 4, speedup = 1.2 },
  { policy = "optimus", rate = 5, speedup = 1.1 },
]
)"}));

}  // namespace
}  // namespace allot
