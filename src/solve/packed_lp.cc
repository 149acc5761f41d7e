#include "solve/packed_lp.h"

#include <algorithm>
#include <limits>

#include "core/check.h"
#include "core/index.h"

namespace allot::internal {
namespace {

constexpr std::int32_t kNobody = -1;
constexpr double kWorthAColumn = 1e-10;  // the least reduced gain; the best value is about 1
constexpr int kMostRounds = 500;
// A need that is less than this part of an even division is kept in units of it: rows stay within
// what floating point can hold.
constexpr double kLeastUnit = 1e-9;

}  // namespace

// Rows: what each type has, the time of each class, what is asked of each class (averaged over its
// jobs, in units in which both the level and the needs are about 1).
PackedLp::PackedLp(const PackedProblem& problem, const EqualJobs& equal,
                   std::span<const double> price)
    : problem_(problem), equal_(equal), jobs_of_(equal.classes()) {
  per_price_.assign(problem.alone.types(), 1.0);
  for (std::size_t g = 0; g < price.size(); ++g) per_price_[g] = 1 / price[g];
  for (std::size_t i = 0; i < equal.class_of.size(); ++i) {
    jobs_of_[At(equal.class_of[i])].push_back(static_cast<std::int32_t>(i));
  }
  const ShareProblem& alone = problem.alone;
  for (std::int32_t c = 0; At(c) < equal.classes(); ++c) {
    for (std::size_t g = 0; g < alone.types(); ++g) {
      if (!(alone.rates(equal.first[At(c)])[g] > 0) || !(alone.capacity[g] > 0)) continue;
      columns_.push_back({c, kNobody, g});
    }
  }
}

double PackedLp::KindRate(std::int32_t of, std::int32_t beside, std::size_t type) const {
  const auto kind = [&](std::int32_t c) { return problem_.kind[equal_.first[At(c)]]; };
  return problem_.rate_beside(kind(of), kind(beside), type);
}

void PackedLp::ScaleRows(std::span<const AskedOfClass> asked) {
  has_level_ = false;
  level_scale_ = std::numeric_limits<double>::infinity();
  const std::vector<double> even = EvenRates(problem_.alone);
  for (std::size_t c = 0; c < asked.size(); ++c) {
    if (!(asked[c].slope > 0)) continue;
    has_level_ = true;
    level_scale_ = std::min(level_scale_, even[equal_.first[c]] / asked[c].slope);
  }
  row_scale_.clear();
  worth_.clear();
  worth_scale_ = 0;
  for (std::size_t c = 0; c < asked.size(); ++c) {
    const double unit = asked[c].slope > 0  ? asked[c].slope * level_scale_
                        : asked[c].need > 0 ? asked[c].need
                                            : even[equal_.first[c]];
    row_scale_.push_back(1 / std::max(unit, kLeastUnit * even[equal_.first[c]]));
    worth_.push_back(has_level_ ? 0 : asked[c].worth);
    worth_scale_ = std::max(worth_scale_, worth_[c] * even[equal_.first[c]]);
  }
  if (!(worth_scale_ > 0)) worth_scale_ = 1;
  for (double& worth : worth_) worth /= worth_scale_;
}

void PackedLp::AddTo(GeneralLp* lp, const Column& column) const {
  const std::size_t types = problem_.alone.types();
  const std::size_t classes = equal_.classes();
  const std::size_t a = At(column.first);
  const double gpus = problem_.alone.gpus[equal_.first[a]];
  const auto need = [&](std::size_t c, double rate) {
    return LpEntry{types + classes + c, rate * row_scale_[c] / equal_.count[c]};
  };
  if (column.second == kNobody) {
    const double rate = problem_.alone.rates(equal_.first[a])[column.type];
    const LpEntry entries[] = {{column.type, gpus}, {types + a, 1}, need(a, rate)};
    lp->AddColumn(worth_[a] * rate * per_price_[column.type], entries);
    return;
  }
  const std::size_t b = At(column.second);
  const double of_a = KindRate(column.first, column.second, column.type);
  const double of_b = KindRate(column.second, column.first, column.type);
  const double gain = (worth_[a] * of_a + worth_[b] * of_b) * per_price_[column.type];
  if (a == b) {
    const LpEntry entries[] = {{column.type, gpus}, {types + a, 2}, need(a, of_a + of_b)};
    lp->AddColumn(gain, entries);
  } else {
    const LpEntry entries[] = {
        {column.type, gpus}, {types + a, 1}, {types + b, 1}, need(a, of_a), need(b, of_b)};
    lp->AddColumn(gain, entries);
  }
}

// For each class and type the partner that promises most.
void PackedLp::Price(const GeneralLp& lp, std::vector<Column>* wanted) {
  const std::size_t types = problem_.alone.types();
  const std::size_t classes = equal_.classes();
  std::vector<double> time(classes);
  std::vector<double> rate_worth(classes);
  for (std::size_t c = 0; c < classes; ++c) time[c] = lp.price(types + c);
  for (std::size_t g = 0; g < types; ++g) {
    if (!(problem_.alone.capacity[g] > 0)) continue;
    const double price = lp.price(g);
    for (std::size_t c = 0; c < classes; ++c) {
      rate_worth[c] = worth_[c] * per_price_[g] -
                      lp.price(types + classes + c) * row_scale_[c] / equal_.count[c];
    }
    for (std::int32_t a = 0; At(a) < classes; ++a) {
      const double gpus = problem_.alone.gpus[equal_.first[At(a)]];
      const std::int32_t kind = problem_.kind[equal_.first[At(a)]];
      double most = kWorthAColumn;
      std::int32_t partner = kNobody;
      for (std::int32_t b = 0; At(b) < classes; ++b) {
        if (a == b && equal_.count[At(a)] < 2) continue;
        const std::int32_t other = problem_.kind[equal_.first[At(b)]];
        const double of_a = problem_.rate_beside(kind, other, g);
        const double of_b = problem_.rate_beside(other, kind, g);
        if (!(of_a > 0) || !(of_b > 0)) continue;
        const double gain = rate_worth[At(a)] * of_a + rate_worth[At(b)] * of_b - time[At(a)] -
                            time[At(b)] - price * gpus;
        if (gain > most) {
          most = gain;
          partner = b;
        }
      }
      if (partner == kNobody) continue;
      const Column column{std::min(a, partner), std::max(a, partner), g};
      if (known_.emplace(column.first, column.second, g).second) wanted->push_back(column);
    }
  }
}

LpOutcome PackedLp::Solve(std::span<const AskedOfClass> asked) {
  ScaleRows(asked);
  const ShareProblem& alone = problem_.alone;
  GeneralLp lp;
  for (const double capacity : alone.capacity) lp.AddRow(-GeneralLp::kInfinite, capacity);
  for (const double count : equal_.count) lp.AddRow(-GeneralLp::kInfinite, count);
  for (std::size_t c = 0; c < asked.size(); ++c) {
    const bool asks = asked[c].need > 0 || asked[c].slope > 0;
    lp.AddRow(asks ? asked[c].need * row_scale_[c] : -GeneralLp::kInfinite, GeneralLp::kInfinite);
  }
  std::size_t first = 0;
  if (has_level_) {
    std::vector<LpEntry> entries;
    for (std::size_t c = 0; c < asked.size(); ++c) {
      const double coefficient = asked[c].slope * row_scale_[c] * level_scale_;
      entries.push_back({alone.types() + equal_.classes() + c, -coefficient});
    }
    lp.AddColumn(1, entries, -GeneralLp::kInfinite);
    first = 1;
  }
  for (const Column& column : columns_) AddTo(&lp, column);
  LpOutcome outcome = lp.Solve();
  // Needs that singles cannot keep may still be kept by pairs: the prices of an infeasible
  // program say nothing of that, so all pairs are tried at once.
  if (outcome == LpOutcome::kInfeasible) {
    for (std::int32_t a = 0; At(a) < equal_.classes(); ++a) {
      for (std::int32_t b = a; At(b) < equal_.classes(); ++b) {
        if (a == b && equal_.count[At(a)] < 2) continue;
        for (std::size_t g = 0; g < alone.types(); ++g) {
          if (!(KindRate(a, b, g) > 0) || !(KindRate(b, a, g) > 0)) continue;
          if (!(alone.capacity[g] > 0) || !known_.emplace(a, b, g).second) continue;
          columns_.push_back({a, b, g});
          AddTo(&lp, columns_.back());
        }
      }
    }
    outcome = lp.Solve();
  }
  for (int round = 0; outcome == LpOutcome::kOptimal && round < kMostRounds; ++round) {
    std::vector<Column> wanted;
    Price(lp, &wanted);
    if (wanted.empty()) break;
    for (const Column& column : wanted) {
      columns_.push_back(column);
      AddTo(&lp, column);
    }
    outcome = lp.Solve();
  }
  if (outcome != LpOutcome::kOptimal) return outcome;
  for (std::size_t v = 0; v < columns_.size(); ++v) {
    columns_[v].time = std::max(0.0, lp.at(first + v));
  }
  value_ = has_level_ ? lp.at(0) * level_scale_ : lp.value() * worth_scale_;
  need_price_.assign(equal_.classes(), 0.0);
  for (std::size_t c = 0; c < equal_.classes(); ++c) {
    const double price = -lp.price(alone.types() + equal_.classes() + c);
    need_price_[c] = std::max(0.0, price) * row_scale_[c];
  }
  return outcome;
}

// Between two classes by the north-west corner rule: as few pairs as there are jobs. Within one, in
// pairs of neighbours, or in a ring where their number is odd.
void PackedLp::Spread(const Column& column, PackedShares* shares) const {
  const std::size_t types = problem_.alone.types();
  const std::vector<std::int32_t>& a = jobs_of_[At(column.first)];
  const auto pair = [&](std::int32_t i, std::int32_t k, double share) {
    shares->pairs.push_back({std::min(i, k), std::max(i, k), column.type, share});
  };
  if (column.second == kNobody) {
    const double share = column.time / static_cast<double>(a.size());
    for (const std::int32_t job : a) shares->of[At(job) * types + column.type] = share;
    return;
  }
  const std::vector<std::int32_t>& b = jobs_of_[At(column.second)];
  if (column.first == column.second) {
    const double share = column.time / static_cast<double>(a.size());
    if (a.size() % 2 == 0) {
      for (std::size_t i = 0; i < a.size(); i += 2) pair(a[i], a[i + 1], 2 * share);
    } else {
      for (std::size_t i = 0; i < a.size(); ++i) pair(a[i], a[(i + 1) % a.size()], share);
    }
    return;
  }
  // In units of time / (|a| |b|), which are whole.
  std::size_t left_a = b.size();
  std::size_t left_b = a.size();
  const double unit = column.time / static_cast<double>(a.size() * b.size());
  for (std::size_t i = 0, k = 0; i < a.size() && k < b.size();) {
    const std::size_t part = std::min(left_a, left_b);
    pair(a[i], b[k], unit * static_cast<double>(part));
    left_a -= part;
    left_b -= part;
    if (left_a == 0) {
      ++i;
      left_a = b.size();
    }
    if (left_b == 0) {
      ++k;
      left_b = a.size();
    }
  }
}

PackedShares PackedLp::SharesOfJobs() const {
  const ShareProblem& alone = problem_.alone;
  const std::size_t types = alone.types();
  PackedShares shares;
  shares.of.assign(alone.rate.size(), 0.0);
  for (const Column& column : columns_) {
    if (column.time > 0) Spread(column, &shares);
  }
  std::sort(shares.pairs.begin(), shares.pairs.end(), [](const auto& x, const auto& y) {
    return std::tuple(x.first, x.second, x.type) < std::tuple(y.first, y.second, y.type);
  });
  // Rounding.
  std::vector<double> time(alone.jobs(), 0.0);
  for (std::size_t v = 0; v < shares.of.size(); ++v) time[v / types] += shares.of[v];
  for (const PairShare& pair : shares.pairs) {
    time[At(pair.first)] += pair.share;
    time[At(pair.second)] += pair.share;
  }
  for (double& t : time) t = std::max(1.0, t);
  std::vector<double> used(types, 0.0);
  for (std::size_t v = 0; v < shares.of.size(); ++v) {
    shares.of[v] /= time[v / types];
    used[v % types] += shares.of[v] * alone.gpus[v / types];
  }
  for (PairShare& pair : shares.pairs) {
    pair.share /= std::max(time[At(pair.first)], time[At(pair.second)]);
    used[pair.type] += pair.share * alone.gpus[At(pair.first)];
  }
  for (std::size_t g = 0; g < types; ++g) {
    used[g] = used[g] > alone.capacity[g] ? used[g] / alone.capacity[g] : 1;
  }
  for (std::size_t v = 0; v < shares.of.size(); ++v) {
    if (shares.of[v] > 0) shares.of[v] /= used[v % types];
  }
  for (PairShare& pair : shares.pairs) pair.share /= used[pair.type];
  return shares;
}

}  // namespace allot::internal
