#include "plugin/table_arrays.h"

#include <gtest/gtest.h>

#include "tests/unit/sched/world.h"

namespace allot {
namespace {

using testing_support::GpuTable;

using Tables = std::vector<const ConfigurationTable*>;
using Numbers = std::vector<std::int32_t>;

TEST(TableArraysTest, ATableKeepsItsNumberAsRowsMove) {
  const ConfigurationTable a = GpuTable({{1, 1.8}});
  const ConfigurationTable b = GpuTable({{1, 1.5}});
  const ConfigurationTable c = GpuTable({{1, 1.2}});
  TableArrays arrays;
  EXPECT_EQ(arrays.Number({&a, &b, &c, &b}), Numbers({0, 1, 2, 1}));
  EXPECT_EQ(arrays.Number({&c, &b}), Numbers({2, 1}));
}

TEST(TableArraysTest, ANewTableTakesThePlaceOfAnUnusedOneOfItsSize) {
  const ConfigurationTable a = GpuTable({{1, 1.8}});
  const ConfigurationTable b = GpuTable({{1, 1.5}});
  const ConfigurationTable same_size = GpuTable({{1, 1.2}});
  const ConfigurationTable longer = GpuTable({{1, 1.8, 2.5}});
  TableArrays arrays;
  allot_snapshot snapshot{};
  arrays.Number({&a, &b});
  EXPECT_EQ(arrays.Number({&same_size, &b}), Numbers({0, 1}));
  EXPECT_EQ(arrays.Number({&longer, &b}), Numbers({2, 1})) << "it does not fit into the first";
  arrays.PointTo(&snapshot);
  ASSERT_EQ(snapshot.table_count, 3);
  EXPECT_EQ(snapshot.configuration_rate[1], 1.2) << "which stays as it is";
  EXPECT_EQ(snapshot.configuration_begin[3], 7);
  EXPECT_EQ(snapshot.configuration_rate[6], 2.5);
}

TEST(TableArraysTest, ATableThatIsRenewedInPlaceIsANewOne) {
  ConfigurationTable a = GpuTable({{1, 1.8}});
  TableArrays arrays;
  allot_snapshot snapshot{};
  arrays.Number({&a});
  const double rates[] = {1, 1.7};
  a.Renew(rates);
  arrays.Number({&a});
  arrays.PointTo(&snapshot);
  EXPECT_EQ(snapshot.configuration_rate[snapshot.configuration_begin[0] + 1], 1.7);
}

TEST(TableArraysTest, ForgetsOnceMostAreUnused) {
  std::vector<ConfigurationTable> tables;
  tables.reserve(8);
  for (int i = 0; i < 8; ++i) tables.push_back(GpuTable({{1, 1.1 + 0.1 * i}}));
  Tables all;
  all.reserve(tables.size());
  for (const ConfigurationTable& table : tables) all.push_back(&table);
  TableArrays arrays;
  allot_snapshot snapshot{};
  arrays.Number(all);
  EXPECT_EQ(arrays.Number({all[7], all[2]}), Numbers({0, 1}));
  arrays.PointTo(&snapshot);
  EXPECT_EQ(snapshot.table_count, 2);
}

}  // namespace
}  // namespace allot
