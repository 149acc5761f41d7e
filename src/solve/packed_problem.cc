#include "solve/packed_problem.h"

#include <algorithm>
#include <cmath>

#include "core/check.h"
#include "core/error.h"
#include "core/index.h"
#include "solve/finish_newton.h"
#include "solve/packed_lp.h"

namespace allot {
namespace {

using internal::AskedOfClass;
using internal::PackedLp;

void CheckPacked(const PackedProblem& problem) {
  CheckShareProblem(problem.alone);
  const std::size_t types = problem.alone.types();
  ALLOT_CHECK_EQ(problem.kind.size(), problem.alone.jobs());
  ALLOT_CHECK_EQ(problem.beside.size(), problem.kinds * problem.kinds * types);
  for (std::size_t v = 0; v < problem.beside.size(); ++v) {
    if (std::isfinite(problem.beside[v]) && problem.beside[v] >= 0) continue;
    throw DataError(
        "a rate beside another must be finite and >= 0, got {} (kinds {} and {}, type {})",
        problem.beside[v], v / types / problem.kinds, v / types % problem.kinds, v % types);
  }
}

internal::EqualJobs EqualPacked(const PackedProblem& problem, std::span<const double> also = {}) {
  std::vector<double> further;
  further.reserve(problem.kind.size() + also.size());
  const std::size_t more = problem.kind.empty() ? 0 : also.size() / problem.kind.size();
  for (std::size_t i = 0; i < problem.kind.size(); ++i) {
    further.push_back(problem.kind[i]);
    for (std::size_t k = 0; k < more; ++k) further.push_back(also[i * more + k]);
  }
  return internal::FindEqualJobs(problem.alone, further);
}

// A level of singles alone is always there, so that only needs can fail.
void MustBeOptimal(LpOutcome outcome, const PackedProblem& problem) {
  if (outcome == LpOutcome::kOptimal) return;
  throw RunError("the linear program of pairs of {} jobs on {} types was not solved",
                 problem.alone.jobs(), problem.alone.types());
}

double LeastLevel(std::span<const double> theta, const internal::EqualJobs& equal,
                  std::span<const AskedOfClass> asked) {
  double least = 1e300;
  for (std::size_t i = 0; i < theta.size(); ++i) {
    const AskedOfClass& of = asked[At(equal.class_of[i])];
    if (of.slope > 0) least = std::min(least, (theta[i] - of.need) / of.slope);
  }
  return least;
}

std::vector<AskedOfClass> FairSlopes(const PackedProblem& problem,
                                     const internal::EqualJobs& equal) {
  const std::vector<double> even = EvenRates(problem.alone);
  std::vector<AskedOfClass> asked(equal.classes());
  for (std::size_t c = 0; c < asked.size(); ++c) {
    const std::size_t job = equal.first[c];
    asked[c].slope = problem.alone.weight[job] * even[job] / problem.alone.gpus[job];
  }
  return asked;
}

// Alone or beside another, on any type.
double BestRate(const PackedProblem& problem, std::size_t job) {
  const std::size_t types = problem.alone.types();
  double best = 0;
  for (std::size_t g = 0; g < types; ++g) {
    if (!(problem.alone.capacity[g] > 0)) continue;
    best = std::max(best, problem.alone.rates(job)[g]);
    for (std::int32_t kind = 0; At(kind) < problem.kinds; ++kind) {
      best = std::max(best, problem.rate_beside(problem.kind[job], kind, g));
    }
  }
  return best;
}

double WorstFinish(std::span<const FinishGoal> goals, std::span<const double> theta) {
  double worst = 0;
  for (std::size_t i = 0; i < goals.size(); ++i) {
    worst = std::max(worst, (goals[i].elapsed + goals[i].work / theta[i]) / goals[i].due);
  }
  return worst;
}

// A job that may be as late as it likes still gets something, so that it ends: where one would
// have next to nothing, all give up a part that does not count.
void GiveTheLeast(const PackedProblem& problem, std::span<const double> isolated,
                  PackedShares* shares) {
  constexpr double kPart = 1e-10;
  const std::vector<double> theta = RatesOf(problem, *shares);
  bool enough = true;
  for (std::size_t i = 0; i < theta.size(); ++i) {
    enough = enough && theta[i] >= kPart * isolated[i];
  }
  if (enough) return;
  const std::vector<double> even = EvenShares(problem.alone).of;
  for (std::size_t v = 0; v < even.size(); ++v) {
    shares->of[v] = (1 - kPart) * shares->of[v] + kPart * even[v];
  }
  for (PairShare& pair : shares->pairs) pair.share *= 1 - kPart;
}

}  // namespace

std::vector<double> RatesOf(const PackedProblem& problem, const PackedShares& shares) {
  std::vector<double> theta = RatesOf(problem.alone, shares.of);
  for (const PairShare& pair : shares.pairs) {
    const std::int32_t a = problem.kind[At(pair.first)];
    const std::int32_t b = problem.kind[At(pair.second)];
    theta[At(pair.first)] += pair.share * problem.rate_beside(a, b, pair.type);
    theta[At(pair.second)] += pair.share * problem.rate_beside(b, a, pair.type);
  }
  return theta;
}

PackedShares MaxMinPacked(const PackedProblem& problem) {
  CheckPacked(problem);
  if (problem.alone.jobs() == 0) return {};
  const internal::EqualJobs equal = EqualPacked(problem);
  const std::vector<AskedOfClass> asked = FairSlopes(problem, equal);
  PackedLp lp(problem, equal);
  MustBeOptimal(lp.Solve(asked), problem);
  PackedShares shares = lp.SharesOfJobs();
  shares.objective = LeastLevel(RatesOf(problem, shares), equal, asked);
  return shares;
}

// A need with a price cannot be had better by anybody: each level fixes at least one class.
PackedShares WaterFillingPacked(const PackedProblem& problem, std::vector<double>* levels) {
  CheckPacked(problem);
  if (problem.alone.jobs() == 0) return {};
  const internal::EqualJobs equal = EqualPacked(problem);
  const std::vector<AskedOfClass> fair = FairSlopes(problem, equal);
  std::vector<AskedOfClass> asked = fair;
  std::vector<double> level(equal.classes(), 0.0);
  PackedLp lp(problem, equal);
  PackedShares shares;
  for (std::size_t rising = equal.classes(); rising > 0;) {
    const LpOutcome outcome = lp.Solve(asked);
    if (outcome == LpOutcome::kInfeasible && !shares.of.empty()) break;  // by rounding
    MustBeOptimal(outcome, problem);
    shares = lp.SharesOfJobs();
    const std::size_t before = rising;
    std::size_t most = 0;
    const auto part = [&](std::size_t c) { return lp.need_price()[c] * asked[c].slope; };
    for (std::size_t c = 0; c < asked.size(); ++c) most = part(c) > part(most) ? c : most;
    const double enough = 1e-6 * part(most);
    for (std::size_t c = 0; c < asked.size(); ++c) {
      if (!(asked[c].slope > 0) || !(part(c) >= enough)) continue;
      level[c] = lp.value();
      asked[c] = {fair[c].slope * level[c] * (1 - 1e-9), 0, 0};
      --rising;
    }
    if (rising == before) break;
  }
  shares.objective = *std::min_element(level.begin(), level.end());
  if (levels != nullptr) {
    levels->clear();
    for (const std::int32_t c : equal.class_of) levels->push_back(level[At(c)]);
  }
  return shares;
}

PackedShares MaxSumPacked(const PackedProblem& problem, std::span<const double> worth,
                          std::span<const double> need, std::span<const double> price) {
  CheckPacked(problem);
  const std::size_t jobs = problem.alone.jobs();
  ALLOT_CHECK_EQ(worth.size(), jobs);
  ALLOT_CHECK(need.empty() || need.size() == jobs);
  if (jobs == 0) return {};
  std::vector<double> also;
  for (std::size_t i = 0; i < jobs; ++i) {
    also.push_back(worth[i]);
    also.push_back(need.empty() ? 0 : need[i]);
  }
  const internal::EqualJobs equal = EqualPacked(problem, also);
  std::vector<AskedOfClass> asked(equal.classes());
  bool any_need = false;
  for (std::size_t c = 0; c < asked.size(); ++c) {
    const std::size_t job = equal.first[c];
    asked[c] = {need.empty() ? 0 : need[job], 0, worth[job]};
    any_need = any_need || asked[c].need > 0;
  }
  PackedLp lp(problem, equal, price);
  if (any_need) {
    // How much of the needs can be had: the columns that this finds are those that needs ask for.
    std::vector<AskedOfClass> part(asked.size());
    for (std::size_t c = 0; c < asked.size(); ++c) part[c].slope = asked[c].need;
    MustBeOptimal(lp.Solve(part), problem);
    if (lp.value() < 1 - kBlockTolerance) return {false, {}, {}, lp.value()};
    for (AskedOfClass& of : asked) of.need *= std::min(1.0, lp.value()) * (1 - 1e-9);
  }
  MustBeOptimal(lp.Solve(asked), problem);
  PackedShares shares = lp.SharesOfJobs();
  shares.objective = lp.value();
  return shares;
}

PackedShares MakespanPacked(const PackedProblem& problem, std::span<const double> work) {
  CheckPacked(problem);
  ALLOT_CHECK_EQ(work.size(), problem.alone.jobs());
  if (work.empty()) return {};
  const internal::EqualJobs equal = EqualPacked(problem, work);
  std::vector<AskedOfClass> asked(equal.classes());
  for (std::size_t c = 0; c < asked.size(); ++c) {
    asked[c].slope = work[equal.first[c]];
    if (asked[c].slope > 0) continue;
    throw DataError("work left must be finite and > 0, got {} (job {})", asked[c].slope,
                    equal.first[c]);
  }
  PackedLp lp(problem, equal);
  MustBeOptimal(lp.Solve(asked), problem);
  PackedShares shares = lp.SharesOfJobs();
  shares.objective = 1 / LeastLevel(RatesOf(problem, shares), equal, asked);
  return shares;
}

PackedShares FinishTimePacked(const PackedProblem& problem, std::span<const double> work,
                              std::span<const double> elapsed, std::span<const double> alone,
                              std::span<const double> scaled_work) {
  CheckPacked(problem);
  const std::size_t jobs = problem.alone.jobs();
  ALLOT_CHECK_EQ(work.size(), jobs);
  if (jobs == 0) return {};
  const std::vector<double> isolated = RatesOf(problem.alone, EvenShares(problem.alone).of);
  BlockProblem without_pairs;
  without_pairs.capacity = problem.alone.capacity;
  without_pairs.rate = problem.alone.rate;
  std::vector<FinishGoal> goals;
  std::vector<double> each;  // so that every job is a class of its own
  double low = 0;
  for (std::size_t i = 0; i < jobs; ++i) {
    const double numerator = scaled_work.empty() ? work[i] : scaled_work[i];
    without_pairs.blocks.push_back({problem.alone.gpus[i], 0, 0});
    goals.push_back({numerator, elapsed[i], alone[i] + work[i] / isolated[i]});
    each.push_back(static_cast<double>(i));
    low = std::max(low, (elapsed[i] + numerator / BestRate(problem, i)) / goals[i].due);
  }
  // Where the search begins, and the answer where pairs bring nothing.
  BlockAnswer first = MinimiseWorstFinish(without_pairs, goals);
  PackedShares best{true, std::move(first.share), {}, first.value};
  const internal::EqualJobs equal = EqualPacked(problem, each);
  PackedLp lp(problem, equal);
  std::vector<AskedOfClass> asked(jobs);
  internal::LeastFinishRatio(goals, low, best.objective, [&](std::span<const double> slopes) {
    for (std::size_t i = 0; i < jobs; ++i) asked[i].slope = slopes[i];
    if (lp.Solve(asked) != LpOutcome::kOptimal) return internal::LevelOfSlopes{};
    PackedShares shares = lp.SharesOfJobs();
    GiveTheLeast(problem, isolated, &shares);
    const std::vector<double> theta = RatesOf(problem, shares);
    shares.objective = WorstFinish(goals, theta);
    // What the shares are, not what the program says of them: rows are kept to a tolerance.
    const double level = LeastLevel(theta, equal, asked);
    if (shares.objective < best.objective) best = std::move(shares);
    return internal::LevelOfSlopes{level, lp.need_price()};
  });
  return best;
}

PackedShares FirstComePacked(const PackedProblem& problem, double least) {
  CheckPacked(problem);
  const std::size_t types = problem.alone.types();
  PackedShares shares;
  Shares first = FirstComeShares(problem.alone);
  shares.of = std::move(first.of);
  shares.objective = first.objective;
  const std::size_t jobs = problem.alone.jobs();
  std::vector<std::size_t> type_of(jobs, types);  // of jobs alone on their GPUs
  for (std::size_t v = 0; v < shares.of.size(); ++v) {
    if (shares.of[v] > 0) type_of[v / types] = v % types;
  }
  std::vector<char> runs(jobs, 0);
  for (std::size_t i = 0; i < jobs; ++i) runs[i] = type_of[i] < types ? 1 : 0;
  const auto relative = [&](std::size_t of, std::size_t beside, std::size_t g) {
    const double rate = problem.rate_beside(problem.kind[of], problem.kind[beside], g);
    const double alone = problem.alone.rates(of)[g];
    return rate > 0 && alone > 0 ? rate / alone : 0;
  };
  for (std::size_t i = 0; i < jobs; ++i) {
    if (runs[i] != 0) continue;
    std::size_t partner = jobs;
    double best = least;
    for (std::size_t k = 0; k < jobs; ++k) {
      const std::size_t g = type_of[k];
      if (g == types || problem.alone.gpus[k] != problem.alone.gpus[i]) continue;
      const double mine = relative(i, k, g);
      const double its = relative(k, i, g);
      if (mine > 0 && its > 0 && mine + its > best) {
        best = mine + its;
        partner = k;
      }
    }
    if (partner == jobs) break;
    const std::size_t g = type_of[partner];
    shares.of[partner * types + g] = 0;
    shares.pairs.push_back({static_cast<std::int32_t>(std::min(i, partner)),
                            static_cast<std::int32_t>(std::max(i, partner)), g, 1});
    type_of[partner] = types;
    shares.objective += 1;
  }
  return shares;
}

PackedShares EvenPacked(const PackedProblem& problem,
                        std::span<const std::pair<std::int32_t, std::int32_t>> pairs) {
  CheckPacked(problem);
  const ShareProblem& alone = problem.alone;
  const std::size_t types = alone.types();
  std::vector<std::int32_t> partner(alone.jobs(), -1);
  for (const auto& [a, b] : pairs) {
    ALLOT_CHECK(a < b && partner[At(a)] < 0 && partner[At(b)] < 0);
    ALLOT_CHECK_EQ(alone.gpus[At(a)], alone.gpus[At(b)]);
    partner[At(a)] = b;
    partner[At(b)] = a;
  }
  const auto parts = static_cast<double>(alone.jobs() - pairs.size());
  double all = 0;
  for (const double capacity : alone.capacity) all += capacity / parts;
  PackedShares shares;
  shares.of.assign(alone.rate.size(), 0.0);
  for (std::int32_t i = 0; At(i) < alone.jobs(); ++i) {
    const std::int32_t with = partner[At(i)];
    if (with >= 0 && with < i) continue;
    const double gpus = alone.gpus[At(i)];
    const double fit = std::max(1.0, all / gpus);
    for (std::size_t g = 0; g < types; ++g) {
      const double share = alone.capacity[g] / parts / gpus / fit;
      if (with < 0) {
        shares.of[At(i) * types + g] = share;
      } else if (share > 0) {
        shares.pairs.push_back({i, with, g, share});
      }
    }
  }
  return shares;
}

}  // namespace allot
