// What World tells people about its inputs: what reading left out, overload, options without
// effect.

#include <algorithm>
#include <filesystem>

#include "cluster/cluster_format.h"
#include "experiment/world.h"
#include "perf/load_by_type.h"

namespace allot {

std::string World::ReadNote() const {
  return allot::ReadNote(spec_.workload, read_report_) +
         (in_settings() ? "" : ClusterNote(spec_.cluster));
}

std::optional<ReadReport> World::ClusterReport() const {
  std::error_code ignored;  // a text that cannot be a path is simply no file
  if (in_settings() || !std::filesystem::is_regular_file(spec_.cluster, ignored)) {
    return std::nullopt;
  }
  ReadReport report;
  ReadCluster(spec_.cluster, &report);
  return report;
}

std::string World::OverloadHint(const std::vector<Named>& scenarios) const {
  if (in_settings()) return "";
  std::vector<TypeLoad> loads;  // where one type is asked for most
  for (const Named& named : scenarios) {
    std::vector<TypeLoad> here =
        LoadByType(named.scenario->workload(), named.scenario->cluster().type_specs());
    const TypeLoad* const most = MostLoaded(here);
    const TypeLoad* const known = MostLoaded(loads);
    if (most == nullptr || most->demand <= 1) continue;
    if (known == nullptr || most->demand > known->demand) loads = std::move(here);
  }
  if (const TypeLoad* const most = MostLoaded(loads)) {
    return fmt::format(
        "note: jobs ask for {:.2f} times the GPU time that the {} GPUs of type '{}' have while "
        "jobs "
        "are submitted: their queue grows\n      (by type: {})\n",
        most->demand, most->gpus, most->type, LoadsInWords(loads));
  }
  double highest = 0;
  for (const Named& named : scenarios) highest = std::max(highest, named.load);
  if (!spec_.loads.empty() || highest < 3) return "";
  return fmt::format(
      "note: the workload offers {:.1f} times what {} can serve, most jobs will only queue;\n"
      "      --load 1.0 takes a sub-sample that fits, --cluster gives more GPUs\n",
      highest, spec_.cluster);
}

std::string World::UselessOptionsHint(const std::vector<Named>& scenarios) const {
  if (in_settings()) return "";
  std::string hint;
  const auto none_limited = [](const Named& named) {
    return CountTimeLimits(named.scenario->workload()).limited == 0;
  };
  if (spec_.lengths == "user" && std::all_of(scenarios.begin(), scenarios.end(), none_limited)) {
    hint += fmt::format(
        "warning: --length-estimates user: no job of '{}' has a time limit, so that all jobs count "
        "as equally long\n",
        spec_.workload);
  }
  const OperatorRules* const rules = scenarios.front().scenario->options().rules.get();
  if (rules == nullptr) return hint;
  for (const Guarantee& guarantee : rules->guarantees()) {
    const auto names_it = [&](const Named& named) {
      return named.scenario->workload().tenants.Find(guarantee.account) >= 0;
    };
    if (std::any_of(scenarios.begin(), scenarios.end(), names_it)) continue;
    hint += fmt::format(
        "warning: {}: no job of '{}' is of account '{}', so that its guarantee of "
        "{} GPUs has no effect\n",
        spec_.rules, spec_.workload, guarantee.account, guarantee.gpus);
  }
  return hint;
}

}  // namespace allot
