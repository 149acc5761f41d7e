#pragma once
// What plays a recorded run of Gavel back, and takes notes of it.

#include <cstdint>
#include <string>
#include <vector>

#include "fidelity/gavel_reference.h"
#include "sched/driver.h"
#include "stages/rounds/sharing.h"

namespace allot {

// Answers call by call what was recorded; after the last call nothing.
class RecordedSharing : public Sharing {
 public:
  explicit RecordedSharing(const std::vector<GavelCall>& calls) : calls_(calls) {}  // kept

  void OnEpisodeStart(const EpisodeContext&) override { asked_ = 0; }
  void Share(const Observation& o, std::span<const std::int32_t> rows,
             std::vector<TimeShare>* shares) override;

  std::size_t asked() const { return asked_; }
  const std::string& late() const { return late_; }  // the first call at another time, or ""

 private:
  std::int32_t RowOf(JobIndex job) const;
  void Add(const Observation& o, const GavelCall::Part& part, std::vector<TimeShare>* shares) const;

  const std::vector<GavelCall>& calls_;
  std::size_t asked_ = 0;
  std::string late_;
  std::vector<std::int32_t> row_of_;
};

// Collects placements, and counts leases as the peer does: a chance for every job or pair of the
// round before of which a job is left, a lease extended for each that has the same GPUs again.
class RoundLog : public DecisionListener {
 public:
  explicit RoundLog(const ClusterSpec& cluster);
  void OnDecision(const Observation& o, const Allocation& allocation) override;

  const std::vector<GavelPlacement>& rows() const { return rows_; }
  std::int64_t rounds() const { return rounds_; }
  std::int64_t extended() const { return extended_; }
  std::int64_t chances() const { return chances_; }

 private:
  std::vector<std::int32_t> first_;  // GPU of each node
  std::vector<GavelPlacement> rows_;
  std::size_t previous_ = 0;  // where the round before begins
  std::int64_t rounds_ = 0;
  std::int64_t extended_ = 0;
  std::int64_t chances_ = 0;
};

}  // namespace allot
