#include "live/state/stated_work.h"

namespace allot {

void StatedWork::Add(std::int32_t user, const Sums& of_job, Seconds now) {
  stated_.Add({.user = user}, of_job.stated, now);
  needed_.Add({.user = user}, of_job.needed, now);
}

StatedWork::Sums StatedWork::Of(std::int32_t user, Seconds now) const {
  return {stated_.Of({.user = user}, now), needed_.Of({.user = user}, now)};
}

double StatedWork::FactorOf(std::int32_t user, const Sums& running, Seconds now) const {
  const Sums past = Of(user, now);
  const double stated = past.stated + running.stated;
  const double needed = past.needed + running.needed;
  return stated > 0 && needed > kTolerance * stated ? needed / stated : 1;
}

}  // namespace allot
