#pragma once
// Rows of a table spread over the rows of a larger one, and back: what a decision has in common
// with its jobs. Differentiable; libtorch 1.13's own index_select and index_add go through the
// dispatcher once per row. For the modules beside it; no torch header comes with it.

#include <cstdint>

namespace at {
class Tensor;
}

namespace allot {

// Row i of the result is row `index[i]` of `table`.
at::Tensor SpreadRows(const at::Tensor& table, const at::Tensor& index);
// Row r of the result, of `rows`, is the sum of the rows i of `table` with index[i] = r.
at::Tensor SumRows(const at::Tensor& table, const at::Tensor& index, std::int64_t rows);

}  // namespace allot
