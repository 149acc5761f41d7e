#pragma once
// What a catalogue says, for its owner: which types were measured at which sizes, what is missing,
// and which jobs of a workload fit which type. An unmeasured type is absent: no job runs there.

#include <string>
#include <vector>

#include "perf/catalogue.h"
#include "workload/workload.h"

namespace allot {

struct TypeCoverage {
  std::string gpu_type;
  std::vector<std::string> profiles;  // with a rate there
  std::vector<GpuCount> sizes;        // measured alone, of any profile; ascending
  std::vector<std::string> spans;     // numbers of nodes with separate rates; "any"
  std::size_t pairs = 0;              // unordered pairs of a profile and its partner, of any size
  // Of a workload's jobs that name a profile; filled by FitJobs.
  std::int64_t jobs = 0;         // that can run there at their size
  std::int64_t jobs_larger = 0;  // that could on fewer GPUs than they ask for
};

struct ProfileCoverage {
  std::string profile;
  std::string reference;       // type of its rates where a cluster's type has no name
  GpuCount gpus = 1;           // least size that was measured on all of its types, if any was
  std::vector<double> speeds;  // there, by type as in `types`, relative to its fastest; 0: absent
};

struct CatalogueCoverage {
  std::vector<TypeCoverage> types;
  std::vector<ProfileCoverage> profiles;
  std::vector<std::string> without_types;  // profiles that run equally fast on all types
};

CatalogueCoverage CoverageOf(const Catalogue& catalogue);

// Jobs of a workload by type.
struct JobFit {
  std::int64_t without_profile = 0;  // run anywhere
  std::int64_t on_all = 0;           // of the types of the catalogue
  std::int64_t on_none = 0;
  std::string example;  // of on_none: which job, and why
};

// Counts into `coverage`, which is the catalogue's. A profile that the catalogue does not have fits
// nothing.
JobFit FitJobs(const Catalogue& catalogue, const Workload& workload, CatalogueCoverage* coverage);

}  // namespace allot
