#pragma once
// GPU types as people, vendors and schedulers write them: "Tesla V100-SXM2-32GB", "tesla_v100" and
// "v100" name one chip. Used where the types that jobs name meet those of a cluster, a catalogue or
// --type-map.

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace allot {

// A type that there is.
struct KnownGpuType {
  KnownGpuType(std::string type, double gigabytes = 0)  // NOLINT(google-explicit-constructor)
      : name(std::move(type)), memory_gb(gigabytes) {}

  std::string name;
  double memory_gb;  // of one GPU, where something beside its name says so; 0: nothing does
};

// The places of the known types that `name` means, ascending; empty: none.
//  - The type of exactly that name, alone.
//  - Else those whose letters and digits are equal, whatever the case and the separators.
//  - Else those of the same chip whose memory and form (SXM, PCIe, NVL, OAM) do not contradict the
//    name; of several, those that confirm most of what the name says. "a100" therefore means
//    a100-40gb and a100-80gb where a cluster has both, and "NVIDIA A100-SXM4-80GB" only the latter.
// Parts of GPUs (gpu_parts.h) are never taken for whole ones.
std::vector<std::size_t> FindGpuTypes(std::string_view name,
                                      const std::vector<KnownGpuType>& known);

}  // namespace allot
