#include "record/spaces.h"

#include <gtest/gtest.h>

#include <limits>

#include "tests/unit/core/expect_error.h"

namespace allot {
namespace {

using nlohmann::json;

TEST(Spaces, AreWrittenAsMinariWritesThem) {
  EXPECT_EQ(BoxSpace({2}, -1, 1), json::parse(R"({"type": "Box", "dtype": "float32", "shape": [2],
                                                  "low": [-1.0, -1.0], "high": [1.0, 1.0]})"));
  EXPECT_EQ(DiscreteSpace(5),
            json::parse(R"({"type": "Discrete", "dtype": "int64", "start": 0, "n": 5})"));
  EXPECT_EQ(MultiDiscreteSpace({2, 3}),
            json::parse(R"({"type": "MultiDiscrete", "dtype": "int64", "nvec": [2, 3],
                            "start": [0, 0]})"));
  EXPECT_EQ(DictSpace({{"a", DiscreteSpace(2)}}),
            json::parse(R"({"type": "Dict", "subspaces": {"a": {"type": "Discrete",
                            "dtype": "int64", "start": 0, "n": 2}}})"));
}

TEST(Spaces, NestBoundsAsDeepAsTheShape) {
  EXPECT_EQ(BoxSpace({2, 3}, 0, 1)["high"], json::parse("[[1.0, 1.0, 1.0], [1.0, 1.0, 1.0]]"));
}

TEST(Spaces, RefuseInfiniteBounds) {
  EXPECT_THROW(BoxSpace({1}, 0, std::numeric_limits<double>::infinity()), std::logic_error);
}

TEST(CheckInSpace, AcceptsRowsInsideTheBounds) {
  CheckInSpace(BoxSpace({2}, 0, 1), MakeArray<float>({2, 2}, {0, 1, 0.5F, 1}), 2, "obs");
  CheckInSpace(DiscreteSpace(3, 1), MakeColumn<std::int64_t>({1, 3}), 2, "actions");
  CheckInSpace(MultiDiscreteSpace({2, 5}), MakeArray<std::int64_t>({1, 2}, {1, 4}), 1, "actions");
}

TEST(CheckInSpace, NamesShapeTypeAndBoundThatAreBroken) {
  const json box = BoxSpace({2}, 0, 1);
  ExpectError(ExitCode::kRunFailed, {"obs", "[3, 2]", "[2, 2]"}, [&] {
    CheckInSpace(box, MakeArray<float>({2, 2}, {0, 0, 0, 0}), 3, "obs");
  });
  ExpectError(ExitCode::kRunFailed, {"obs", "float32", "float64"}, [&] {
    CheckInSpace(box, MakeArray<double>({1, 2}, {0, 0}), 1, "obs");
  });
  ExpectError(ExitCode::kRunFailed, {"obs", "value 1", "[0, 1]", "1.5"}, [&] {
    CheckInSpace(box, MakeArray<float>({1, 2}, {0, 1.5F}), 1, "obs");
  });
  ExpectError(ExitCode::kRunFailed, {"nan"}, [&] {
    CheckInSpace(box, MakeArray<float>({1, 2}, {0, std::numeric_limits<float>::quiet_NaN()}), 1,
                 "obs");
  });
  ExpectError(ExitCode::kRunFailed, {"value 3", "[0, 4]", "5"}, [] {
    CheckInSpace(MultiDiscreteSpace({9, 5}), MakeArray<std::int64_t>({2, 2}, {8, 4, 8, 5}), 2, "a");
  });
}

}  // namespace
}  // namespace allot
