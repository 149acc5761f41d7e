// Matrices made by hand, of a rank that is known: what was hidden comes back.

#include "perf/matrix_completion.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace allot {
namespace {

constexpr double kHidden = std::numeric_limits<double>::quiet_NaN();
// The priors pull entries towards 0; with this little of it by less than the tests' tolerance.
constexpr CompletionOptions kWeakPriors = {.rank = 2, .mu = 1e-6, .sweeps = 5000};

DenseMatrix MatrixOf(const std::vector<std::vector<double>>& rows) {
  DenseMatrix m(rows.size(), rows.front().size());
  for (std::size_t i = 0; i < m.rows; ++i) {
    for (std::size_t j = 0; j < m.columns; ++j) m.at(i, j) = rows[i][j];
  }
  return m;
}

// Rows are multiples of one: of rank 1.
DenseMatrix RankOne() { return MatrixOf({{1, 2, 4}, {2, 4, 8}, {3, 6, 12}, {5, 10, 20}}); }

// Sums of two patterns of speed, 1 2 4 3 1 and 2 1 1 2 3, as of jobs bound by arithmetic and by
// memory.
DenseMatrix RankTwo() {
  const std::vector<std::vector<double>> patterns = {{1, 2, 4, 3, 1}, {2, 1, 1, 2, 3}};
  const std::vector<std::vector<double>> parts = {{1, 0}, {0, 1}, {1, 1}, {2, 1}, {1, 3}, {0.5, 2}};
  DenseMatrix m(parts.size(), 5);
  for (std::size_t i = 0; i < m.rows; ++i) {
    for (std::size_t j = 0; j < m.columns; ++j) {
      m.at(i, j) = parts[i][0] * patterns[0][j] + parts[i][1] * patterns[1][j];
    }
  }
  return m;
}

TEST(MatrixCompletion, KnownEntriesStay) {
  const DenseMatrix m = RankTwo();
  EXPECT_EQ(CompleteMatrix(m), m);
}

TEST(MatrixCompletion, FindsOneHiddenEntryOfRankOne) {
  DenseMatrix m = RankOne();
  m.at(2, 1) = kHidden;
  EXPECT_NEAR(CompleteMatrix(m, {.rank = 1, .mu = 1e-6}).at(2, 1), 6, 0.01);
}

TEST(MatrixCompletion, FindsHiddenEntriesOfRankTwo) {
  const DenseMatrix truth = RankTwo();
  DenseMatrix m = truth;
  m.at(4, 1) = m.at(5, 0) = m.at(5, 4) = kHidden;
  const DenseMatrix found = CompleteMatrix(m, kWeakPriors);
  EXPECT_NEAR(found.at(4, 1), truth.at(4, 1), 0.02);
  EXPECT_NEAR(found.at(5, 0), truth.at(5, 0), 0.02);
  EXPECT_NEAR(found.at(5, 4), truth.at(5, 4), 0.02);
}

TEST(MatrixCompletion, MoreRankThanNeededDoesLittleHarm) {
  DenseMatrix m = RankOne();
  m.at(3, 0) = kHidden;
  EXPECT_NEAR(CompleteMatrix(m).at(3, 0), 5, 1) << "with Gavel's rank 10 and mu 0.01";
}

TEST(MatrixCompletion, SameSeedSameBits) {
  DenseMatrix m = RankTwo();
  m.at(4, 1) = kHidden;
  EXPECT_EQ(CompleteMatrix(m), CompleteMatrix(m));
}

TEST(MatrixCompletion, ARowWithNothingKnownIsWhatThePriorsSay) {
  DenseMatrix m = RankOne();
  for (std::size_t j = 0; j < 3; ++j) m.at(1, j) = kHidden;
  const DenseMatrix completed = CompleteMatrix(m, kWeakPriors);
  for (const double entry : completed.row(1)) EXPECT_EQ(entry, 0);
}

TEST(MatrixCompletion, NothingToCompleteIsNothing) {
  EXPECT_TRUE(CompleteMatrix(DenseMatrix(0, 0)).values.empty());
}

// Models that are fast by 1, 2, 3 and 5, on types that are by 1, 2 and 4: one rate of each model is
// enough.
TEST(CompleteRates, ProductsNeedNoRank) {
  DenseMatrix m = RankOne();
  for (const std::size_t j : {0, 2}) m.at(1, j) = m.at(3, j) = kHidden;
  const DenseMatrix found = CompleteRates(m);
  for (std::size_t i = 0; i < m.rows; ++i) {
    for (std::size_t j = 0; j < m.columns; ++j) {
      EXPECT_NEAR(found.at(i, j), RankOne().at(i, j), 1e-6) << i << ", " << j;
    }
  }
}

TEST(CompleteRates, AModelOfWhichNothingIsKnownStaysUnknown) {
  DenseMatrix m = RankOne();
  for (std::size_t j = 0; j < 3; ++j) m.at(1, j) = kHidden;
  EXPECT_TRUE(std::isnan(CompleteRates(m).at(1, 1)));
}

TEST(NearestRow, IsThatOfTheSameDirectionWhateverItsLength) {
  const std::vector<double> row = {20, 10, 10, 20, 30};  // ten times the second pattern
  EXPECT_EQ(NearestRow(RankTwo(), std::vector<std::size_t>{0, 1, 2}, row), 1U);
  EXPECT_NEAR(CosineDistance(row, RankTwo().row(1)), 0, 1e-12);
}

TEST(NearestRow, IsOneOfThoseGiven) {
  const std::vector<double> row = {20, 10, 10, 20, 30};
  EXPECT_EQ(NearestRow(RankTwo(), std::vector<std::size_t>{0, 5}, row), 5U);
}

}  // namespace
}  // namespace allot
