#include "live/health/health_check.h"

#include <algorithm>
#include <fstream>
#include <iterator>

#include "core/user_json.h"
#include "live/runtimes/runtime.h"
#include "live/state/standby_note.h"

namespace allot {

std::vector<HealthFinding> Examine(const HealthPlace& place) {
  std::vector<HealthFinding> findings;
  Params params;
  std::string runtime;
  if (place.runtime.empty()) {
    findings.push_back(FoundWarn("it is not known which cluster this daemon is for",
                                 "name it: --runtime slurm, or kubernetes with its parameters"));
    findings.back().check = "runtime";
  } else {
    const NamedParams named = ParseNamedParams(place.runtime);
    const RuntimeInfo& info = Registry<RuntimeInfo>::Global().Get("runtime", named.name);
    params = Params(fmt::format("runtime '{}'", info.id), info.params, named.given);
    runtime = info.id;
  }
  std::vector<const HealthGroup*> groups;
  for (const HealthGroup& group : Registry<HealthGroup>::Global().entries()) {
    if (group.runtime.empty() || group.runtime == runtime) groups.push_back(&group);
  }
  std::stable_sort(groups.begin(), groups.end(),
                   [](const HealthGroup* a, const HealthGroup* b) { return a->order < b->order; });
  for (const HealthGroup* group : groups) {
    std::vector<HealthFinding> of_group = group->look(place, params);
    std::move(of_group.begin(), of_group.end(), std::back_inserter(findings));
  }
  return findings;
}

std::string LastRuntimeIn(const std::filesystem::path& state) {
  if (const auto standby = StandbyIn(state)) return standby->runtime;
  std::ifstream journal(state / "journal.jsonl");
  std::string line, runtime;
  while (std::getline(journal, line)) {
    if (line.find("\"serve\"") == std::string::npos) continue;
    try {
      const auto record = ParseUserJson<nlohmann::json>(line);
      if (record.value("what", "") == "serve") runtime = record.value("runtime", runtime);
    } catch (const std::exception&) {
      continue;  // the check of the journal tells that
    }
  }
  return runtime;
}

std::string_view HealthName(Health health) {
  constexpr std::string_view kNames[] = {"fine", "warn", "wrong", "skip"};
  return kNames[static_cast<std::size_t>(health)];
}

}  // namespace allot
