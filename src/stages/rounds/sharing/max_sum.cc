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
#include "stages/rounds/pair_rows.h"

namespace allot {
namespace {

class MaxSum : public Sharing {
 public:
  explicit MaxSum(const Params& params)
      : normalised_(params.Flag("normalised")),
        deadlines_(params.Flag("deadlines")),
        pairs_(params.Flag("pairs")) {
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
    const PairRows read = pairs_ ? ReadPairRows(o, rows) : PairRows{ReadShareRows(o, rows), {}, {}};
    const std::vector<double> price = PricesOf(o);
    const std::vector<double> worth = WorthsOf(read.rows.problem);
    std::vector<double> need;
    if (deadlines_) need = NeedsOf(o, read.rows);
    PackedShares answer = Solve(read, worth, price, need);
    if (!answer.feasible) {
      ++together_;
      answer = Solve(read, worth, price, {});
    }
    AppendShares(read, answer, shares);
  }

  bool reads_lengths() const override { return deadlines_; }

  PolicyNotes notes() const override {
    if (!deadlines_) return {};
    return {{"deadlines that one job alone could not meet", fmt::format("{}", late_)},
            {"times that deadlines could not be met together", fmt::format("{}", together_)}};
  }

 private:
  PackedShares Solve(const PairRows& read, const std::vector<double>& worth,
                     const std::vector<double>& price, const std::vector<double>& need) const {
    if (pairs_) return MaxSumPacked(read.problem, worth, need, price);
    const ShareProblem& problem = read.rows.problem;
    std::vector<double> gain = problem.rate;
    for (std::size_t v = 0; v < gain.size(); ++v) {
      gain[v] *= worth[v / problem.types()] / price[v % problem.types()];
    }
    Shares alone = MaxSumShares(problem, gain, need);
    return {alone.feasible, std::move(alone.of), {}, alone.objective};
  }

  std::vector<double> PricesOf(const Observation& o) const {
    std::vector<double> price(o.cluster->types().size(), 1.0);
    const std::vector<std::string>& types = o.cluster->types();
    for (const auto& [name, known] : prices_) {
      if (std::find(types.begin(), types.end(), name) != types.end()) continue;
      throw UsageError(
          "sharing 'max-sum': 'prices' must name GPU types of the cluster ({}), got '{}'",
          Join(types, ", "), name);
    }
    for (std::size_t g = 0; g < price.size() && !prices_.empty(); ++g) {
      const auto known = prices_.find(o.cluster->types()[g]);
      if (known == prices_.end()) {
        throw UsageError("sharing 'max-sum': 'prices' must hold every GPU type, '{}' has none",
                         o.cluster->types()[g]);
      }
      price[g] = known->second;
    }
    return price;
  }

  // Of a unit of each job's rate.
  std::vector<double> WorthsOf(const ShareProblem& problem) const {
    std::vector<double> worth(problem.jobs(), 1.0);
    for (std::size_t i = 0; i < worth.size() && normalised_; ++i) {
      const auto rates = problem.rates(i);
      const double best = *std::max_element(rates.begin(), rates.end());
      worth[i] = problem.gpus[i] * problem.weight[i] / best;
    }
    return worth;
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
  bool pairs_;
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
          {"pairs", "no", kPairsHelp},
          {"prices", "", "TYPE=PRICE joined by '|', of a GPU; empty: all cost the same"}};
      info.make = [](const Params& params) { return std::make_unique<MaxSum>(params); };
      return info;
    }()));

}  // namespace
}  // namespace allot
