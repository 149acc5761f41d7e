#pragma once
// Configuration tables by (profile, size limits), built once per cluster and shared by jobs.

#include <map>
#include <memory>
#include <string>
#include <tuple>
#include <vector>

#include "perf/configuration.h"
#include "perf/throughput_model.h"
#include "workload/workload.h"

namespace allot {

class TableCache {
 public:
  // `gpu_types`: names of the cluster's types, in its index order; `largest`: most GPUs of one type.
  TableCache(const Catalogue& catalogue, std::vector<std::string> gpu_types,
             std::vector<GpuCount> type_capacity);

  // The job's table: GPU counts in its limits that fit the type's capacity. DataError when none
  // does ("job larger than the cluster"), naming both values.
  std::shared_ptr<const ConfigurationTable> TableFor(const Workload& workload, const Job& job);

  // The job's work in its profile's unit: job.work, or duration x rate at the requested GPUs on the
  // reference type (the fastest of the cluster).
  double WorkOf(const Workload& workload, const Job& job);

 private:
  ModelPtr ModelOf(const Workload& workload, const Job& job);

  const Catalogue& catalogue_;
  std::vector<std::string> gpu_types_;
  std::vector<GpuCount> type_capacity_;
  ModelPtr constant_;
  std::map<std::string, ModelPtr> resolved_;
  std::map<std::tuple<std::string, GpuCount, GpuCount>, std::shared_ptr<const ConfigurationTable>> tables_;
};

}  // namespace allot
