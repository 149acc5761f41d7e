#include "live/health/health_check.h"

#include <algorithm>
#include <fstream>
#include <iterator>

#include "core/user_json.h"
#include "live/runtimes/runtime.h"
#include "live/state/standby_note.h"

namespace allot {

std::vector<HealthFinding> RunHealthChecks(const HealthPlace& place, const std::string& only) {
  std::vector<HealthFinding> findings;
  Params params;
  std::string runtime;
  if (!place.runtime) {
    findings.push_back(FoundWarn("the runtime of this daemon is unknown",
                                 "name it: --runtime slurm, or kubernetes with its parameters"));
    findings.back().check = "runtime";
  } else {
    const NamedParams named = ParseNamedParams(*place.runtime);
    const RuntimeInfo& info = Registry<RuntimeInfo>::Global().Get("runtime", named.name);
    params = Params(fmt::format("runtime '{}'", info.id), info.params, named.given);
    runtime = info.id;
  }
  std::vector<const HealthGroup*> groups;
  for (const HealthGroup& group : Registry<HealthGroup>::Global().entries()) {
    const bool applies = !group.runtime || group.runtime == runtime;
    const bool wanted = only.empty() ? !group.only_if_named : group.id == only;
    if (applies && wanted) groups.push_back(&group);
  }
  if (groups.empty() && !place.runtime) return findings;
  if (groups.empty()) throw UsageError("runtime '{}' has no group of checks '{}'", runtime, only);
  std::stable_sort(groups.begin(), groups.end(),
                   [](const HealthGroup* a, const HealthGroup* b) { return a->order < b->order; });
  for (const HealthGroup* group : groups) {
    std::vector<HealthFinding> of_group = group->run(place, params);
    std::move(of_group.begin(), of_group.end(), std::back_inserter(findings));
  }
  return findings;
}

std::optional<std::string> LastRuntimeIn(const std::filesystem::path& state) {
  if (const auto standby = StandbyIn(state)) return standby->runtime;
  std::ifstream journal(state / "journal.jsonl");
  std::string line;
  std::optional<std::string> runtime;
  while (std::getline(journal, line)) {
    if (line.find("\"serve\"") == std::string::npos) continue;
    try {
      const auto record = ParseUserJson<nlohmann::json>(line);
      if (record.value("what", "") == "serve") runtime = record.at("runtime").get<std::string>();
    } catch (const std::exception&) {
      continue;  // the check of the journal reports damage
    }
  }
  return runtime;
}

std::string_view HealthName(Health health) {
  constexpr std::string_view kNames[] = {"fine", "warn", "wrong", "skip"};
  return kNames[static_cast<std::size_t>(health)];
}

}  // namespace allot
