#pragma once
// Tensors as Eigen's maps, without a copy, for the forward passes. They live as long as the tensor.

#include <Eigen/Core>

#include "models/tensor.h"

namespace allot {

using RowMajor = Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
using MatrixView = Eigen::Map<const RowMajor>;
using VectorView = Eigen::Map<const Eigen::VectorXf>;

// Of a tensor of two dimensions.
inline MatrixView AsMatrix(const Tensor& tensor) {
  return {tensor.data.data(), tensor.shape.at(0), tensor.shape.at(1)};
}

// All values, whatever the shape.
inline VectorView AsVector(const Tensor& tensor) {
  return {tensor.data.data(), static_cast<Eigen::Index>(tensor.data.size())};
}

}  // namespace allot
