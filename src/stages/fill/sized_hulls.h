#pragma once
// Hulls over some of a job's sizes, for fills that shall give only these: jobs that keep to powers
// of two leave each other fewer fragments and change less often.

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "perf/configuration.h"

namespace allot {

class SizedHulls {
 public:
  // GPUs of a configuration; empty: any.
  explicit SizedHulls(std::vector<GpuCount> sizes) : sizes_(std::move(sizes)) {}

  bool any() const { return sizes_.empty(); }
  bool Has(GpuCount gpus) const;

  // As ConfigurationTable::hull, over these sizes; of a job that has none of them on the type the
  // table's own. Valid until the table is renewed or Forget. O(configurations) after that, else
  // O(1).
  const std::vector<HullStep>& Of(const ConfigurationTable& table, GpuTypeIndex type);
  void Forget() { known_.clear(); }

 private:
  struct Known {
    std::uint64_t fingerprint = 0;
    std::vector<HullStep> steps;
  };
  void Build(const ConfigurationTable& table, GpuTypeIndex type, std::vector<HullStep>* steps);

  std::vector<GpuCount> sizes_;                                              // ascending
  std::unordered_map<const ConfigurationTable*, std::vector<Known>> known_;  // by type
  std::vector<std::int32_t> chain_;
};

}  // namespace allot
