#include "live/screens/status_cells.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string_view>

#include "metrics/humanise.h"

namespace allot {

std::string ShareBar(double share, int width) {
  const auto filled = static_cast<std::size_t>(std::lround(std::clamp(share, 0.0, 1.0) * width));
  return std::string(filled, '#') + std::string(static_cast<std::size_t>(width) - filled, '.');
}

std::string DoneCell(double share) {
  if (!std::isfinite(share)) return "";
  return fmt::format("{} {:3.0f} %", ShareBar(share, 10), 100 * std::min(1.0, share));
}

std::string NameCell(const nlohmann::ordered_json& job) {
  return job.value("name", job.at("job").get<std::string>());
}

double DoneShare(const nlohmann::ordered_json& job) {
  const auto& total = job.at("total");
  if (total.is_null() || !(total.get<double>() > 0)) return kUnknown;
  return job.at("work").get<double>() / total.get<double>();
}

std::string EtaCell(const nlohmann::ordered_json& eta, const char* what, const char* level,
                    Seconds now) {
  if (eta.at("end").is_null()) return "?";
  const auto& times = eta.at(what);
  if (times.is_null()) return std::string_view(level) == "0.1" ? "runs" : "";
  if (times.at(level).is_null()) return "later";
  return HumanDuration(std::max(0.0, times.at(level).get<double>() - now));
}

std::string NodesCell(const nlohmann::ordered_json& job) {
  std::string text;
  for (const auto& [node, gpus] : job.at("nodes").items()) {
    text += fmt::format("{}{}:{}", text.empty() ? "" : " ", node, gpus.get<int>());
  }
  return text;
}

}  // namespace allot
