#include "envs/observation_buffer.h"

#include <algorithm>

#include "core/check.h"

namespace allot {

ObservationBuffer::ObservationBuffer(const EnvSpec& spec, std::size_t count) {
  for (const TensorSpec& tensor : spec.observation) {
    const auto elements = static_cast<std::size_t>(tensor.elements());
    Tensor& added = tensors_.emplace_back(Tensor{tensor.name, elements, {}});
    if (tensor.dtype == "float32") {
      added.values = std::vector<float>(count * elements);
    } else if (tensor.dtype == "int64") {
      added.values = std::vector<std::int64_t>(count * elements);
    } else {
      ALLOT_CHECK_EQ(tensor.dtype, std::string("uint8"));
      added.values = std::vector<std::uint8_t>(count * elements);
    }
  }
}

const ObservationBuffer::Values& ObservationBuffer::Named(std::string_view name) const {
  const auto found = std::find_if(tensors_.begin(), tensors_.end(),
                                  [name](const Tensor& tensor) { return tensor.name == name; });
  ALLOT_CHECK(found != tensors_.end());
  return found->values;
}

std::span<const float> ObservationBuffer::floats(std::string_view name) const {
  return std::get<std::vector<float>>(Named(name));
}

std::span<const std::uint8_t> ObservationBuffer::bytes(std::string_view name) const {
  return std::get<std::vector<std::uint8_t>>(Named(name));
}

std::span<const std::int64_t> ObservationBuffer::integers(std::string_view name) const {
  return std::get<std::vector<std::int64_t>>(Named(name));
}

ObservationView ObservationBuffer::Row(std::size_t index) {
  std::vector<ObservationView::Tensor> views;
  for (Tensor& tensor : tensors_) {
    std::visit(
        [&](auto& values) {
          views.emplace_back(std::span(values).subspan(index * tensor.elements, tensor.elements));
        },
        tensor.values);
  }
  return ObservationView(std::move(views));
}

void ObservationBuffer::CopyRow(const ObservationBuffer& from, std::size_t index) {
  for (std::size_t t = 0; t < tensors_.size(); ++t) {
    std::visit(
        [&]<typename T>(const std::vector<T>& values) {
          const auto row = std::span(values).subspan(index * from.tensors_[t].elements,
                                                     from.tensors_[t].elements);
          std::copy(row.begin(), row.end(), std::get<std::vector<T>>(tensors_[t].values).begin());
        },
        from.tensors_[t].values);
  }
}

void ObservationBuffer::Fill(float number, std::uint8_t byte) {
  for (Tensor& tensor : tensors_) {
    if (auto* numbers = std::get_if<std::vector<float>>(&tensor.values)) {
      std::fill(numbers->begin(), numbers->end(), number);
    } else {
      std::visit([byte](auto& values) { std::fill(values.begin(), values.end(), byte); },
                 tensor.values);
    }
  }
}

}  // namespace allot
