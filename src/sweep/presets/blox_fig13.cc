// Admission control under dual load, after Figure 13 of Blox (Agarwal et al., EuroSys'24): long
// jobs all the time and spells of short ones.

#include "sweep/preset.h"

namespace allot {
namespace {

ALLOT_REGISTER(SweepPreset, (SweepPreset{"blox-fig13", "Blox, Figure 13: admission under dual load",
                                         R"(title = "Blox, Figure 13: admission under dual load"
workload = "law:blox-dual"
profile = "blox"
rigid = true
clusters = "32x4"
rates = [6, 7, 8]
policies = ["fifo", "las", "srtf"]
admission = ["accept-all", "load:factor=1.2", "load:factor=1.4"]
reference = "admission=accept-all"
window-jobs = "3000..6000"
jobs = 6001
tail = "4000h"
)"}));

}  // namespace
}  // namespace allot
