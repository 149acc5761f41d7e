#include "plugin/table_store.h"

#include <gtest/gtest.h>

#include "plugin/snapshot_arrays.h"
#include "plugin/snapshot_reader.h"
#include "tests/unit/sched/world.h"

namespace allot {
namespace {

TEST(TableStoreTest, KeepsEqualTablesAndForgetsTheOthers) {
  SnapshotArrays arrays;
  SnapshotReader reader;
  testing_support::World before("1x4");
  before.Add({{1, 1.8}});
  before.Add({{1, 1.5}});
  const std::vector<const ConfigurationTable*> tables = reader.Read(arrays.Of(before.o)).table;
  EXPECT_NE(tables[0], tables[1]);

  testing_support::World after("1x4");  // tables of its own: equal to the second, and new
  after.Add({{1, 1.5}});
  after.Add({{1, 1.5000000000000002}});
  const Observation& o = reader.Read(arrays.Of(after.o));
  EXPECT_EQ(o.table[0], tables[1]);
  EXPECT_NE(o.table[1], tables[1]);
  EXPECT_EQ((*o.table[1])[1].rate, 1.5000000000000002);
  EXPECT_EQ(reader.tables().size(), 2U);
}

TEST(TableStoreTest, JobsOfOneTableShareIt) {
  SnapshotArrays arrays;
  SnapshotReader reader;
  testing_support::World world("1x4");
  for (int i = 0; i < 3; ++i) world.Add({{1, 1.8}});
  EXPECT_EQ(reader.Read(arrays.Of(world.o)).table[0], reader.Read(arrays.Of(world.o)).table[2]);
  EXPECT_EQ(reader.tables().size(), 1U);
}

}  // namespace
}  // namespace allot
