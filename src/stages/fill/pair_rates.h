#pragma once
// What jobs get done beside each other, for a type question (solve/pair_assignment.h). Two jobs may
// share GPUs where both tables have a configuration of the size asked about beside the other's
// profile, and both ask for as many GPUs.

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "sched/stages.h"

namespace allot {

// The configuration of these units beside a job of that profile, on a type; -1: none. O(partners).
std::int32_t Beside(const ConfigurationTable& table, const UnitCounts& units,
                    const std::string& profile, GpuTypeIndex type);

class PairRates {
 public:
  // O(rows log kinds + kinds^2 x types); kinds are remembered from one decision to the next.
  void Read(const Observation& observation, const TypeQuestion& question);

  std::size_t kinds() const { return used_.size(); }
  std::span<const std::int32_t> kind() const { return kind_; }  // by place
  // [kind][kind][type]: the rate of a job of the first kind beside one of the second over its rate
  // alone there; 0: not beside each other.
  std::span<const double> beside() const { return beside_; }

 private:
  // Jobs of equal tables and sizes.
  struct Kind {
    std::int32_t name = 0;
    std::vector<double> beside;  // [name][type], of the names known when it was read
    std::int32_t used = -1;      // its number among those of this decision
  };
  static constexpr std::size_t kMostRemembered = 4096;

  std::int32_t NameOf(const std::string& name);
  std::int32_t KindOf(const ConfigurationTable& table, std::int32_t size, std::size_t types);

  std::size_t types_ = 0;
  std::map<std::string, std::int32_t, std::less<>> names_;
  std::map<std::pair<std::uint64_t, std::int32_t>, std::int32_t> numbers_;
  std::vector<Kind> known_;
  std::vector<std::int32_t> used_;  // into known_
  std::vector<std::int32_t> kind_;
  std::vector<double> beside_;
};

}  // namespace allot
