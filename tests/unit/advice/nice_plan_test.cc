// Nice values from a wanted order, against all other ways to write as few.

#include "advice/nice_plan.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>

#include "core/rng.h"

namespace allot {
namespace {

std::vector<NicedJob> WithNice(std::vector<NicedJob> jobs, const std::vector<int>& nice) {
  for (std::size_t j = 0; j < jobs.size(); ++j) {
    jobs[j].priority += jobs[j].nice - nice[j];
    jobs[j].nice = nice[j];
  }
  return jobs;
}

bool IsBefore(const NicedJob& a, const NicedJob& b) {
  return a.priority != b.priority ? a.priority > b.priority : a.number < b.number;
}

bool InOrder(const std::vector<NicedJob>& jobs) {
  return std::is_sorted(jobs.begin(), jobs.end(), IsBefore);
}

int Writes(const std::vector<NicedJob>& jobs, const std::vector<int>& nice) {
  int writes = 0;
  for (std::size_t j = 0; j < jobs.size(); ++j) writes += nice[j] == jobs[j].nice ? 0 : 1;
  return writes;
}

// Jobs without a Nice in a random order, some of equal priority.
std::vector<NicedJob> RandomJobs(Rng* rng, std::size_t jobs, std::uint64_t priorities,
                                 std::int64_t base) {
  std::vector<NicedJob> result;
  for (std::size_t j = 0; j < jobs; ++j) {
    result.push_back({base + static_cast<std::int64_t>(rng->Below(priorities)), j + 1, 0});
  }
  for (std::size_t j = jobs; j > 1; --j) std::swap(result[j - 1], result[rng->Below(j)]);
  return result;
}

// The fewest jobs that must change for this order, by trying all sets that keep their Nice; -1 if
// none will do.
int FewestWrites(const std::vector<NicedJob>& jobs, int most) {
  int fewest = -1;
  for (std::uint32_t kept = 0; kept < 1U << jobs.size(); ++kept) {
    NicedJob bound{1'000'000, 0, 0};
    bool fits = true;
    for (std::size_t j = 0; j < jobs.size() && fits; ++j) {
      NicedJob job = jobs[j];
      if ((kept >> j & 1U) == 0) {
        const std::int64_t base = job.priority + job.nice;
        job.priority =
            std::min(base, bound.number < job.number ? bound.priority : bound.priority - 1);
        fits = job.priority >= std::max<std::int64_t>(1, base - most);
      }
      fits = fits && IsBefore(bound, job);
      bound = job;
    }
    const int writes = static_cast<int>(jobs.size()) - std::popcount(kept);
    if (fits && (fewest < 0 || writes < fewest)) fewest = writes;
  }
  return fewest;
}

TEST(NicePlan, ReachesTheOrder) {
  Rng rng(1, "nice");
  for (int round = 0; round < 200; ++round) {
    const auto jobs = RandomJobs(&rng, 1 + rng.Below(60), 1 + rng.Below(400), 1000);
    EXPECT_TRUE(InOrder(WithNice(jobs, PlanNice(jobs, 1000))));
  }
}

TEST(NicePlan, WritesAsFewAsPossible) {
  Rng rng(2, "nice");
  int compared = 0;
  for (int round = 0; round < 400; ++round) {
    auto jobs = RandomJobs(&rng, 1 + rng.Below(9), 12, 100);
    for (NicedJob& job : jobs) {  // an earlier round has left some
      const int nice = static_cast<int>(rng.Below(6));
      job.priority -= nice;
      job.nice = nice;
    }
    const int most = 5 + static_cast<int>(rng.Below(20));
    const int fewest = FewestWrites(jobs, most);
    if (fewest < 0) continue;  // these bounds prevent the order
    ++compared;
    EXPECT_EQ(Writes(jobs, PlanNice(jobs, most)), fewest);
  }
  EXPECT_GT(compared, 100);
}

TEST(NicePlan, StaysWithinItsBounds) {
  Rng rng(3, "nice");
  for (int round = 0; round < 200; ++round) {
    const auto jobs = RandomJobs(&rng, 40, 300, 1);
    const std::vector<int> nice = PlanNice(jobs, 50);
    for (const NicedJob& job : WithNice(jobs, nice)) EXPECT_GE(job.priority, 1);
    EXPECT_GE(*std::min_element(nice.begin(), nice.end()), 0);
    EXPECT_LE(*std::max_element(nice.begin(), nice.end()), 50);
  }
}

TEST(NicePlan, WritesNothingASecondTime) {
  Rng rng(4, "nice");
  for (int round = 0; round < 300; ++round) {
    const auto jobs = RandomJobs(&rng, 1 + rng.Below(60), 300, 1);
    const int most = 1 + static_cast<int>(rng.Below(200));
    const auto after = WithNice(jobs, PlanNice(jobs, most));
    EXPECT_EQ(Writes(after, PlanNice(after, most)), 0);
  }
}

TEST(NicePlan, ChangesNoJobThatIsInOrder) {
  const std::vector<NicedJob> jobs = {{90, 4, 0}, {70, 1, 20}, {70, 2, 0}, {5, 3, 7}};
  EXPECT_EQ(PlanNice(jobs, 100), (std::vector<int>{0, 20, 0, 7}));
}

TEST(NicePlan, TakesBackWhatIsAboveTheLimit) {
  const std::vector<NicedJob> jobs = {{90, 1, 0}, {10, 2, 60}};
  EXPECT_EQ(PlanNice(jobs, 30), (std::vector<int>{0, 0}));
}

TEST(NicePlan, KeepsTheWantedOrderOfJobsThatCannotFallBehindAnother) {
  // The first of the wanted order cannot rise, and the others not fall so far.
  const std::vector<NicedJob> jobs = {{10, 1, 0}, {75, 3, 0}, {90, 2, 0}};
  EXPECT_EQ(PlanNice(jobs, 30), (std::vector<int>{0, 0, 16}));
}

}  // namespace
}  // namespace allot
