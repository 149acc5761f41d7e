#pragma once
// The linear program behind packed_problem.h: classes of equal jobs, columns for a class alone and
// for pairs of classes, generated as prices ask for them.

#include <set>
#include <span>
#include <tuple>
#include <vector>

#include "solve/equal_jobs.h"
#include "solve/general_lp.h"
#include "solve/packed_problem.h"

namespace allot::internal {

// What is asked of the jobs of a class.
struct AskedOfClass {
  double need = 0;  // theta >= need + slope x level
  double slope = 0;
  double worth = 0;  // of a unit of its rate, for the gain
};

// The best level where a class has a slope, else the best gain. Classes and their equality are the
// caller's: equal jobs must be equal in all that is asked too.
class PackedLp {
 public:
  // `price` by type divides worths; empty: 1.
  PackedLp(const PackedProblem& problem, const EqualJobs& equal,
           std::span<const double> price = {});

  // Columns found before are kept from one call to the next.
  LpOutcome Solve(std::span<const AskedOfClass> asked);

  double value() const { return value_; }
  // Of the need of each class: what the value loses for a unit more of each of its jobs.
  const std::vector<double>& need_price() const { return need_price_; }
  // Shares of jobs: within a class, and among the pairs of two classes, all the same time.
  PackedShares SharesOfJobs() const;

 private:
  struct Column {
    std::int32_t first;   // class
    std::int32_t second;  // -1: alone
    std::size_t type;
    double time = 0;  // of all its jobs together, in the last solution
  };

  void ScaleRows(std::span<const AskedOfClass> asked);
  void AddTo(GeneralLp* lp, const Column& column) const;
  double KindRate(std::int32_t of, std::int32_t beside, std::size_t type) const;
  void Price(const GeneralLp& lp, std::vector<Column>* wanted);
  void Spread(const Column& column, PackedShares* shares) const;

  const PackedProblem& problem_;
  const EqualJobs& equal_;
  std::vector<double> per_price_;                   // by type: 1 / price
  std::vector<std::vector<std::int32_t>> jobs_of_;  // by class
  std::vector<Column> columns_;
  std::set<std::tuple<std::int32_t, std::int32_t, std::size_t>> known_;
  // Of one solution.
  std::vector<double> row_scale_;  // of needs
  std::vector<double> worth_;      // of a unit of rate, scaled
  double level_scale_ = 1;
  double worth_scale_ = 1;
  bool has_level_ = false;
  std::vector<double> need_price_;
  double value_ = 0;
};

}  // namespace allot::internal
