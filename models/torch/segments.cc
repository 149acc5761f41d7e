#include "models/torch/segments.h"

#include <ATen/core/Tensor.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/zeros.h>
#include <torch/csrc/autograd/custom_function.h>

#include <algorithm>

namespace allot {
namespace {

at::Tensor Spread(const at::Tensor& table, const at::Tensor& index) {
  const std::int64_t width = table.size(1);
  const at::Tensor dense = table.contiguous();
  at::Tensor result = at::empty({index.size(0), width}, table.options());
  const float* from = dense.data_ptr<float>();
  float* to = result.data_ptr<float>();
  const std::int64_t* row = index.data_ptr<std::int64_t>();
  for (std::int64_t i = 0; i < index.size(0); ++i, to += width) {
    std::copy_n(from + row[i] * width, width, to);
  }
  return result;
}

at::Tensor Sum(const at::Tensor& table, const at::Tensor& index, std::int64_t rows) {
  const std::int64_t width = table.size(1);
  const at::Tensor dense = table.contiguous();
  at::Tensor sum = at::zeros({rows, width}, dense.options());
  const float* from = dense.data_ptr<float>();
  float* to = sum.data_ptr<float>();
  const std::int64_t* row = index.data_ptr<std::int64_t>();
  for (std::int64_t i = 0; i < dense.size(0); ++i, from += width) {
    for (std::int64_t k = 0; k < width; ++k) to[row[i] * width + k] += from[k];
  }
  return sum;
}

using Context = torch::autograd::AutogradContext;
using Variables = torch::autograd::variable_list;

class SpreadFunction : public torch::autograd::Function<SpreadFunction> {
 public:
  static at::Tensor forward(Context* context, const at::Tensor& table, const at::Tensor& index) {
    context->save_for_backward({index});
    context->saved_data["rows"] = table.size(0);
    return Spread(table, index);
  }
  static Variables backward(Context* context, Variables upstream) {
    return {
        Sum(upstream[0], context->get_saved_variables()[0], context->saved_data["rows"].toInt()),
        at::Tensor()};
  }
};

class SumFunction : public torch::autograd::Function<SumFunction> {
 public:
  static at::Tensor forward(Context* context, const at::Tensor& table, const at::Tensor& index,
                            std::int64_t rows) {
    context->save_for_backward({index});
    return Sum(table, index, rows);
  }
  static Variables backward(Context* context, Variables upstream) {
    return {Spread(upstream[0], context->get_saved_variables()[0]), at::Tensor(), at::Tensor()};
  }
};

}  // namespace

at::Tensor SpreadRows(const at::Tensor& table, const at::Tensor& index) {
  return SpreadFunction::apply(table, index);
}

at::Tensor SumRows(const at::Tensor& table, const at::Tensor& index, std::int64_t rows) {
  return SumFunction::apply(table, index, rows);
}

}  // namespace allot
