#pragma once
// The options that users set on a job, the same on all clusters: min=1, max=8, resize=restart. One
// table (job_options.cc) has a row for each option: its key, how its text is read and checked, and
// how the journal stores it. Slurm's comments, annotations on Kubernetes, job files of the local
// runtime, the journal and `allot list job-options` follow from it: a new option is one row, and
// the field of RuntimeJob that it sets.
//
// Unknown options are errors, so that a mistyped limit is noticed.

#include <cstdint>
#include <functional>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "live/runtimes/runtime_job.h"

namespace allot {

inline constexpr GpuCount kMostGpusAsked = 1 << 16;  // per job

// An option as a user wrote it. Errors begin with `where`: "comment: 'min'".
struct OptionText {
  std::string text;
  std::string where;
};

struct JobOption {
  enum class Recorded : std::uint8_t {
    kAlways,
    kAddedLater,  // always; older journals lack it
    kWhereSaid,   // unless it is the default
  };

  std::string key;          // in users' texts: "min=1", "allot.dev/min", "min = 1"
  std::string recorded_as;  // in a journal's record "job"
  Recorded recorded = Recorded::kAlways;
  std::string summary;
  // DataError naming the rule and the value.
  std::function<void(const OptionText&, RuntimeJob*)> read;
  std::function<nlohmann::ordered_json(const RuntimeJob&)> value;
  std::function<void(const nlohmann::ordered_json& value, RuntimeJob*)> set;
};

const std::vector<JobOption>& JobOptions();
const std::vector<std::string>& JobOptionKeys();

// Reads options by key, without the `prefix` that they have in the user's text ("allot.dev/");
// `where` names that text ("comment"). DataError for the user; `job` is then unchanged.
void ReadJobOptions(const std::map<std::string, std::string>& given, std::string_view where,
                    std::string_view prefix, RuntimeJob* job);

bool AskTheSame(const RuntimeJob& a, const RuntimeJob& b);
void KeepJobOptions(const RuntimeJob& from, RuntimeJob* job);  // copies all options

// Into a journal's record "job", and from there.
void RecordJobOptions(const RuntimeJob& job, nlohmann::ordered_json* record);
void TakeJobOptions(const nlohmann::ordered_json& record, RuntimeJob* job);

}  // namespace allot
