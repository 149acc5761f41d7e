#pragma once
// The scalar vocabulary of the house: units live in the type's name, not in comments.

#include <cstdint>
#include <limits>

namespace allot {

using Seconds = double;            // a duration or a point in time, from the start of the workload
using GpuCount = std::int32_t;     // whole GPUs
using JobIndex = std::int32_t;     // position of a job in its Workload (submit order)
using NodeIndex = std::int32_t;    // position of a node in its ClusterSpec
using GpuTypeIndex = std::int8_t;  // position of a GPU type in its ClusterSpec

inline constexpr Seconds kNever = std::numeric_limits<Seconds>::infinity();
inline constexpr double kUnknown =
    std::numeric_limits<double>::quiet_NaN();  // "unknown stays unknown"

}  // namespace allot
