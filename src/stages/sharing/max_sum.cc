// The largest sum of rates (Gavel's max_sum_throughput, OSDI'20, section 4.2). As published a sum
// of work per second, which compares steps of one model with steps of another; normalised, each
// rate relative to the job's own best type, times its GPUs and its weight. With prices, per price
// of the GPU. With deadlines, such that jobs with one meet it; where that cannot be, deadlines are
// left out (each that its job alone cannot meet, then all), and notes say how often.

#include <algorithm>
#include <map>

#include "core/error.h"
#include "core/index.h"
#include "core/strings.h"
#include "stages/share_rows.h"

namespace allot {
namespace {

class MaxSum : public Sharing {
 public:
  explicit MaxSum(const Params& params)
      : normalised_(params.Flag("normalised")), deadlines_(params.Flag("deadlines")) {
    if (params.Text("prices").empty()) return;
    for (const std::string_view part : Split(params.Text("prices"), '|')) {
      const std::size_t equals = part.rfind('=');
      const auto price =
          equals == std::string_view::npos ? std::nullopt : ParseNumber(part.substr(equals + 1));
      if (!price || !(*price > 0)) {
        throw UsageError(
            "sharing 'max-sum': 'prices' must be TYPE=PRICE joined by '|', each price > 0, got "
            "'{}'",
            part);
      }
      prices_[std::string(part.substr(0, equals))] = *price;
    }
  }

  void OnEpisodeStart(const EpisodeContext&) override { late_ = together_ = 0; }

  void Share(const Observation& o, std::span<const std::int32_t> rows,
             std::vector<TimeShare>* shares) override {
    const ShareRows read = ReadShareRows(o, rows);
    const std::vector<double> gain = GainsOf(o, read.problem);
    const std::vector<double> need = deadlines_ ? NeedsOf(o, read) : std::vector<double>{};
    Shares answer = MaxSumShares(read.problem, gain, need);
    if (!answer.feasible) {
      ++together_;
      answer = MaxSumShares(read.problem, gain);
    }
    AppendShares(read, answer.of, shares);
  }

  PolicyNotes notes() const override {
    if (!deadlines_) return {};
    return {{"deadlines that one job alone could not meet", fmt::format("{}", late_)},
            {"times that deadlines could not be met together", fmt::format("{}", together_)}};
  }

 private:
  std::vector<double> GainsOf(const Observation& o, const ShareProblem& problem) const {
    const std::size_t types = problem.types();
    std::vector<double> price(types, 1.0);
    for (std::size_t g = 0; g < types && !prices_.empty(); ++g) {
      const auto known = prices_.find(o.cluster->types()[g]);
      if (known == prices_.end()) {
        throw UsageError("sharing 'max-sum': 'prices' must hold every GPU type, '{}' has none",
                         o.cluster->types()[g]);
      }
      price[g] = known->second;
    }
    std::vector<double> gain;
    gain.reserve(problem.rate.size());
    for (std::size_t i = 0; i < problem.jobs(); ++i) {
      const auto rates = problem.rates(i);
      const double best = *std::max_element(rates.begin(), rates.end());
      const double worth = normalised_ ? problem.gpus[i] * problem.weight[i] / best : 1;
      for (std::size_t g = 0; g < types; ++g) gain.push_back(worth * rates[g] / price[g]);
    }
    return gain;
  }

  std::vector<double> NeedsOf(const Observation& o, const ShareRows& read) {
    std::vector<double> need = WorkLeft(o, read);
    for (std::size_t i = 0; i < need.size(); ++i) {
      const auto rates = read.problem.rates(i);
      const double best = *std::max_element(rates.begin(), rates.end());
      const Seconds left = o.deadline[At(read.row[i])] - o.now;
      need[i] = left == kNever ? 0 : need[i] / left;
      if (need[i] >= 0 && need[i] <= best) continue;
      need[i] = 0;
      ++late_;
    }
    return need;
  }

  bool normalised_;
  bool deadlines_;
  std::map<std::string, double> prices_;
  std::int64_t late_ = 0;
  std::int64_t together_ = 0;
};

ALLOT_REGISTER(
    SharingInfo, ([] {
      SharingInfo info;
      info.id = "max-sum";
      info.summary = "the largest sum of rates, of prices where they are given";
      info.needs_lengths = true;
      info.params = {
          {"normalised", "yes",
           "rates relative to the job's best type, times GPUs and weight; no: work per second"},
          {"deadlines", "no", "jobs with a deadline meet it where all can"},
          {"prices", "", "TYPE=PRICE joined by '|', of a GPU; empty: all cost the same"}};
      info.make = [](const Params& params) { return std::make_unique<MaxSum>(params); };
      return info;
    }()));

}  // namespace
}  // namespace allot
