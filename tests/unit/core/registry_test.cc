#include "core/registry.h"

#include <gtest/gtest.h>

#include "tests/unit/core/expect_error.h"

namespace allot {
namespace {

struct Fruit {
  std::string id;
  std::string summary;
};

Registry<Fruit> Fruits() {
  Registry<Fruit> registry;
  registry.Add({"pear", "green"});
  registry.Add({"apple", "red"});
  return registry;
}

struct Planet {
  std::string id;
  std::string summary;
};
ALLOT_REGISTER(Planet, (Planet{"mars", "the fourth"}));

TEST(Registry, ListsSortedWhateverTheOrderOfAdding) {
  EXPECT_EQ(Fruits().ids(), (std::vector<std::string>{"apple", "pear"}));
}

TEST(Registry, FindsById) {
  const Registry<Fruit> fruits = Fruits();
  EXPECT_EQ(fruits.Get("fruit", "pear").summary, "green");
  EXPECT_EQ(fruits.Find("plum"), nullptr);
}

TEST(Registry, UnknownIdNamesKindAndNearest) {
  const Registry<Fruit> fruits = Fruits();
  ExpectError(ExitCode::kUsage, {"unknown fruit 'aple'", "did you mean 'apple'"},
              [&] { fruits.Get("fruit", "aple"); });
}

TEST(Registry, SecondEntryOfOneIdIsAFaultOfTheProgram) {
  Registry<Fruit> fruits = Fruits();
  EXPECT_THROW(fruits.Add({"pear", "yellow"}), std::logic_error);
}

TEST(Registry, MacroRegistersBeforeMain) {
  EXPECT_NE(Registry<Planet>::Global().Find("mars"), nullptr);
}

}  // namespace
}  // namespace allot
