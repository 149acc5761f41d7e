// allot doctor: what is wrong with an installation.

#include <cstdio>

#include "cli/command.h"
#include "cli/state_folder.h"
#include "core/json_text.h"
#include "core/strings.h"
#include "live/health/health_check.h"

namespace allot {
namespace {

using Json = nlohmann::ordered_json;

int Count(const std::vector<HealthFinding>& findings, Health health) {
  int count = 0;
  for (const HealthFinding& one : findings) count += one.health == health ? 1 : 0;
  return count;
}

void PrintText(const HealthPlace& place, const std::vector<HealthFinding>& findings) {
  std::printf("state %s, runtime %s\n", place.state.c_str(),
              place.runtime.value_or("not known").c_str());
  for (const HealthFinding& one : findings) {
    const std::string name(HealthName(one.health));
    std::printf("%-6s %-18s %s\n", name.c_str(), one.check.c_str(), one.seen.c_str());
    if (!one.advice.empty()) std::printf("%-25s -> %s\n", "", one.advice.c_str());
  }
  const int unchecked = Count(findings, Health::kUnchecked);
  std::printf("%d fine, %d to check, %d wrong%s\n", Count(findings, Health::kFine),
              Count(findings, Health::kWarn), Count(findings, Health::kWrong),
              unchecked == 0 ? "" : fmt::format(", {} not checked", unchecked).c_str());
}

void PrintJson(const HealthPlace& place, const std::vector<HealthFinding>& findings) {
  Json checks = Json::array();
  for (const HealthFinding& one : findings) {
    checks.push_back({{"check", one.check},
                      {"health", HealthName(one.health)},
                      {"seen", one.seen},
                      {"advice", one.advice}});
  }
  const Json json = {{"state", place.state.string()},
                     {"runtime", place.runtime.value_or("")},
                     {"wrong", Count(findings, Health::kWrong)},
                     {"checks", std::move(checks)}};
  std::printf("%s\n", JsonText(json).c_str());
}

int Doctor(const std::string& state, const std::string& runtime, const std::string& only,
           const GlobalOptions& globals) {
  HealthPlace place{FindStateFolder(state), runtime};
  if (runtime.empty()) place.runtime = LastRuntimeIn(place.state);
  const std::vector<HealthFinding> findings = RunHealthChecks(place, only);
  globals.json ? PrintJson(place, findings) : PrintText(place, findings);
  return static_cast<int>(Count(findings, Health::kWrong) == 0 ? ExitCode::kOk
                                                               : ExitCode::kCheckFailed);
}

ALLOT_REGISTER(CommandInfo,
               (CommandInfo{
                   "doctor", "check an installation, with advice on faults",
                   [](CommandLine& line, const GlobalOptions& globals) {
                     auto state = std::make_shared<std::string>();
                     auto runtime = std::make_shared<std::string>();
                     auto only = std::make_shared<std::string>();
                     line.Option("--state", *state, kStateHelp);
                     line.Option(
                         "--runtime", *runtime,
                         "the cluster, as for 'allot serve' [that of the last daemon in the "
                         "folder]");
                     line.Option("--only", *only,
                                 "one group of checks: " +
                                     Join(Registry<HealthGroup>::Global().ids(), ", ") + " [all]");
                     return [=, &globals] { return Doctor(*state, *runtime, *only, globals); };
                   }}));

}  // namespace
}  // namespace allot
