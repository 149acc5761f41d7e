#include "sim/holdings.h"

#include <gtest/gtest.h>

#include <bit>
#include <string>
#include <vector>

#include "cluster/validate.h"
#include "core/rng.h"

namespace allot {
namespace {

// Three nodes of 4 GPUs and 6 CPUs; six jobs that take n GPUs and n CPUs, some of which run. Every
// allocation is drawn near what is: kept, moved, resized, stopped, and now and then broken; in full
// or as changes.
class HoldingsTest : public testing::Test {
 protected:
  static constexpr std::int32_t kJobs = 6;

  HoldingsTest() : cluster_(ClusterSpec::Parse("3x4x6")), table_(MakeTable()) {
    o_.cluster = &cluster_;
    for (std::int32_t row = 0; row < kJobs; ++row) {
      o_.job.push_back(row + 1);  // job 0 has ended
      o_.table.push_back(&table_);
    }
    o_.running.assign(kJobs, -1);
    o_.share_begin.assign(kJobs + 1, 0);
    holdings_.Reset(o_, &free_);
    row_of_job_ = {-1, 0, 1, 2, 3, 4, 5};
  }

  static ConfigurationTable MakeTable() {
    std::vector<Configuration> all;
    for (std::int16_t n = 1; n <= 4; ++n) {
      Configuration c;
      c.units = {n, 0};
      c.demand = {n, n};
      c.cost = c.rate = n;
      all.push_back(c);
    }
    return ConfigurationTable("net", {{"gpu", {1, 1}}}, all);
  }

  NodeShare AnyShare() {
    const auto gpus = 1 + rng_.Below(15);
    const auto units = static_cast<std::int16_t>(std::popcount(gpus) + (rng_.Below(20) == 0));
    const auto node = static_cast<NodeIndex>(rng_.Below(20) == 0 ? 3 : rng_.Below(3));
    return {node, {units, 0}, gpus};
  }

  Allocation AnyAllocation() {
    Allocation allocation;
    for (std::int32_t row = 0; row < kJobs; ++row) {
      const auto held = o_.shares_of(row);
      const std::uint64_t kind = rng_.Below(10);
      if (!held.empty() && kind < 6) {
        allocation.Add(row + 1, o_.running[static_cast<std::size_t>(row)], held, kind == 0);
      } else if (kind < 8) {
        const NodeShare share = AnyShare();
        allocation.Add(row + 1, std::popcount(share.gpus) - 1, std::span(&share, 1));
      }
    }
    if (rng_.Below(20) == 0) {
      const NodeShare share = AnyShare();
      allocation.Add(static_cast<JobIndex>(rng_.Below(9)), 0, std::span(&share, 1));
    }
    return allocation;
  }

  void Apply(const Allocation& allocation) {
    o_.running.assign(kJobs, -1);
    std::vector<std::vector<NodeShare>> by_row(kJobs);
    for (const Allocation::Entry& entry : allocation.entries()) {
      const auto row = static_cast<std::size_t>(entry.job - 1);
      o_.running[row] = entry.configuration;
      const auto shares = allocation.shares(entry);
      by_row[row].assign(shares.begin(), shares.end());
    }
    o_.shares.clear();
    for (std::size_t row = 0; row < by_row.size(); ++row) {
      o_.shares.insert(o_.shares.end(), by_row[row].begin(), by_row[row].end());
      o_.share_begin[row + 1] = static_cast<std::int32_t>(o_.shares.size());
    }
  }

  std::vector<std::int32_t> RunningRows() const {
    std::vector<std::int32_t> rows;
    for (std::int32_t row = 0; row < kJobs; ++row) {
      if (o_.running[static_cast<std::size_t>(row)] >= 0) rows.push_back(row);
    }
    return rows;
  }

  Rng rng_{1, "holdings-test"};
  ClusterSpec cluster_;
  ConfigurationTable table_;
  Observation o_;
  std::vector<std::int32_t> row_of_job_;
  FreeMap free_;
  Holdings holdings_;
};

TEST_F(HoldingsTest, TakesWhatValidateAllocationAllows) {
  int legal = 0;
  int refused = 0;
  for (int step = 0; step < 20000; ++step) {
    AllocationChanges changes;
    changes.given = AnyAllocation();
    const bool as_changes = rng_.Below(2) == 0;
    while (as_changes && rng_.Below(2) == 0) {
      changes.stopped.push_back(static_cast<JobIndex>(rng_.Below(kJobs + 2)));
    }
    const Status status =
        as_changes ? ValidateChanges(o_, changes) : ValidateAllocation(o_, changes.given);
    const bool taken = as_changes ? holdings_.TakeChanges(o_, row_of_job_, changes)
                                  : holdings_.Take(o_, row_of_job_, RunningRows(), changes.given);
    ASSERT_EQ(taken, status.ok()) << "step " << step << ": " << status.message();
    (status.ok() ? legal : refused) += 1;
    if (status.ok()) Apply(as_changes ? InFull(o_, changes) : changes.given);
  }
  EXPECT_GT(legal, 1000);
  EXPECT_GT(refused, 1000);
}

TEST_F(HoldingsTest, NamesRowsThatChange) {
  Allocation first;
  const NodeShare a{0, {1, 0}, 0b0001};
  const NodeShare b{0, {2, 0}, 0b0110};
  first.Add(1, 0, std::span(&a, 1));
  first.Add(3, 1, std::span(&b, 1));
  ASSERT_TRUE(holdings_.Take(o_, row_of_job_, {}, first));
  Apply(first);

  Allocation second;  // job 3 goes on, job 1 stops, job 5 gets its GPU
  second.Add(3, 1, std::span(&b, 1));
  second.Add(5, 0, std::span(&a, 1));
  ASSERT_TRUE(holdings_.Take(o_, row_of_job_, RunningRows(), second));
  ASSERT_EQ(holdings_.changes().size(), 2);
  EXPECT_EQ(holdings_.changes()[0].row, 0);
  EXPECT_EQ(holdings_.changes()[0].entry, -1);
  EXPECT_EQ(holdings_.changes()[1].row, 4);
  EXPECT_EQ(holdings_.changes()[1].entry, 1);
}

TEST_F(HoldingsTest, WhatIsReleasedCanBeTaken) {
  Allocation all;
  const NodeShare whole{0, {4, 0}, 0b1111};
  all.Add(1, 3, std::span(&whole, 1));
  ASSERT_TRUE(holdings_.Take(o_, row_of_job_, {}, all));
  Apply(all);
  holdings_.Release(o_, 0);
  Apply({});
  Allocation next;
  next.Add(2, 3, std::span(&whole, 1));
  EXPECT_TRUE(holdings_.Take(o_, row_of_job_, {}, next));
}

}  // namespace
}  // namespace allot
