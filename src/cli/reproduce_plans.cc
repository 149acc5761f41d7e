// allot reproduce plans: what the cost model of plans says of published training speeds, and which
// published plans it says fit into memory.

#include <array>
#include <cstdio>
#include <functional>
#include <map>
#include <nlohmann/json.hpp>

#include "cli/command.h"
#include "core/error.h"
#include "core/json_text.h"
#include "fidelity/plan_points.h"
#include "metrics/table.h"

namespace allot {
namespace {

using Results = std::vector<PlanPointResult>;
using Json = nlohmann::ordered_json;

// What the command promises of the points that the constants were not fitted to.
struct Promise {
  const char* file;
  double median;
  double p90;
};
constexpr std::array<Promise, 2> kPromises = {
    {{"points.csv", 0.07, 0.20}, {"points_blind.csv", 0.09, 0.20}}};
constexpr double kShareThatFits = 280.0 / 307;  // of the plans of points.csv

struct FileErrors {
  std::vector<PlanErrors> groups;  // the held-out points of the file first, whole
  std::size_t points = 0;
  Results too_large;  // published plans that do not fit, says the model
};

FileErrors ErrorsIn(const std::string& path) {
  FileErrors file;
  Results held_out, fitted, dense, mixtures;
  std::map<std::string, Results> by_software;
  for (const PlanPoint& point : ReadPlanPoints(path)) {
    const PlanPointResult result = Predict(point);
    ++file.points;
    if (!result.fits) file.too_large.push_back(result);
    if (point.fitted) {
      fitted.push_back(result);
      continue;
    }
    const bool mixture = point.problem.training.decoder.mixture();
    held_out.push_back(result);
    (mixture ? mixtures : dense).push_back(result);
    by_software[fmt::format("{}{}, {}", point.software, mixture ? " (experts)" : "",
                            point.problem.gpu.name)]
        .push_back(result);
  }
  if (held_out.empty()) throw DataError("points to compare with are missing in '{}'", path);
  const auto add = [&](const std::string& group, const Results& results) {
    if (!results.empty()) file.groups.push_back(ErrorsOf(group, results));
  };
  add("held out", held_out);
  add("held out, dense", dense);
  add("held out, mixtures of experts", mixtures);
  add("fitted", fitted);
  for (const auto& [group, results] : by_software) add(group, results);
  return file;
}

std::string ErrorTable(const FileErrors& file) {
  TextTable table({{"points", TextTable::Align::kLeft},
                   {"n"},
                   {"bias %"},
                   {"median %"},
                   {"p80 %"},
                   {"p90 %"},
                   {"largest %"},
                   {"within 10 %"},
                   {"within 20 %"}});
  for (const PlanErrors& e : file.groups) {
    std::vector<std::string> cells = {e.group, fmt::format("{}", e.points),
                                      fmt::format("{:+.1f}", 100 * e.bias)};
    for (const double share : {e.median, e.p80, e.p90, e.largest, e.within_10, e.within_20}) {
      cells.push_back(fmt::format("{:.1f}", 100 * share));
    }
    table.AddRow(std::move(cells));
  }
  std::string text = table.ToText();
  text += fmt::format("{} of {} published plans fit into memory{}\n",
                      file.points - file.too_large.size(), file.points,
                      file.too_large.empty() ? "" : "; these do not, says the model:");
  for (const PlanPointResult& result : file.too_large) {
    text +=
        fmt::format("  {}: {} {} need {:.1f} GB each\n", result.point.id, result.point.plan.gpus(),
                    result.point.problem.gpu.name, result.memory / 1e9);
  }
  return text;
}

Json FileJson(const FileErrors& file) {
  Json json = {{"points", file.points},
               {"fit", file.points - file.too_large.size()},
               {"errors", Json::array()}};
  for (const PlanErrors& e : file.groups) {
    json["errors"].push_back({{"group", e.group},
                              {"points", e.points},
                              {"bias", e.bias},
                              {"median", e.median},
                              {"p80", e.p80},
                              {"p90", e.p90},
                              {"largest", e.largest},
                              {"within_10_percent", e.within_10},
                              {"within_20_percent", e.within_20}});
  }
  return json;
}

int ReproducePlans(const std::string& folder, const GlobalOptions& globals) {
  Json json;
  std::string missed;
  for (const Promise& promise : kPromises) {
    const FileErrors file = ErrorsIn(folder + "/" + promise.file);
    const PlanErrors& held_out = file.groups.front();
    if (globals.json) {
      json[promise.file] = FileJson(file);
    } else {
      std::printf("%s\n%s\n", promise.file, ErrorTable(file).c_str());
    }
    if (held_out.median > promise.median || held_out.p90 > promise.p90) {
      missed += fmt::format(
          "; {}: median and p90 must be at most {} % and {} %, got {:.1f} % and {:.1f} %",
          promise.file, 100 * promise.median, 100 * promise.p90, 100 * held_out.median,
          100 * held_out.p90);
    }
    const auto all = static_cast<double>(file.points);
    if (1 - static_cast<double>(file.too_large.size()) / all < kShareThatFits) {
      missed += fmt::format("; {}: at least {:.0f} of {} plans must fit, got {}", promise.file,
                            kShareThatFits * all, file.points, file.points - file.too_large.size());
    }
  }
  if (globals.json) std::printf("%s\n", JsonText(json).c_str());
  if (!missed.empty()) throw CheckError("predictions are worse than promised{}", missed);
  return 0;
}

ALLOT_REGISTER(CommandInfo, (CommandInfo{"reproduce plans",
                                         "predict published speeds of language-model training",
                                         [](CommandLine& line, const GlobalOptions& globals) {
                                           auto reference = std::make_shared<std::string>();
                                           line.Option("--reference", *reference,
                                                       "folder of points.csv and points_blind.csv")
                                               .Required();
                                           return [reference, &globals] {
                                             return ReproducePlans(*reference, globals);
                                           };
                                         }}));

}  // namespace
}  // namespace allot
