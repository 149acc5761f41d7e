#pragma once
// Workloads of jobs that train applications, as Pollux and Sia were evaluated with (Qiao et al.,
// OSDI'21, section 5.1; Jayaram Subramanya et al., SOSP'23, section 4.1): 160 jobs in eight hours
// with a rush in the sixth, short and long ones as in a trace of Microsoft's.

#include <cstdint>
#include <string>
#include <vector>

#include "cluster/cluster_spec.h"
#include "perf/catalogue.h"
#include "workload/workload.h"

namespace allot {

// What a user of the application asks for, and how often.
struct ApplicationRequest {
  std::string application;
  GpuCount gpus = 1;
  double batch = 0;  // total
  double weight = 1;
};

struct ApplicationJobs {
  double jobs = 160;
  std::vector<double> hours{};  // weights of the hours that they are submitted in
  std::vector<ApplicationRequest> requests{};
};

// The weights of the hours in the workloads that come with both simulators, pooled.
std::vector<double> UsualHours();

// Equal seeds give equal workloads. Jobs may have 1 GPU up to what their application can use, at
// most 64.
Workload DrawApplicationJobs(const ApplicationJobs& law, const Catalogue& catalogue,
                             const ClusterSpec& cluster, const std::string& name,
                             std::uint64_t seed);

}  // namespace allot
