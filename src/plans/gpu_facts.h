#pragma once
// What a step's time depends on of a GPU type and of the network between such GPUs. The known types
// are in gpu_facts.cc, one row each; a catalogue may have others (docs/plans.md).

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace allot {

struct GpuFacts {
  std::string name;
  double peak_tflops = 0;        // of dense 16-bit matrix products
  double fp8_speedup = 1;        // peak of 8-bit products over that of 16-bit ones; 1: it has none
  double matmul_share = 0.75;    // of the peak that large matrix products reach
  double memory_gb = 0;          // 10^9 bytes
  double memory_bandwidth = 0;   // GB/s
  double link_bandwidth = 0;     // GB/s a GPU and direction, between GPUs of a node
  double network_bandwidth = 0;  // GB/s a GPU, between nodes
  int node_gpus = 8;             // GPUs that its links join
};

// By name, in the order of their age.
const std::vector<GpuFacts>& KnownGpus();
const GpuFacts* FindGpu(std::string_view name);  // null where it is not known
std::vector<std::string> KnownGpuNames();

}  // namespace allot
