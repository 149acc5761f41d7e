#pragma once
// What 'allot doctor' looks at. A group of checks is a file that registers a HealthGroup; it finds
// things as they are and changes nothing. A check is one small function with a name of its own.

#include <exception>
#include <filesystem>
#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "core/params.h"
#include "core/registry.h"

namespace allot {

// kUnchecked: what it would look at is not there, which another check says.
enum class Health { kFine, kWarn, kWrong, kUnchecked };

struct HealthFinding {
  std::string check;  // "slurm.version"
  Health health = Health::kFine;
  std::string seen;    // with both values where two disagree
  std::string advice;  // "" where it is fine
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
inline HealthFinding FoundNothing(std::string because) {
  return {"", Health::kUnchecked, "not checked: " + std::move(because), ""};
}

// What is examined.
struct HealthPlace {
  std::filesystem::path state;  // the daemon's folder
  std::string runtime;          // as of 'allot serve --runtime'; "": not known
};

// Of checks that look at the same `Facts`, in their order. One that throws is wrong, in its words.
template <typename Facts>
struct HealthCheck {
  const char* name;
  HealthFinding (*look)(const Facts& facts);
};

template <typename Facts, std::size_t kChecks>
std::vector<HealthFinding> LookAt(const HealthCheck<Facts> (&checks)[kChecks], const Facts& facts) {
  std::vector<HealthFinding> findings;
  findings.reserve(kChecks);
  for (const HealthCheck<Facts>& check : checks) {
    try {
      findings.push_back(check.look(facts));
    } catch (const std::exception& error) {
      findings.push_back(FoundWrong(error.what(), "see the message"));
    }
    findings.back().check = check.name;
  }
  return findings;
}

// Of checks that cannot look: `because` is one cause, which is not told again as if each were
// wrong.
template <typename Facts, std::size_t kChecks>
std::vector<HealthFinding> LeaveOut(const HealthCheck<Facts> (&checks)[kChecks],
                                    const std::string& because) {
  std::vector<HealthFinding> findings(kChecks, FoundNothing(because));
  for (std::size_t c = 0; c < kChecks; ++c) findings[c].check = checks[c].name;
  return findings;
}

struct HealthGroup {
  std::string id;
  std::string summary;
  int order = 0;          // of the groups, as they are shown
  std::string runtime{};  // id of the runtime that it is for; "": all
  // `params` of that runtime.
  std::function<std::vector<HealthFinding>(const HealthPlace&, const Params& params)> look;
};

// All groups for this place, and whether its runtime is one that this build knows.
std::vector<HealthFinding> Examine(const HealthPlace& place);

// Whether it is a folder that this user can read.
bool CanLookInto(const std::filesystem::path& folder);

// That of the daemon that serves the folder, or served it last; "": none did.
std::string LastRuntimeIn(const std::filesystem::path& state);

std::string_view HealthName(Health health);  // "fine", "warn", "wrong", "skip"

}  // namespace allot
