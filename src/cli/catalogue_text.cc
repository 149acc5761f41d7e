#include "cli/catalogue_text.h"

#include <fmt/ranges.h>

#include <nlohmann/json.hpp>

#include "metrics/humanise.h"
#include "metrics/table.h"
#include "perf/catalogue_explanation.h"

namespace allot {
namespace {

using Json = nlohmann::ordered_json;

std::string OrNone(const std::string& text) { return text.empty() ? "-" : text; }

std::string TypesText(const CatalogueCoverage& coverage, const Catalogue& catalogue, bool jobs) {
  std::vector<TextTable::Column> columns = {
      {"GPU type", TextTable::Align::kLeft}, {"profiles"}, {"GPUs measured"}, {"nodes"}, {"pairs"}};
  if (jobs) columns.insert(columns.end(), {{"jobs that fit"}, {"only on fewer GPUs"}});
  TextTable table(std::move(columns));
  for (const TypeCoverage& type : coverage.types) {
    std::vector<std::string> cells = {
        type.gpu_type, fmt::format("{} of {}", type.profiles.size(), catalogue.models().size()),
        OrNone(fmt::format("{}", fmt::join(type.sizes, " "))),
        OrNone(fmt::format("{}", fmt::join(type.spans, " "))), std::to_string(type.pairs)};
    if (jobs) {
      cells.push_back(HumanCount(type.jobs));
      cells.push_back(HumanCount(type.jobs_larger));
    }
    table.AddRow(std::move(cells));
  }
  return table.ToText();
}

std::string ProfilesText(const CatalogueCoverage& coverage) {
  std::vector<TextTable::Column> columns = {
      {"profile", TextTable::Align::kLeft}, {"reference", TextTable::Align::kLeft}, {"GPUs"}};
  for (const TypeCoverage& type : coverage.types) columns.push_back({type.gpu_type});
  TextTable table(std::move(columns));
  for (const ProfileCoverage& profile : coverage.profiles) {
    std::vector<std::string> cells = {profile.profile, profile.reference,
                                      std::to_string(profile.gpus)};
    for (const double speed : profile.speeds) {
      cells.push_back(speed > 0 ? HumanFixed(speed, 3) : "-");
    }
    table.AddRow(std::move(cells));
  }
  table.AddNote("Speeds are relative to the profile's fastest type, at the GPUs given.");
  table.AddNote("-: not measured. No job of the profile runs there.");
  return table.ToText();
}

}  // namespace

std::string CatalogueText(const Catalogue& catalogue, const std::string& name,
                          const Workload* workload) {
  CatalogueCoverage coverage = CoverageOf(catalogue);
  const JobFit fit = workload == nullptr ? JobFit{} : FitJobs(catalogue, *workload, &coverage);
  std::string text = fmt::format("Throughput table '{}': {} profiles, {} GPU types\n\n", name,
                                 catalogue.models().size(), coverage.types.size());
  text += TypesText(coverage, catalogue, workload != nullptr) + "\n";
  if (!coverage.profiles.empty()) text += ProfilesText(coverage);
  if (!coverage.without_types.empty()) {
    text +=
        fmt::format("\nEqually fast on every type: {}\n", fmt::join(coverage.without_types, ", "));
  }
  if (workload == nullptr) return text;
  const auto jobs = static_cast<std::int64_t>(workload->jobs.size());
  text += fmt::format(
      "\nOf {} jobs {} name no profile and run anywhere; {} fit every type; {} fit none{}\n",
      HumanCount(jobs), HumanCount(fit.without_profile), HumanCount(fit.on_all),
      HumanCount(fit.on_none), fit.example.empty() ? "" : " (first: " + fit.example + ")");
  return text;
}

nlohmann::ordered_json CatalogueJson(const Catalogue& catalogue, const std::string& name,
                                     const Workload* workload) {
  CatalogueCoverage coverage = CoverageOf(catalogue);
  const JobFit fit = workload == nullptr ? JobFit{} : FitJobs(catalogue, *workload, &coverage);
  Json types = Json::array();
  for (const TypeCoverage& type : coverage.types) {
    types.push_back({{"gpu_type", type.gpu_type},
                     {"profiles", type.profiles},
                     {"gpus", type.sizes},
                     {"nodes", type.spans},
                     {"pairs", type.pairs}});
    if (workload == nullptr) continue;
    types.back()["jobs"] = type.jobs;
    types.back()["jobs_on_fewer_gpus"] = type.jobs_larger;
  }
  Json profiles = Json::array();
  for (const ProfileCoverage& profile : coverage.profiles) {
    Json speeds = Json::object();
    for (std::size_t t = 0; t < profile.speeds.size(); ++t) {
      if (profile.speeds[t] > 0) speeds[coverage.types[t].gpu_type] = profile.speeds[t];
    }
    profiles.push_back({{"profile", profile.profile},
                        {"reference", profile.reference},
                        {"gpus", profile.gpus},
                        {"relative_speeds", std::move(speeds)}});
  }
  Json json = {{"catalogue", name},
               {"types", std::move(types)},
               {"profiles", std::move(profiles)},
               {"without_types", coverage.without_types}};
  if (workload != nullptr) {
    json["jobs"] = {{"without_profile", fit.without_profile},
                    {"on_all_types", fit.on_all},
                    {"on_no_type", fit.on_none},
                    {"example", fit.example}};
  }
  return json;
}

}  // namespace allot
