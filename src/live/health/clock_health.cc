// Checks the machine's clock, with which times of jobs and of Slurm's records are compared.

#include <sys/timex.h>

#include <algorithm>

#include "core/error.h"
#include "core/file.h"
#include "core/wall_clock.h"
#include "live/health/health_check.h"
#include "live/state/run_begin.h"

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

HealthFinding CheckJournalEnd(const HealthPlace& place) {
  const auto journal = place.state / "journal.jsonl";
  std::error_code error;
  if (!CanRead(place.state)) return FoundUnchecked("see state.folder");
  if (!std::filesystem::exists(journal, error)) return FoundUnchecked("there is no journal");
  const JournalTimes times = TimesOf(ReadJournalText(ReadTextFile(journal.string())).records);
  if (!times.origin) return FoundUnchecked("the journal has no date");
  const Seconds ahead = times.AheadOf(WallSeconds());
  if (ahead < kLeastJump) {
    return FoundFine(fmt::format("the journal ends {:.0f} s ago", std::max(0.0, -ahead)));
  }
  return FoundWrong(
      fmt::format("the journal ends {:.0f} s in the future: the clock was ahead when the daemon "
                  "started, or is behind now",
                  ahead),
      "set the clock, then restart the daemon: it corrects the ages of jobs");
}

constexpr HealthCheck<HealthPlace> kClockChecks[] = {{"clock", CheckClock},
                                                     {"clock.journal", CheckJournalEnd}};

ALLOT_REGISTER(HealthGroup, (HealthGroup{.id = "clock",
                                         .summary = "whether a time server sets the clock",
                                         .order = 9,
                                         .run = [](const HealthPlace& place, const Params&) {
                                           return RunChecks(kClockChecks, place);
                                         }}));

}  // namespace
}  // namespace allot
