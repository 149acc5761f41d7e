#include "plans/gpu_facts.h"

#include <algorithm>

namespace allot {

// Peaks, memory and bandwidths are those of the makers' data sheets, with one network adapter a GPU
// (V100 with 16 GB: one adapter of 100 Gb/s for eight). The shares of the peak were fitted to
// published speeds (plan_cost.cc). "h100-500w" is the H100 with 96 GB of HBM2e limited to 500 W.
const std::vector<GpuFacts>& KnownGpus() {
  static const std::vector<GpuFacts> gpus = {
      // name, TFLOP/s, fp8, share, GB, GB/s of memory, link, network, GPUs of a node
      {"v100-16", 125, 1, 0.6352, 17.2, 900, 130, 1.56, 8},
      {"v100", 125, 1, 0.6352, 34.4, 900, 150, 12.5, 8},
      {"a100-40", 312, 1, 0.762012, 42.9, 1555, 300, 25, 8},
      {"a100", 312, 1, 0.762012, 85.9, 2039, 300, 25, 8},
      {"h100", 989, 2, 0.753427, 85.9, 3350, 450, 50, 8},
      {"h100-500w", 870.32, 2, 0.753427, 102.0, 2400, 450, 50, 8},
      {"h200", 989, 2, 0.753427, 150.7, 4800, 450, 50, 8},
      {"b200", 2250, 2, 0.680531, 192, 7700, 900, 50, 8},
      {"gb200", 2450, 2, 0.680531, 198, 8000, 900, 50, 64},
  };
  return gpus;
}

const GpuFacts* FindGpu(std::string_view name) {
  const auto& gpus = KnownGpus();
  const auto found = std::find_if(gpus.begin(), gpus.end(),
                                  [name](const GpuFacts& gpu) { return gpu.name == name; });
  return found == gpus.end() ? nullptr : &*found;
}

std::vector<std::string> KnownGpuNames() {
  std::vector<std::string> names;
  names.reserve(KnownGpus().size());
  for (const GpuFacts& gpu : KnownGpus()) names.push_back(gpu.name);
  return names;
}

}  // namespace allot
