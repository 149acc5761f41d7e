#include "experiment/whatif/elastic_share.h"

#include <algorithm>
#include <numeric>

#include "core/error.h"
#include "core/strings.h"

namespace allot {

double GpuShareOf(std::span<const ElasticUser> users) {
  return std::accumulate(users.begin(), users.end(), 0.0,
                         [](double sum, const ElasticUser& user) { return sum + user.gpu_share; });
}

std::vector<ElasticUser> FindElasticUsers(const std::vector<WhatIfGroup>& users, double share,
                                          const ElasticJct& jct) {
  double all = 0;
  for (const WhatIfGroup& user : users) all += user.gpu_hours;
  std::vector<ElasticUser> left;
  for (const WhatIfGroup& user : users) {  // those of most GPU time first
    if (left.size() == kMostTried || !(user.gpu_hours > 0)) break;
    if (!user.name.empty()) left.push_back({user.name, user.jobs, user.gpu_hours / all});
  }
  std::vector<ElasticUser> found;
  std::vector<std::string> names;
  for (Seconds before = jct({}); GpuShareOf(found) < share && !left.empty();) {
    for (ElasticUser& next : left) {
      names.push_back(next.name);
      next.saved_s = before - jct(names);
      names.pop_back();
    }
    const auto best = std::max_element(left.begin(), left.end(), [](const auto& a, const auto& b) {
      return a.saved_s / a.gpu_share < b.saved_s / b.gpu_share;
    });
    before -= best->saved_s;
    names.push_back(best->name);
    found.push_back(*best);
    left.erase(best);
  }
  return found;
}

std::span<const ElasticUser> FirstElasticUsers(std::span<const ElasticUser> users, double share) {
  std::size_t count = 0;
  while (count < users.size() && GpuShareOf(users.first(count)) < share) ++count;
  return users.first(count);
}

std::vector<double> ParseElasticShares(const std::string& text) {
  std::vector<double> shares;
  for (const std::string_view part : Split(text, ',')) {
    const auto percent = ParseNumber(Trim(part));
    const double least = shares.empty() ? 0 : 100 * shares.back();
    if (!percent || !(*percent > least && *percent <= 100)) {
      throw UsageError(
          "--elastic-share must be per cent of the GPU time, ascending, above 0 and at most 100, "
          "as in 10,20,50, got '{}'",
          text);
    }
    shares.push_back(*percent / 100);
  }
  return shares;
}

}  // namespace allot
