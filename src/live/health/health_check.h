#pragma once
// The checks of 'allot doctor'. A group of checks is a file that registers a HealthGroup. Checks
// are small functions, each with a name; they change nothing.

#include <exception>
#include <filesystem>
#include <functional>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/params.h"
#include "core/registry.h"

namespace allot {

// kUnchecked: the subject of the check is missing, which another check reports.
enum class Health { kFine, kWarn, kWrong, kUnchecked };

struct HealthFinding {
  std::string check;  // "slurm.version"
  Health health = Health::kFine;
  std::string seen;    // what was found; both values if two disagree
  std::string advice;  // "" if it is fine
};

inline HealthFinding FoundFine(std::string seen) {
  return {"", Health::kFine, std::move(seen), ""};
}
inline HealthFinding FoundWarn(std::string seen, std::string advice) {
  return {"", Health::kWarn, std::move(seen), std::move(advice)};
}
inline HealthFinding FoundWrong(std::string seen, std::string advice) {
  return {"", Health::kWrong, std::move(seen), std::move(advice)};
}
inline HealthFinding FoundUnchecked(std::string because) {
  return {"", Health::kUnchecked, "not checked: " + std::move(because), ""};
}

// The installation that is checked.
struct HealthPlace {
  std::filesystem::path state;         // the daemon's folder
  std::optional<std::string> runtime;  // as for 'allot serve --runtime'; nullopt if unknown
};

// A check of a group whose checks read the same `Facts`. If `run` throws, the finding is wrong,
// with the text of the exception.
template <typename Facts>
struct HealthCheck {
  const char* name;
  HealthFinding (*run)(const Facts& facts);
};

template <typename Facts, std::size_t kChecks>
std::vector<HealthFinding> RunChecks(const HealthCheck<Facts> (&checks)[kChecks],
                                     const Facts& facts) {
  std::vector<HealthFinding> findings;
  findings.reserve(kChecks);
  for (const HealthCheck<Facts>& check : checks) {
    try {
      findings.push_back(check.run(facts));
    } catch (const std::exception& error) {
      findings.push_back(FoundWrong(error.what(), "see the message"));
    }
    findings.back().check = check.name;
  }
  return findings;
}

// Findings of checks that cannot run. They share one cause, `because`, and so do not count as
// wrong.
template <typename Facts, std::size_t kChecks>
std::vector<HealthFinding> SkipChecks(const HealthCheck<Facts> (&checks)[kChecks],
                                      const std::string& because) {
  std::vector<HealthFinding> findings(kChecks, FoundUnchecked(because));
  for (std::size_t c = 0; c < kChecks; ++c) findings[c].check = checks[c].name;
  return findings;
}

struct HealthGroup {
  std::string id;
  std::string summary;
  int order = 0;                         // position among the groups
  std::optional<std::string> runtime{};  // id of the only runtime that it is for
  bool only_if_named = false;            // no part of a check of everything
  // `params` are that runtime's.
  std::function<std::vector<HealthFinding>(const HealthPlace&, const Params& params)> run;
};

// Runs all groups for this place, or the one with the id `only`. UsageError if this build does not
// know its runtime, or if the runtime has no such group.
std::vector<HealthFinding> RunHealthChecks(const HealthPlace& place, const std::string& only = "");

// True for a folder that this user can read.
bool CanRead(const std::filesystem::path& folder);

// The runtime of the daemon that serves the folder or served it last; nullopt if none did.
std::optional<std::string> LastRuntimeIn(const std::filesystem::path& state);

std::string_view HealthName(Health health);  // "fine", "warn", "wrong", "skip"

}  // namespace allot
