#include "models/tensor.h"

#include <gtest/gtest.h>

#include "tests/unit/core/expect_error.h"

namespace allot {
namespace {

std::string LayoutFault(const TensorMap& tensors, const TensorMap& expected) {
  return ErrorOf(ExitCode::kBadData, [&] { RequireSameLayout(tensors, expected, "file"); });
}

TEST(Tensor, AddScaledAddsElementByElement) {
  TensorMap sum = {{"a", {{2}, {1, 2}}}, {"b", {{1, 1}, {3}}}};
  AddScaled(&sum, {{"a", {{2}, {10, 20}}}, {"b", {{1, 1}, {30}}}}, 0.5F);
  EXPECT_EQ(sum, (TensorMap{{"a", {{2}, {6, 12}}}, {"b", {{1, 1}, {18}}}}));
}

TEST(Tensor, AddScaledRefusesAnotherLayout) {
  TensorMap sum = {{"a", {{2}, {1, 2}}}};
  EXPECT_THROW(AddScaled(&sum, {{"b", {{2}, {1, 2}}}}), std::logic_error);
  EXPECT_THROW(AddScaled(&sum, {{"a", {{1}, {1}}}}), std::logic_error);
}

TEST(Tensor, LayoutFaultsNameTensorAndBothShapes) {
  const TensorMap expected = {{"a", ZeroTensor({2, 3})}, {"b", ZeroTensor({4})}};
  EXPECT_EQ(LayoutFault(ZerosLike(expected), expected), "");
  EXPECT_EQ(LayoutFault({{"a", ZeroTensor({2, 3})}}, expected), "file: tensor 'b' [4] is missing");
  EXPECT_EQ(LayoutFault({{"a", ZeroTensor({3, 2})}, {"b", ZeroTensor({4})}}, expected),
            "file: tensor 'a' must have shape [2, 3], got [3, 2]");
  TensorMap more = expected;
  more["c"] = ZeroTensor({1});
  EXPECT_EQ(LayoutFault(more, expected),
            "file: tensor 'c' [1] belongs to no parameter of this network");
}

}  // namespace
}  // namespace allot
