#include "stages/fill/table_facts.h"

#include <gtest/gtest.h>

#include <numeric>

#include "core/index.h"
#include "tests/unit/sched/world.h"

namespace allot {
namespace {

using testing_support::World;

// What it has kept must be what another one reads anew.
void ExpectAsNew(TableFacts* facts, const Observation& o, const std::vector<std::int32_t>& order) {
  facts->Read(o, order);
  TableFacts anew;
  anew.Read(o, order);
  for (std::size_t place = 0; place < order.size(); ++place) {
    EXPECT_EQ(facts->smallest(place), anew.smallest(place)) << place;
    EXPECT_EQ(facts->one_size(place), anew.one_size(place)) << place;
    for (const std::int32_t size : {anew.smallest(place), o.table[At(order[place])]->size() - 1}) {
      EXPECT_EQ(facts->At(place, size).best, anew.At(place, size).best) << place;
      EXPECT_EQ(facts->At(place, size).log_speed, anew.At(place, size).log_speed) << place;
      EXPECT_EQ(facts->At(place, size).gpus, anew.At(place, size).gpus) << place;
      const auto rates = facts->rates(place);
      const auto new_rates = anew.rates(place);
      EXPECT_TRUE(std::equal(rates.begin(), rates.end(), new_rates.begin())) << place;
      EXPECT_EQ(facts->TypeOf(place, size), anew.TypeOf(place, size)) << place;
    }
  }
}

TEST(TableFactsTest, WhatIsKeptIsWhatTheTablesSay) {
  World world("2x4:fast,2x4:slow");
  world.Add({{1, 1.9}, {.5, .8}});
  world.Add({{2}, {1}});
  world.Add({{3, 5, 6}, {3, 4, 4.5}});
  world.Add({{2}, {1}});
  TableFacts facts;
  std::vector<std::int32_t> order(4);
  std::iota(order.begin(), order.end(), 0);
  ExpectAsNew(&facts, world.o, order);
  ExpectAsNew(&facts, world.o, order);
  ExpectAsNew(&facts, world.o, {0, 2, 3});     // one has gone
  ExpectAsNew(&facts, world.o, {3, 2, 1, 0});  // another order
  // Another table where the first one was, and one of other sizes.
  std::swap(world.o.table[0], world.o.table[2]);
  ExpectAsNew(&facts, world.o, order);
  std::vector<double> rates;
  for (const Configuration& c : world.o.table[1]->configurations()) rates.push_back(3 * c.rate);
  ConfigurationTable changed = world.o.table[1]->WithRates(rates);
  world.o.table[1] = &changed;
  ExpectAsNew(&facts, world.o, order);
  for (double& rate : rates) rate /= 2;
  changed.Renew(rates);  // in its place
  ExpectAsNew(&facts, world.o, order);
}

}  // namespace
}  // namespace allot
