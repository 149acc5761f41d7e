// Checks the machine's clock, with which times of jobs and of Slurm's records are compared.

#include <sys/timex.h>

#include "core/error.h"
#include "live/health/health_check.h"

namespace allot {
namespace {

HealthFinding CheckClock(const HealthPlace&) {
  timex clock{};
  const int state = ::adjtimex(&clock);
  if (state < 0)
    return FoundWarn("the kernel does not report it: " + SystemMessage(), "check it by hand");
  if (state == TIME_ERROR || (clock.status & STA_UNSYNC) != 0) {
    return FoundWarn(
        "no time server sets this machine's clock",
        "run chrony or systemd-timesyncd here and on the nodes: munge refuses machines that "
        "are five minutes apart");
  }
  return FoundFine("a time server sets it");
}

constexpr HealthCheck<HealthPlace> kClockChecks[] = {{"clock", CheckClock}};

ALLOT_REGISTER(HealthGroup, (HealthGroup{.id = "clock",
                                         .summary = "whether a time server sets the clock",
                                         .order = 9,
                                         .run = [](const HealthPlace& place, const Params&) {
                                           return RunChecks(kClockChecks, place);
                                         }}));

}  // namespace
}  // namespace allot
