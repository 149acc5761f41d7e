#include "live/runtimes/job_options.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <nlohmann/json.hpp>
#include <type_traits>
#include <utility>

#include "core/duration_text.h"
#include "core/error.h"
#include "core/strings.h"
#include "perf/size_rule.h"

namespace allot {
namespace {

using Json = nlohmann::ordered_json;

// Limits on what a user may request, because other jobs wait for the GPUs meanwhile.
constexpr Seconds kLongestOwnCooldown = 3600;
constexpr Seconds kLongestOwnGrace = 300;

// ---- users' texts ----

GpuCount GpusIn(const OptionText& given) {
  const auto value = ParseInteger(given.text);
  if (!value || *value < 1 || *value > kMostGpusAsked) {
    throw DataError("{} must be a whole number of GPUs from 1 to {}, got '{}'", given.where,
                    kMostGpusAsked, given.text);
  }
  return static_cast<GpuCount>(*value);
}

Seconds TimeIn(const OptionText& given, Seconds longest) {
  const auto seconds = ParseDuration(given.text);
  if (!seconds || *seconds < 0 || *seconds > longest) {
    throw DataError("{} must be {}, from 0 to {} s, got '{}'", given.where, kDurationForms, longest,
                    given.text);
  }
  return *seconds;
}

// True for the first of two words, false for the second.
bool IsFirstOf(const char* first, const char* second, const OptionText& given) {
  if (given.text != first && given.text != second) {
    throw DataError("{} must be {} or {}, got '{}'", given.where, first, second, given.text);
  }
  return given.text == first;
}

std::string ModelIn(const OptionText& given) {
  const bool good = !given.text.empty() && given.text.size() <= 64 &&
                    std::all_of(given.text.begin(), given.text.end(), [](char c) {
                      return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
                             (c >= '0' && c <= '9') || c == '_' || c == '-' || c == '.';
                    });
  if (!good) {
    throw DataError("{} must be 1 to 64 letters, digits, '_', '-' or '.', got '{}'", given.where,
                    given.text);
  }
  return given.text;
}

double WorkIn(const OptionText& given) {
  const auto value = ParseNumber(given.text);
  if (!value || *value <= 0) {
    throw DataError("{} must be a number > 0, got '{}'", given.where, given.text);
  }
  return *value;
}

double CommShareIn(const OptionText& given) {
  const auto value = ParseNumber(given.text);
  if (!value || !(*value >= 0 && static_cast<float>(*value) < 1)) {  // policies read a float
    throw DataError("{} must be a number from 0 to below 1, got '{}'", given.where, given.text);
  }
  return *value;
}

// ---- values of records ----

constexpr std::array<std::string_view, 3> kResizeModes = {"hot", "restart", "parallelism"};

template <typename Value>
Json OptionRecord(const Value& value) {
  return value;
}
Json OptionRecord(double value) { return std::isfinite(value) ? Json(value) : Json(); }
Json OptionRecord(const std::optional<std::string>& text) { return text.value_or(""); }
Json OptionRecord(ResizeMode mode) { return kResizeModes[static_cast<std::size_t>(mode)]; }

template <typename Value>
void TakeOption(const Json& record, Value* value) {
  *value = record.get<Value>();
}
void TakeOption(const Json& record, double* value) {
  *value = record.is_null() ? kUnknown : record.get<double>();
}
void TakeOption(const Json& record, std::optional<std::string>* text) {
  if (*text = record.get<std::string>(); (*text)->empty()) text->reset();
}
void TakeOption(const Json& record, ResizeMode* mode) {
  const auto name = record.get<std::string>();
  const auto known = std::find(kResizeModes.begin(), kResizeModes.end(), name);
  if (known != kResizeModes.end()) *mode = ResizeMode(known - kResizeModes.begin());
}

// ---- the table ----

// `read`: the value of an option's text.
template <typename Value>
JobOption Option(std::string key, std::string recorded_as, JobOption::Recorded recorded,
                 Value RuntimeJob::*field, std::string summary,
                 std::function<std::type_identity_t<Value>(const OptionText&)> read) {
  JobOption option;
  option.key = std::move(key);
  option.recorded_as = std::move(recorded_as);
  option.recorded = recorded;
  option.summary = std::move(summary);
  option.read = [field, read = std::move(read)](const OptionText& given, RuntimeJob* job) {
    job->*field = read(given);
  };
  option.value = [field](const RuntimeJob& job) { return OptionRecord(job.*field); };
  option.set = [field](const Json& value, RuntimeJob* job) { TakeOption(value, &(job->*field)); };
  return option;
}

std::vector<JobOption> MakeJobOptions() {
  using enum JobOption::Recorded;
  return {
      Option("gpus", "gpus", kAlways, &RuntimeJob::requested, "GPUs asked for; default: min",
             GpusIn),
      Option("min", "min_gpus", kAlways, &RuntimeJob::min_gpus, "GPUs at least; default: 1",
             GpusIn),
      Option("max", "max_gpus", kAlways, &RuntimeJob::max_gpus,
             "GPUs at most; default: as many as it asks for", GpusIn),
      Option("types", "gpu_types", kAddedLater, &RuntimeJob::gpu_types,
             "GPU types that it accepts, a100|v100; default: any",
             [](const OptionText& given) { return GpuTypesFrom(given.text, given.where); }),
      Option("resize", "resize", kAlways, &RuntimeJob::mode,
             "hot: while it trains, restart: by a stop, with a checkpoint; default: hot",
             [](const OptionText& given) {
               return IsFirstOf("hot", "restart", given) ? ResizeMode::kHot : ResizeMode::kRestart;
             }),
      Option("model", "model", kAlways, &RuntimeJob::model,
             "profile of the catalogue; default: a prior, until it is measured", ModelIn),
      Option("work", "total_work", kAddedLater, &RuntimeJob::total_work,
             "in all, in the unit of its progress; default: as its program says", WorkIn),
      Option("comm_share", "comm_share", kWhereSaid, &RuntimeJob::comm_share,
             "part of an iteration in which its GPUs communicate, from 0 to below 1; default: 0",
             CommShareIn),
      Option("preempt", "preempt", kWhereSaid, &RuntimeJob::preempt,
             "no: left alone once it runs, with resize=restart; default: yes",
             [](const OptionText& given) { return IsFirstOf("yes", "no", given); }),
      Option("sizes", "sizes", kWhereSaid, &RuntimeJob::sizes,
             "numbers of GPUs that it may be given: powers-of-two, node-multiples, 1|2|4; default: "
             "any from min to max",
             [](const OptionText& given) {
               return SizeRule::Parse(given.text, given.where).ToString();
             }),
      Option("cooldown", "cooldown", kWhereSaid, &RuntimeJob::cooldown,
             "so long it keeps what it was given, at most an hour; default: as the operator says",
             [](const OptionText& given) { return TimeIn(given, kLongestOwnCooldown); }),
      Option("grace", "grace", kWhereSaid, &RuntimeJob::grace,
             "from the notice to stop to the end by force, at most 5m; default: as the operator "
             "says",
             [](const OptionText& given) { return TimeIn(given, kLongestOwnGrace); }),
  };
}

// What no option says alone.
void CheckOptionsTogether(const RuntimeJob& job, std::string_view where, std::string_view prefix) {
  if (job.min_gpus > job.max_gpus) {
    throw DataError("{0}: '{1}min' must be at most '{1}max', got {2} and {3}", where, prefix,
                    job.min_gpus, job.max_gpus);
  }
  if (job.requested < job.min_gpus || job.requested > job.max_gpus) {
    throw DataError("{0}: '{1}gpus' must be between '{1}min' {2} and '{1}max' {3}, got {4}", where,
                    prefix, job.min_gpus, job.max_gpus, job.requested);
  }
  if (!job.preempt && job.mode == ResizeMode::kHot) {
    throw DataError(
        "{0}: '{1}preempt=no' is for jobs with '{1}resize=restart', this one is resized while it "
        "trains",
        where, prefix);
  }
}

}  // namespace

const std::vector<JobOption>& JobOptions() {
  static const std::vector<JobOption> options = MakeJobOptions();
  return options;
}

const std::vector<std::string>& JobOptionKeys() {
  static const std::vector<std::string> keys = [] {
    std::vector<std::string> all;
    for (const JobOption& option : JobOptions()) all.push_back(option.key);
    std::sort(all.begin(), all.end());
    return all;
  }();
  return keys;
}

void ReadJobOptions(const std::map<std::string, std::string>& given, std::string_view where,
                    std::string_view prefix, RuntimeJob* job) {
  RuntimeJob read = *job;
  for (const JobOption& option : JobOptions()) {
    const auto found = given.find(option.key);
    if (found == given.end()) continue;
    option.read({found->second, fmt::format("{}: '{}{}'", where, prefix, option.key)}, &read);
  }
  // Missing numbers of GPUs follow from the given ones.
  const bool asks = given.contains("gpus");
  if (!given.contains("max")) read.max_gpus = std::max(read.min_gpus, asks ? read.requested : 1);
  if (!asks) read.requested = read.min_gpus;
  CheckOptionsTogether(read, where, prefix);
  *job = std::move(read);
}

bool AskTheSame(const RuntimeJob& a, const RuntimeJob& b) {
  return std::all_of(JobOptions().begin(), JobOptions().end(),
                     [&](const JobOption& option) { return option.value(a) == option.value(b); });
}

void KeepJobOptions(const RuntimeJob& from, RuntimeJob* job) {
  for (const JobOption& option : JobOptions()) option.set(option.value(from), job);
}

void RecordJobOptions(const RuntimeJob& job, Json* record) {
  static const RuntimeJob nothing_said;
  for (const JobOption& option : JobOptions()) {
    Json value = option.value(job);
    const bool said = value != option.value(nothing_said);
    if (option.recorded == JobOption::Recorded::kWhereSaid && !said) continue;
    (*record)[option.recorded_as] = std::move(value);
  }
}

void TakeJobOptions(const Json& record, RuntimeJob* job) {
  for (const JobOption& option : JobOptions()) {
    const bool must = option.recorded == JobOption::Recorded::kAlways;
    if (must || record.contains(option.recorded_as)) {
      option.set(record.at(option.recorded_as), job);
    }
  }
}

}  // namespace allot
