#include "workload/write_swf.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>

#include "core/strings.h"
#include "workload/calendar.h"

namespace allot {
namespace {

constexpr int kUnknownNumber = -1;

// The number in a text that is nothing else, as SWF writes it; nullopt for "01" or "a".
std::optional<long long> PlainNumber(const std::string& text) {
  const auto number = ParseInteger(text);
  const bool plain = number && *number >= 0 && std::to_string(*number) == text;
  return plain ? number : std::nullopt;
}

// The numbers that stand for names: their own where all are numbers, else 1, 2, ... with comments
// that name them.
class NumberedNames {
 public:
  NumberedNames(const NameTable& names, const char* label, std::ostream& out) : names_(names) {
    const auto& all = names.names();
    numbers_ = std::all_of(all.begin(), all.end(),
                           [](const std::string& name) { return PlainNumber(name).has_value(); });
    for (std::size_t i = 0; i < all.size() && !numbers_; ++i) {
      out << fmt::format("; {}: {} {}\n", label, i + 1, Printable(all[i]));
    }
  }
  long long Of(std::int32_t index) const {
    if (index < 0) return kUnknownNumber;
    return numbers_ ? *PlainNumber(names_[index]) : index + 1;
  }

 private:
  const NameTable& names_;
  bool numbers_ = false;
};

int StatusOf(Outcome outcome) {
  switch (outcome) {
    case Outcome::kPassed:
      return 1;
    case Outcome::kFailed:
      return 0;
    case Outcome::kKilled:
      return 5;
    case Outcome::kUnreported:
    case Outcome::kRunning:
    case Outcome::kPending:
      break;
  }
  return kUnknownNumber;
}

// What jobs have that SWF has no field for.
std::vector<std::string> LeftOut(const Workload& workload) {
  struct Property {
    const char* name;
    std::function<bool(const Job&)> has;
  };
  const std::vector<Property> properties = {
      {"model", [](const Job& job) { return job.model >= 0; }},
      {"size limits", [](const Job& job) { return !job.rigid(); }},
      {"work", [](const Job& job) { return job.work > 0; }},
      {"priority", [](const Job& job) { return job.priority != 0; }},
      {"deadline", [](const Job& job) { return job.deadline != kNever; }},
      {"GPU types", [](const Job& job) { return job.gpu_types >= 0 || job.duration_type >= 0; }},
      {"memory", [](const Job& job) { return job.gpu_memory_gb > 0 || job.memory_gb > 0; }},
  };
  std::vector<std::string> left_out;
  for (const Property& property : properties) {
    const auto jobs = std::count_if(workload.jobs.begin(), workload.jobs.end(), property.has);
    if (jobs > 0) left_out.push_back(fmt::format("{} ({} of the jobs)", property.name, jobs));
  }
  return left_out;
}

}  // namespace

std::vector<std::string> WriteSwf(const Workload& workload,
                                  const std::optional<SwfMachine>& machine, std::ostream& out) {
  const std::vector<Job>& jobs = workload.jobs;
  out << "; Version: 2.2\n; Conversion: allot trace convert\n";
  out << fmt::format("; MaxJobs: {}\n; MaxRecords: {}\n", jobs.size(), jobs.size());
  if (machine) {
    out << fmt::format("; MaxNodes: {}\n; MaxProcs: {}\n", machine->nodes, machine->processors);
  }
  if (const auto start = ParseCalendar(workload.origin)) {
    out << fmt::format("; UnixStartTime: {}\n", *start);
  }
  out << "; Note: each processor is one GPU\n";
  const NumberedNames users(workload.users, "User", out);
  const NumberedNames groups(workload.groups, "Executable", out);
  const NumberedNames tenants(workload.tenants, "Queue", out);
  const bool own_ids = std::all_of(jobs.begin(), jobs.end(),
                                   [](const Job& job) { return PlainNumber(job.id).has_value(); });
  std::size_t number = 0, rounded = 0, unfinished = 0;
  for (const Job& job : jobs) {
    ++number;
    const double submit = std::round(job.submit);
    // What is not over has no run time yet.
    const double run_time = job.ended() ? std::max(1.0, std::round(job.duration)) : kUnknownNumber;
    unfinished += job.ended() ? 0 : 1;
    const bool waited = job.recorded_wait >= 0;
    const double wait = waited ? std::round(job.recorded_wait) : kUnknownNumber;
    const double limit = job.user_estimate > 0 ? std::ceil(job.user_estimate) : kUnknownNumber;
    const bool exact = submit == job.submit && (!job.ended() || run_time == job.duration) &&
                       (!waited || wait == job.recorded_wait) &&
                       (job.user_estimate == 0 || limit == job.user_estimate);
    rounded += exact ? 0 : 1;
    out << fmt::format("{} {:.0f} {:.0f} {:.0f} {} -1 -1 {} {:.0f} -1 {} {} -1 {} {} -1 -1 -1\n",
                       own_ids ? job.id : std::to_string(number), submit, wait, run_time, job.gpus,
                       job.gpus, limit, StatusOf(job.outcome), users.Of(job.user),
                       groups.Of(job.group), tenants.Of(job.tenant));
  }
  std::vector<std::string> notes;
  if (!own_ids) notes.emplace_back("SWF has numbers for jobs: the ids are left out");
  if (rounded > 0) {
    notes.push_back(
        fmt::format("SWF has whole seconds, and run times of 1 s at least: times of {} "
                    "of the jobs are rounded",
                    rounded));
  }
  if (unfinished > 0) {
    notes.push_back(fmt::format("{} of the jobs had not ended: their run time is -1", unfinished));
  }
  if (const auto left_out = LeftOut(workload); !left_out.empty()) {
    notes.push_back(
        fmt::format("SWF has no field for, and the file is without: {}", Join(left_out, ", ")));
  }
  return notes;
}

}  // namespace allot
