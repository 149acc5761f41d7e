#pragma once
// What type assignments ask of jobs' tables at every decision, kept from one to the next: most
// tables do not change in between, and reading them again means many looks into memory.

#include <cstdint>
#include <span>
#include <vector>

#include "cluster/observation.h"

namespace allot {

class TableFacts {
 public:
  struct AtSize {
    std::int32_t size = -1;  // a configuration; < 0: not asked yet
    double best = 0;         // the largest rate of so many units, over types
    double log_speed = 0;    // ln(best / reference rate); 0 where best is 0
    GpuCount gpus = 0;       // of the configuration
  };

  // The facts of these rows, by place. Those of tables that were at an earlier place the last time
  // are kept, where rows follow in much the same order. O(rows), and the configurations of tables
  // that are new, were renewed, or are not found near.
  void Read(const Observation& observation, std::span<const std::int32_t> order);

  std::int32_t smallest(std::size_t place) const { return facts_[place].smallest; }  // SmallestSize
  bool one_size(std::size_t place) const { return facts_[place].one_size; }          // HasOneSize
  // Of as many units as this configuration has.
  const AtSize& At(std::size_t place, std::int32_t size) {
    if (facts_[place].at.size != size) ReadSize(place, size);
    return facts_[place].at;
  }
  // The GPU type of a configuration: of one that a job runs in, as a rule.
  GpuTypeIndex TypeOf(std::size_t place, std::int32_t configuration) {
    Facts& facts = facts_[place];
    if (facts.configuration != configuration) {
      facts.configuration = configuration;
      facts.type = (*facts.table)[configuration].gpu_type;
    }
    return facts.type;
  }
  // Rates by type, 0: it cannot run there. Of the last size that At was asked about.
  std::span<const double> rates(std::size_t place) const {
    return std::span(rates_).subspan(place * types_, types_);
  }

 private:
  struct Facts {
    const ConfigurationTable* table;
    std::uint64_t fingerprint;  // equal: the same content, wherever it lies
    std::int32_t smallest;
    bool one_size;
    AtSize at{};
    std::int32_t configuration = -1;  // whose type is known
    GpuTypeIndex type = -1;
  };
  void ReadSize(std::size_t place, std::int32_t size);

  std::size_t types_ = 0;
  std::vector<Facts> facts_;  // by place
  std::vector<Facts> last_;
  std::vector<double> rates_;  // [place][type]
  std::vector<double> last_rates_;
};

}  // namespace allot
