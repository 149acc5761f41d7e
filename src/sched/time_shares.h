#pragma once
// Policies that give out fractions of time instead of whole GPUs: what they would have if nothing
// stood between the fractions and the jobs. A policy that has it returns it from
// Policy::ideal_shares().

#include <cstdint>
#include <span>
#include <vector>

#include "cluster/observation.h"

namespace allot {

struct TimeShare {
  std::int32_t row = 0;
  std::int32_t configuration = 0;
  double share = 0;  // of all time, in [0, 1]
  // Of two jobs on the same GPUs, named once: the row and configuration of the other.
  std::int32_t partner_row = -1;
  std::int32_t partner_configuration = -1;
};

class SharesTime {
 public:
  virtual ~SharesTime() = default;
  // Replaces `shares` by those from now on. Asked whenever a job has arrived or ended.
  virtual void ShareTime(const Observation& observation, std::vector<TimeShare>* shares) = 0;
};

}  // namespace allot
