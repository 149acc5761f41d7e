#pragma once
// How many GPUs the services need that share a cluster with training jobs, over time. Services come
// first: what they do not need is lent to jobs (sim/lending.h), and jobs have no influence on it.
//
// A law of services is a file in sim/services/ that registers a ServiceLawInfo, for --services.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "core/params.h"
#include "core/registry.h"
#include "core/types.h"

namespace allot {

// A step function. Time 0 is that of the workload; what lies before it is known to lenders.
// Immutable; thread-safe.
class ServiceLoad {
 public:
  static constexpr Seconds kStep = 300;
  static constexpr std::size_t kStepsPerWeek = 7 * 86400 / 300;

  // `gpus`: one value a step, of which the first `history` lie before time 0.
  ServiceLoad(std::vector<double> gpus, std::size_t history);

  // GPUs that services need at this time, not before -history(). Past the end the last week (or
  // all, of a shorter load) begins again.
  double At(Seconds time) const;
  // One value a step, the last of them just before time 0.
  std::vector<double> History() const;
  Seconds history() const { return static_cast<double>(history_) * kStep; }

 private:
  std::vector<double> gpus_;
  std::size_t history_;
};

// What a law is asked for.
struct ServiceSpan {
  GpuCount gpus = 0;        // of the cluster, which services share with jobs
  Seconds last_submit = 0;  // of the workload: until then the load must be known
  Seconds horizon = 0;      // from then on nobody looks
  std::uint64_t seed = 0;
};

struct ServiceLawInfo {
  std::string id;
  std::string summary;
  std::vector<ParamSpec> params;
  // UsageError for values that the law does not accept, DataError for a file that it cannot read or
  // that ends before `last_submit`.
  std::function<ServiceLoad(const Params&, const ServiceSpan&)> make;
};

// "weekly:peak=0.9". UsageError with did-you-mean, or naming the range.
ServiceLoad MakeServiceLoad(std::string_view spec, const ServiceSpan& span);

}  // namespace allot
