#include "live/job_options.h"

#include <algorithm>

#include "core/duration_text.h"
#include "core/error.h"
#include "core/strings.h"
#include "perf/size_rule.h"

namespace allot {
namespace {

bool IsModelName(std::string_view text) {
  return !text.empty() && text.size() <= 64 && std::all_of(text.begin(), text.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '-' || c == '.';
  });
}

}  // namespace

const std::vector<std::string>& JobOptionKeys() {
  static const std::vector<std::string> keys = {"cooldown", "gpus",  "grace",   "max",
                                                "min",      "model", "preempt", "resize",
                                                "sizes",    "types", "work"};
  return keys;
}

void JobOptions::WriteTo(RuntimeJob* job) const {
  job->min_gpus = min_gpus;
  job->max_gpus = max_gpus;
  job->requested = requested;
  job->mode = mode;
  job->sizes = sizes;
  job->cooldown = cooldown;
  job->grace = grace;
  job->gpu_types = gpu_types;
  job->model = model;
  job->total_work = total_work;
  job->preempt = preempt;
}

JobOptions JobOptionsFrom(const std::map<std::string, std::string>& given, std::string_view where,
                          std::string_view prefix) {
  const auto gpus = [&](const char* key, GpuCount otherwise) {
    const auto found = given.find(key);
    if (found == given.end()) return otherwise;
    const auto value = ParseInteger(found->second);
    if (!value || *value < 1 || *value > kMostGpusAsked) {
      throw DataError("{}: '{}{}' must be a whole number of GPUs from 1 to {}, got '{}'", where,
                      prefix, key, kMostGpusAsked, found->second);
    }
    return static_cast<GpuCount>(*value);
  };

  JobOptions options;
  options.min_gpus = gpus("min", 1);
  options.max_gpus = gpus("max", std::max(options.min_gpus, gpus("gpus", 1)));
  options.requested = gpus("gpus", options.min_gpus);
  if (options.min_gpus > options.max_gpus) {
    throw DataError("{0}: '{1}min' must be at most '{1}max', got {2} and {3}", where, prefix,
                    options.min_gpus, options.max_gpus);
  }
  if (options.requested < options.min_gpus || options.requested > options.max_gpus) {
    throw DataError("{0}: '{1}gpus' must be between '{1}min' {2} and '{1}max' {3}, got {4}", where,
                    prefix, options.min_gpus, options.max_gpus, options.requested);
  }
  if (const auto sizes = given.find("sizes"); sizes != given.end()) {
    options.sizes =
        SizeRule::Parse(sizes->second, fmt::format("{}: '{}sizes'", where, prefix)).ToString();
  }
  const auto time = [&](const char* key, Seconds longest) {
    const auto found = given.find(key);
    if (found == given.end()) return 0.0;
    const auto seconds = ParseDuration(found->second);
    if (!seconds || *seconds < 0 || *seconds > longest) {
      throw DataError("{}: '{}{}' must be a time from 0 to {} s, like 90 or 2m, got '{}'", where,
                      prefix, key, longest, found->second);
    }
    return *seconds;
  };
  options.cooldown = time("cooldown", kLongestOwnCooldown);
  options.grace = time("grace", kLongestOwnGrace);
  if (const auto types = given.find("types"); types != given.end()) {
    options.gpu_types = GpuTypesFrom(types->second, fmt::format("{}: '{}types'", where, prefix));
  }
  if (const auto model = given.find("model"); model != given.end()) {
    if (!IsModelName(model->second)) {
      throw DataError("{}: '{}model' must be 1 to 64 letters, digits, '_', '-' or '.', got '{}'",
                      where, prefix, model->second);
    }
    options.model = model->second;
  }
  if (const auto resize = given.find("resize"); resize != given.end()) {
    if (resize->second != "hot" && resize->second != "restart") {
      throw DataError("{}: '{}resize' must be hot or restart, got '{}'", where, prefix,
                      resize->second);
    }
    options.mode = resize->second == "hot" ? ResizeMode::kHot : ResizeMode::kRestart;
  }
  if (const auto preempt = given.find("preempt"); preempt != given.end()) {
    if (preempt->second != "yes" && preempt->second != "no") {
      throw DataError("{}: '{}preempt' must be yes or no, got '{}'", where, prefix,
                      preempt->second);
    }
    options.preempt = preempt->second == "yes";
    if (!options.preempt && options.mode == ResizeMode::kHot) {
      throw DataError(
          "{0}: '{1}preempt=no' is for jobs with '{1}resize=restart', this one is resized while it "
          "trains",
          where, prefix);
    }
  }
  if (const auto work = given.find("work"); work != given.end()) {
    const auto value = ParseNumber(work->second);
    if (!value || *value <= 0) {
      throw DataError("{}: '{}work' must be a number > 0, got '{}'", where, prefix, work->second);
    }
    options.total_work = *value;
  }
  return options;
}

}  // namespace allot
