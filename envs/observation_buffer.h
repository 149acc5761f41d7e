#pragma once
// Memory for observations, made from EnvSpec::observation: its sizes, names and types are declared
// there and nowhere else.

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "envs/spaces.h"

namespace allot {

// Where one environment's observation goes: one piece of memory per tensor of the spec, in its
// order.
class ObservationView {
 public:
  using Tensor =
      std::variant<std::span<float>, std::span<std::uint8_t>, std::span<std::int64_t>>;  // by dtype

  ObservationView() = default;
  explicit ObservationView(std::vector<Tensor> tensors) : tensors_(std::move(tensors)) {}
  // The tensor at this place of the spec, which is of this type.
  std::span<float> floats(std::size_t place) const {
    return std::get<std::span<float>>(tensors_[place]);
  }
  std::span<std::uint8_t> bytes(std::size_t place) const {
    return std::get<std::span<std::uint8_t>>(tensors_[place]);
  }
  std::span<std::int64_t> integers(std::size_t place) const {
    return std::get<std::span<std::int64_t>>(tensors_[place]);
  }

 private:
  std::vector<Tensor> tensors_;
};

// One contiguous array per tensor, row-major, observation i at row i. The addresses hold as long
// as the buffer, also when it is moved.
class ObservationBuffer {
 public:
  ObservationBuffer() = default;
  explicit ObservationBuffer(const EnvSpec& spec, std::size_t count = 1);

  // All rows of the tensor with this name, which is of this type (checked).
  std::span<const float> floats(std::string_view name) const;
  std::span<const std::uint8_t> bytes(std::string_view name) const;
  std::span<const std::int64_t> integers(std::string_view name) const;

  ObservationView Row(std::size_t index);
  void CopyRow(const ObservationBuffer& from, std::size_t index);  // of the same spec, to row 0
  void Fill(float number, std::uint8_t byte);                      // everywhere

  friend bool operator==(const ObservationBuffer&, const ObservationBuffer&) = default;

 private:
  using Values =
      std::variant<std::vector<float>, std::vector<std::uint8_t>, std::vector<std::int64_t>>;
  struct Tensor {
    std::string name;
    std::size_t elements;  // of one row
    Values values;
    friend bool operator==(const Tensor&, const Tensor&) = default;
  };
  const Values& Named(std::string_view name) const;

  std::vector<Tensor> tensors_;
};

}  // namespace allot
