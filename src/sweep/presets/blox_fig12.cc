// Admission control under load, after Figure 12 of Blox (Agarwal et al., EuroSys'24): accept all
// jobs, or hold them back while those inside ask for more than 1.2 or 1.4 times the cluster.

#include "sweep/preset.h"

namespace allot {
namespace {

ALLOT_REGISTER(SweepPreset, (SweepPreset{"blox-fig12", "Blox, Figure 12: admission under load",
                                         R"(title = "Blox, Figure 12: admission under load"
workload = "law:blox"
profile = "blox"
rigid = true
clusters = "32x4"
rates = [7, 8, 9]
policies = ["fifo", "las", "srtf"]
admission = ["accept-all", "load:factor=1.2", "load:factor=1.4"]
reference = "admission=accept-all"
window-jobs = "1000..2000"
jobs = 2001
tail = "4000h"
)"}));

}  // namespace
}  // namespace allot
