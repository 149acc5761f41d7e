#include "experiment/whatif/elastic_share.h"

#include <algorithm>
#include <utility>

#include "core/error.h"
#include "core/strings.h"

namespace allot {

std::vector<WhatIfConvert> FindConverts(const std::vector<WhatIfGroup>& users, double share,
                                        const ElasticJct& jct) {
  double all = 0;
  for (const WhatIfGroup& user : users) all += user.gpu_hours;
  std::vector<WhatIfConvert> left;
  for (const WhatIfGroup& user : users) {  // those of most GPU time first
    if (left.size() == kMostConverts || !(user.gpu_hours > 0)) break;
    if (!user.name.empty()) left.push_back({user.name, user.jobs, user.gpu_hours / all});
  }
  std::vector<WhatIfConvert> converts;
  std::vector<std::string> elastic;
  double reached = 0;
  for (Seconds before = jct({}); reached < share && !left.empty();) {
    for (WhatIfConvert& next : left) {
      elastic.push_back(next.user);
      next.saved_s = before - jct(elastic);
      elastic.pop_back();
    }
    const auto best = std::max_element(left.begin(), left.end(), [](const auto& a, const auto& b) {
      return a.saved_s / a.gpu_share < b.saved_s / b.gpu_share;
    });
    before -= best->saved_s;
    reached += best->gpu_share;
    elastic.push_back(best->user);
    converts.push_back(*best);
    left.erase(best);
  }
  return converts;
}

std::vector<WhatIfConvert> FirstConverts(const std::vector<WhatIfConvert>& converts, double share) {
  std::vector<WhatIfConvert> first;
  double reached = 0;
  for (const WhatIfConvert& convert : converts) {
    if (reached >= share) break;
    first.push_back(convert);
    reached += convert.gpu_share;
  }
  return first;
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
