#pragma once
// The house counts in signed 32-bit indices (-1: none); containers want size_t.

#include <cstddef>
#include <cstdint>

namespace allot {

constexpr std::size_t At(std::int32_t index) { return static_cast<std::size_t>(index); }

}  // namespace allot
