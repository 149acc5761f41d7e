#pragma once
// The jobs of one run, in order of (submit, position in the trace), with the names they refer to.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "workload/job.h"

namespace allot {

// Interned names: a job holds an index.
class NameTable {
 public:
  std::int32_t Intern(std::string_view name);               // "" -> -1
  std::int16_t InternSmall(std::string_view name);          // DataError beyond 32,767 names
  const std::string& operator[](std::int32_t index) const;  // -1 -> ""
  std::int32_t Find(std::string_view name) const;           // -1 when absent
  std::size_t size() const { return names_.size(); }
  const std::vector<std::string>& names() const { return names_; }

 private:
  std::vector<std::string> names_;
  std::unordered_map<std::string, std::int32_t> index_;
};

// Jobs for which a throughput profile was drawn at random, as their trace names none.
struct DrawnModels {
  std::int64_t jobs = 0;
  std::string from;  // what they were drawn from; "" when there are none
};

struct Workload {
  std::string name;       // for tables and file names: "philly-2017w44"
  std::string origin;     // calendar time of submit 0, "YYYY-MM-DD HH:MM:SS" or "" if unknown
  std::string source;     // path of the trace, for messages; "" if made in code
  std::vector<Job> jobs;  // ascending submit
  NameTable models;
  NameTable tenants;
  NameTable users;
  NameTable groups;
  NameTable accounts;
  NameTable qos;        // names of qualities of service
  NameTable gpu_types;  // names of GPU types, and several of them joined by '|'
  DrawnModels drawn;    // perf/elastic.h
  // When the record was taken, where jobs had not ended by then (Job::ended).
  std::optional<Seconds> recorded_until;
  // When the record begins: jobs submitted before are in it because they had not ended when it did.
  Seconds recorded_from = 0;

  // Sorts by (submit, present order) and checks every job: unique id, submit >= 0, gpus >= 1,
  // duration > 0, limits ordered. DataError names the job and both values.
  void Finish();
  // The names last as long as the workload.
  Charge ChargeOf(const Job& job) const { return {accounts[job.account], qos[job.qos]}; }
  std::string PlaceOf(const Job& job) const;  // " (FILE:LINE)" for messages, "" if unknown
  Seconds Span() const;                       // last submit - first submit
  // How long the job ran within the record; of a job that had not ended less than its duration.
  Seconds RecordedRunTime(const Job& job) const;
  double GpuSeconds() const;  // sum of gpus x recorded run time
};

}  // namespace allot
