#pragma once
// Configuration tables by (profile, size limits), built once per cluster and shared by jobs.

#include <compare>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "core/error.h"
#include "perf/accepted_types.h"
#include "perf/catalogue.h"
#include "perf/configuration.h"
#include "perf/gpu_type_spec.h"
#include "perf/size_rule.h"
#include "workload/workload.h"

namespace allot {

// The job's model; of an application with the batch that the job keeps. Null: it names none.
// DataError naming the job.
ModelPtr ModelOf(const Catalogue& catalogue, const Workload& workload, const Job& job);

class TableCache {
 public:
  // `types`: of the cluster, in its index order. The catalogue must outlive the cache. Not
  // thread-safe.
  TableCache(const Catalogue& catalogue, std::vector<GpuTypeSpec> types);

  // The job's table: the GPU counts within its limits and the type's capacity that are lowest or
  // requested, or that the model offers, once for each span that the profile tells apart and the
  // type's nodes can hold; for profiles of two kinds all pairs of
  // counts, up to the job's limit of each. Types that the job does not accept, or whose GPUs have
  // too little memory, are left out. Each of these also beside every profile that the model was
  // measured with. DataError where the job does not fit (Fits).
  //
  // With `sizes`, only of the counts that the rule allows, on the grid or named by it. DataError
  // where it allows none that the job may have.
  std::shared_ptr<const ConfigurationTable> TableFor(const Workload& workload, const Job& job,
                                                     const SizeRule& sizes = {});

  // Refused where it asks for more GPUs than any type that it accepts has, or has with the host
  // memory and CPUs that it asks for, or than a job may have: what can be done about that depends
  // on who asks. DataError where it accepts no type.
  Status Fits(const Workload& workload, const Job& job) const;

  // DataError for a GPU type of the cluster that neither the catalogue nor a job names, where a job
  // has a profile that was measured on GPU types: it is misspelt, or nobody knows how fast that job
  // is there. The message has the known ones and the nearest. Jobs without such profiles run on
  // types of any name.
  //
  // DataError also where jobs accept no GPU type of the cluster: it names those types, how many
  // jobs ask for each, and what the cluster has.
  void CheckTypes(const Workload& workload) const;

  // The configuration that the job asked for, on the first of the table's types that has it. Where
  // `sizes` does not allow it: the next smaller one, else the next larger one.
  std::int32_t RequestedOf(const Workload& workload, const Job& job, const SizeRule& sizes = {});

  // The job's work in its profile's unit: job.work, or what the model does in the job's duration at
  // the requested GPUs (duration x rate where it does not vary) on the type that the duration was
  // measured on, or if that is not said on the reference type (the first of the table's types that
  // can hold them).
  double WorkOf(const Workload& workload, const Job& job);

  // All three, for less.
  struct Offer {
    std::shared_ptr<const ConfigurationTable> table;
    std::int32_t requested;
    double work;
  };
  Offer OfferFor(const Workload& workload, const Job& job);
  // Of a job whose sizes are limited; its work is the same as without.
  Offer OfferFor(const Workload& workload, const Job& job, const SizeRule& sizes);

 private:
  struct Key {
    const ThroughputModel* model;
    GpuCount lowest;
    GpuCount highest;
    GpuCount unoffered;           // the requested count where the model does not offer it, else 0
    std::int32_t unit_cpus;       // of the hosts, for each unit of the first kind
    std::int64_t unit_memory_mb;  // likewise
    std::string suited;           // a letter a type: whether the job can run there; "": on all
    SizeRule sizes;
    friend auto operator<=>(const Key&, const Key&) = default;
  };

  const ThroughputModel& ModelOf(const Workload& workload, const Job& job) const;
  const std::shared_ptr<const ConfigurationTable>& TableFor(const Workload& workload,
                                                            const Job& job,
                                                            const ThroughputModel& model,
                                                            const SizeRule& sizes = {});
  [[noreturn]] void ThrowNoSize(const Workload& workload, const Job& job,
                                const SizeRule& sizes) const;
  void AddPartnered(const ThroughputModel& model, const std::vector<std::string>& partners,
                    std::size_t type, Configuration c,
                    std::vector<Configuration>* configurations) const;
  std::int32_t RequestedOf(const Workload& workload, const Job& job, const ThroughputModel& model,
                           const ConfigurationTable& table) const;
  // Done at the requested size on the type that the job's duration was measured on.
  double MeasuredWork(const Workload& workload, const Job& job, const ThroughputModel& model) const;
  void RequireFit(const Workload& workload, const Job& job) const;
  std::string KnownTypes(const std::string& type) const;
  // "profile 'p' needs at least 16 GPUs of type h100": the least counts that it runs on, of the
  // types of the cluster that are `suited`; "" where it runs on none of them. For messages: it
  // tries up to 4096 GPUs.
  std::string LeastCounts(const ThroughputModel& model, const std::string& suited) const;
  GpuCount TotalGpus() const;
  std::vector<std::string> TypeNames() const;
  std::string Suited(const Workload& workload, const Job& job) const;

  const Catalogue& catalogue_;
  std::vector<GpuTypeSpec> types_;
  mutable AcceptedTypes accepted_;  // remembers what it answers
  ModelPtr constant_;
  std::map<Key, std::shared_ptr<const ConfigurationTable>> tables_;
};

}  // namespace allot
