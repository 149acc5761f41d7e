#include "perf/training_work.h"

namespace allot {

double WorkIn(const ThroughputModel& model, const RunShape& shape, Seconds seconds) {
  if (!model.varies()) return seconds * model.Rate(shape, {});
  double done = 0;
  while (seconds > 0) {
    const double rate = model.Rate(shape, {.done_work = done});
    if (!(rate > 0)) break;
    const double until = model.ConstantUntil(done);
    const Seconds to_its_end = (until - done) / rate;
    if (to_its_end >= seconds) return done + seconds * rate;
    seconds -= to_its_end;
    done = until;
  }
  return done;
}

}  // namespace allot
