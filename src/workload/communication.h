#pragma once
// How much of a job's time its GPUs communicate, and with whom. A workload may say it for each job
// (columns comm_share and pattern); only clusters with a topology read it.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace allot {

// Who sends to whom in each iteration.
enum class CommunicationPattern : std::uint8_t { kRing, kAllToAll };

struct Communication {
  // Part of an iteration in which the job communicates, on the best place for its size and beside
  // nobody; from 0 (no communication) to below 1.
  float share = 0;
  CommunicationPattern pattern = CommunicationPattern::kRing;

  bool operator==(const Communication&) const = default;
};

// Indexed by CommunicationPattern: ring, all-to-all.
const std::vector<std::string>& CommunicationPatternNames();
std::optional<CommunicationPattern> ParseCommunicationPattern(std::string_view name);

}  // namespace allot
