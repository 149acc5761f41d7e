#pragma once
// Configuration tables by (profile, size limits), built once per cluster and shared by jobs.

#include <map>
#include <memory>
#include <string>
#include <tuple>
#include <vector>

#include "perf/catalogue.h"
#include "perf/configuration.h"
#include "workload/workload.h"

namespace allot {

class TableCache {
 public:
  // `gpu_types` and `type_capacity`: names and GPUs of the cluster's types, in its index order. The
  // catalogue must outlive the cache. Not thread-safe.
  TableCache(const Catalogue& catalogue, std::vector<std::string> gpu_types,
             std::vector<GpuCount> type_capacity);

  // The job's table: the GPU counts within its limits and the type's capacity that are lowest or
  // requested, up to 8, a multiple of 4 up to 64, or a multiple of 8; for profiles of two kinds all
  // pairs of counts, up to the job's limit of each. DataError when the requested count fits no type
  // ("job larger than the cluster"), naming both values.
  std::shared_ptr<const ConfigurationTable> TableFor(const Workload& workload, const Job& job);

  // DataError for a GPU type of the cluster that the catalogue does not know where every job names
  // a profile, so that nobody could use it; with the known ones and the nearest.
  void CheckTypes(const Workload& workload) const;

  // The configuration that the job asked for, on the first of the table's types that has it.
  std::int32_t RequestedOf(const Workload& workload, const Job& job);

  // The job's work in its profile's unit: job.work, or duration x rate at the requested GPUs on the
  // reference type (the first of the table's types that can hold them).
  double WorkOf(const Workload& workload, const Job& job);

  // All three, for less.
  struct Offer {
    std::shared_ptr<const ConfigurationTable> table;
    std::int32_t requested;
    double work;
  };
  Offer OfferFor(const Workload& workload, const Job& job);

 private:
  // Profile, lowest, highest, and the requested count where it is off the grid (else 0).
  using Key = std::tuple<const ThroughputModel*, GpuCount, GpuCount, GpuCount>;

  const ThroughputModel& ModelOf(const Workload& workload, const Job& job) const;
  const std::shared_ptr<const ConfigurationTable>& TableFor(const Workload& workload,
                                                            const Job& job,
                                                            const ThroughputModel& model);
  std::int32_t RequestedOf(const Workload& workload, const Job& job, const ThroughputModel& model,
                           const ConfigurationTable& table) const;
  void CheckFits(const Workload& workload, const Job& job) const;
  std::string KnownTypes(const std::string& type) const;

  const Catalogue& catalogue_;
  std::vector<std::string> gpu_types_;
  std::vector<GpuCount> type_capacity_;
  ModelPtr constant_;
  std::map<Key, std::shared_ptr<const ConfigurationTable>> tables_;
};

}  // namespace allot
