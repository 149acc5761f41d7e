#include "plugin/table_store.h"

#include <gtest/gtest.h>

#include "core/error.h"
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

// As a host may list them that numbers its tables anew each time.
TEST(TableStoreTest, TablesAreKnownWhereverTheyAreListed) {
  TableStore store;
  const std::vector<double> rates = {1, 1.1, 1.2, 1.3, 1.4, 1.5, 1.6, 1.7};
  const auto read = [&](const std::vector<double>& listed) {
    std::vector<std::int32_t> begin = {0};
    std::vector<std::int32_t> units;
    for (const double rate : listed) {
      EXPECT_GT(rate, 0);
      begin.push_back(begin.back() + 1);
      units.insert(units.end(), {1, 0});
    }
    allot_snapshot snapshot{};
    snapshot.type_count = 1;
    snapshot.table_count = static_cast<std::int32_t>(listed.size());
    snapshot.configuration_begin = begin.data();
    snapshot.configuration_units = units.data();
    snapshot.configuration_rate = listed.data();
    return store.Read(snapshot);
  };
  const std::vector<const ConfigurationTable*> first = read(rates);
  EXPECT_EQ(read({1.3, 1.2, 1.1, 1, 1.7, 1.6, 1.5, 1.4}),
            std::vector(
                {first[3], first[2], first[1], first[0], first[7], first[6], first[5], first[4]}));
  // Three have gone, one is new, one is listed twice.
  const std::vector<const ConfigurationTable*> third = read({1.2, 2.5, 1.1, 1.7, 1.7, 1.4});
  EXPECT_EQ((*third[1])[0].rate, 2.5);
  EXPECT_EQ(std::vector({third[0], third[2], third[3], third[4], third[5]}),
            std::vector({first[2], first[1], first[7], first[7], first[4]}));
  EXPECT_EQ(store.size(), 5U);
}

TEST(TableStoreTest, ASnapshotThatIsRefusedForgetsNothing) {
  TableStore store;
  const std::int32_t begin[] = {0, 1, 2};
  const std::int32_t units[] = {1, 0, 1, 0};
  double rates[] = {1, 2};
  allot_snapshot snapshot{};
  snapshot.type_count = 1;
  snapshot.table_count = 2;
  snapshot.configuration_begin = begin;
  snapshot.configuration_units = units;
  snapshot.configuration_rate = rates;
  const std::vector<const ConfigurationTable*> first = store.Read(snapshot);
  rates[0] = 3;
  rates[1] = -1;
  EXPECT_THROW(store.Read(snapshot), Error);
  rates[0] = 1;
  rates[1] = 2;
  EXPECT_EQ(store.Read(snapshot), first);
  EXPECT_EQ(store.size(), 2U);
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
