#pragma once
// From fractions of time to allocations, round by round (Narayanan et al., Gavel, OSDI'20, section
// 5): whoever has received least of its share on a GPU type runs there next.
//
// An entry is a job in a configuration, or a pair of jobs. Types are filled one after the other, in
// the cluster's order. On each, entries come by rising received time / share; of equal ones the
// larger deficit of earlier targets first, then the larger share, then the earlier job. What is
// left goes to jobs without a place, at the size they asked for, where their rate is largest
// relative to their own best. Shares below kLeast are solvers' residues and count as none: without
// that, jobs take turns on types that they should not use.

#include <cstdint>
#include <map>
#include <span>
#include <vector>

#include "cluster/observation.h"
#include "stages/sharing.h"

namespace allot {

class Rounds {
 public:
  static constexpr double kLeast = 1e-3;

  // What one round gives; of a pair the first is the earlier job.
  struct Given {
    std::int32_t row = 0;
    std::int32_t configuration = 0;
    float share = 0;  // its target; 0: it fills what is left
    std::int32_t partner_row = -1;
    std::int32_t partner_configuration = -1;
  };

  void OnEpisodeStart();

  // What runs has received the time since the last call. To be called once a round, first.
  void Account(const Observation& observation);
  // From now on these are the targets; what entries were given less than their old ones they keep
  // as a deficit.
  void Aim(const Observation& observation, std::span<const TimeShare> targets);
  // The round that begins now. Rows that are not listed get nothing. O(entries log entries).
  void Fill(const Observation& observation, std::span<const std::int32_t> rows,
            std::vector<Given>* given);

 private:
  struct Key {
    JobIndex job = 0;
    JobIndex partner = kAlone;
    std::int32_t configuration = 0;  // alone: whatever nodes it spans
    std::int32_t partner_configuration = -1;
    friend auto operator<=>(const Key&, const Key&) = default;
  };
  struct Entry {
    double share = 0;
    double deficit = 0;    // seconds owed at the last Aim
    Seconds received = 0;  // since then
  };
  struct Candidate {
    double order = 0;  // received / share, or the relative rate, negated
    double deficit = 0;
    double share = 0;
    Key key;
    GpuTypeIndex type = 0;
  };

  void FillType(const Observation& o, GpuTypeIndex type, std::vector<Given>* given);
  void FillWhatIsLeft(const Observation& o, std::span<const std::int32_t> rows,
                      std::vector<Given>* given);
  bool Take(const Observation& o, const Candidate& candidate, std::vector<Given>* given);

  std::map<Key, Entry> entries_;
  Seconds aimed_ = 0;
  Seconds accounted_ = 0;
  bool any_ = false;  // rounds so far
  // Of one round.
  std::map<JobIndex, std::int32_t> row_of_;  // of jobs without a place
  std::vector<Resources> left_;              // by type
  std::vector<Candidate> candidates_;
};

}  // namespace allot
