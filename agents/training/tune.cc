#include "agents/training/tune.h"

#include <array>
#include <cmath>
#include <map>
#include <utility>

#include "core/error.h"
#include "core/parallel.h"
#include "workload/history_file.h"

namespace allot {
namespace {

enum Coordinate : std::size_t { kAlpha, kBeta, kKappa, kGamma, kRank, kCoordinates };
using Point = std::array<double, kCoordinates>;

const std::array<std::vector<double>, kCoordinates> kCandidates = {{
    {0, 0.06, 0.12, 0.25, 0.4, 0.6, 1},
    {0, 0.15, 0.3, 0.5, 0.75, 1, 2},
    {0, 0.15, 0.3, 0.6, 1},
    {0.75, 1, 1.25},
    {0, 0.25, 0.5, 0.75},
}};
constexpr Point kStart = {0.25, 0.3, 0.3, 1, 0};
constexpr std::array<const char*, kCoordinates> kNames = {"alpha", "beta", "kappa", "gamma",
                                                          "rank"};

class Search {
 public:
  Search(const std::vector<std::shared_ptr<const Scenario>>& scenarios, const TuneOptions& options,
         const std::string& basis)
      : scenarios_(scenarios),
        options_(options),
        loader_(options.loader ? options.loader : FileLoader()),
        basis_(basis),
        others_(ParseNamedParams(options.start).given) {
    others_.erase("basis");
    const Params given("policy 'index'",
                       Registry<PolicyInfo>::Global().Get("policy", "index").params, others_);
    for (std::size_t c = 0; c < kCoordinates; ++c) {
      if (others_.erase(kNames[c]) > 0) start_[c] = given.Number(kNames[c]);
    }
  }

  Point Best() { return Climb(start_, {kAlpha, kBeta, kKappa, kGamma}); }
  // The rank takes over part of what alpha weighs, and what gamma makes up for where alpha weighs
  // so much: none of them helps without the others' change, so that the two are searched together.
  Point BestRanked(const Point& unranked) {
    Point best = unranked;
    for (const double alpha : kCandidates[kAlpha]) {
      if (alpha > unranked[kAlpha]) break;
      for (const double rank : kCandidates[kRank]) {
        Point point = unranked;
        point[kAlpha] = alpha;
        point[kGamma] = kStart[kGamma];
        point[kRank] = rank;
        if (Value(point) < Value(best)) best = point;
      }
    }
    return Climb(best, {kBeta, kKappa, kGamma, kRank, kAlpha});
  }

  Point Climb(Point best, std::initializer_list<Coordinate> coordinates) {
    for (int pass = 0; pass < options_.passes; ++pass) {
      const Point before = best;
      for (const Coordinate c : coordinates) {
        for (const double candidate : kCandidates[c]) {
          Point point = best;
          point[c] = candidate;
          if (Value(point) < Value(best)) best = point;
        }
      }
      if (best == before) break;
    }
    return best;
  }

  double Value(const Point& point) {
    const auto known = values_.find(point);
    if (known != values_.end()) return known->second;
    const std::string spec = Spec(point);
    if (point != start_ && !IsLegal(spec)) return values_[point] = kNever;
    std::vector<double> logs(scenarios_.size());
    // A policy for each: they learn lengths while they play.
    ParallelFor(scenarios_.size(), options_.threads, [&](std::size_t i) {
      const auto policy = MakePolicy(spec, loader_);
      logs[i] =
          std::log(PlayFor(options_.objective, *scenarios_[i], *policy, options_.max_decisions));
    });
    double sum = 0;
    for (const double log : logs) sum += log;
    played_ += static_cast<std::int64_t>(logs.size());
    return values_[point] = sum / static_cast<double>(logs.size());
  }

  // Some numbers exclude each other (stages/index_rule.h).
  bool IsLegal(const std::string& spec) const {
    try {
      MakePolicy(spec, loader_);
      return true;
    } catch (const Error& error) {
      if (error.code() != ExitCode::kUsage) throw;
      return false;
    }
  }

  std::string Spec(const Point& p) const {
    std::string spec = fmt::format("index:basis={},alpha={},beta={},kappa={},gamma={}", basis_,
                                   p[kAlpha], p[kBeta], p[kKappa], p[kGamma]);
    if (p[kRank] != 0) spec += fmt::format(",rank={}", p[kRank]);
    if (basis_ == "gittins" && !options_.history.empty()) spec += ",history=" + options_.history;
    for (const auto& [name, value] : others_) spec += fmt::format(",{}={}", name, value);
    return spec;
  }

  std::int64_t played() const { return played_; }

 private:
  const std::vector<std::shared_ptr<const Scenario>>& scenarios_;
  const TuneOptions& options_;
  const ParamLoader loader_;
  std::string basis_;
  std::map<std::string, std::string> others_;
  Point start_ = kStart;
  std::map<Point, double> values_;
  std::int64_t played_ = 0;
};

}  // namespace

TunedIndex TuneIndex(const std::vector<std::shared_ptr<const Scenario>>& scenarios,
                     const TuneOptions& options) {
  if (scenarios.empty()) throw UsageError("tuning needs at least one episode, got none");
  TunedIndex best;
  std::int64_t played = 0;
  for (const std::string& basis : options.bases) {
    Search search(scenarios, options, basis);
    const Point point = search.Best();
    if (best.spec.empty() || search.Value(point) < best.log_value) {
      best.spec = search.Spec(point);
      best.log_value = search.Value(point);
    }
    const Point ranked = options.ranked ? search.BestRanked(point) : point;
    if (best.ranked_spec.empty() || search.Value(ranked) < best.ranked_log_value) {
      best.ranked_spec = search.Spec(ranked);
      best.ranked_log_value = search.Value(ranked);
    }
    played += search.played();
  }
  best.played = played;
  return best;
}

}  // namespace allot
