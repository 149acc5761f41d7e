#pragma once
// A profile: a named set of simulator options, and what the names of policies mean in that world.
// What distinguishes one system from another is here as data, never as a branch in the engine.

#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "core/registry.h"
#include "sim/scenario.h"

namespace allot {

struct ProfileInfo {
  std::string id;
  std::string summary;
  std::function<void(SimOptions*)> apply;
  // Policy specs by the name that the system has for them, and under NAME-repaired what allot would
  // have in its place (work-conserving, backfilling); other names mean allot's own policies.
  std::map<std::string, std::string> policies{};
  // What is compared where nobody names policies, joined by commas; "": as ComparedUnder says.
  std::string compared{};
  // The profile whose networks and tuned policies serve here too, where it is another.
  std::string same_policies_as{};

  // What a policy's parameter `world` is here.
  const std::string& policy_world() const {
    return same_policies_as.empty() ? id : same_policies_as;
  }
};

// The profile where nobody names one.
inline constexpr const char* kDefaultProfile = "default";

// What a policy spec means under a profile: the profile's spec for that name, overlaid with the
// parameters given. Specs of other names come back as they are, but for those of policies with a
// parameter `world`, which is policy_world() where it is not given.
std::string PolicySpecUnder(const ProfileInfo& profile, std::string_view spec);

// The files and folders that the spec names, as the profile means it.
std::vector<std::string> FilesOfPolicyUnder(const ProfileInfo& profile, const std::string& spec);

// What an honest comparison names of a policy: NAME-repaired where the profile has one. Of a spec
// with parameters the name changes and they stay.
std::string RepairedUnder(const ProfileInfo& profile, const std::string& spec);

// What is compared where nobody names policies: the well-known ones, and the strongest rules that
// are not learned.
inline constexpr const char* kComparedPolicies[] = {
    "fifo", "las", "srtf", "drf", "optimus", "index", "srtf:sizing=hull"};
// The same, joined by commas: as it stands, and under a profile: its own list, or else as
// RepairedUnder names them.
std::string ComparedPolicies();
std::string ComparedUnder(const ProfileInfo& profile);

}  // namespace allot
