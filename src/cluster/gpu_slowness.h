#pragma once
// How much slower each GPU of a cluster is than the median one of its type, by class of programs:
// the time of an iteration over that on the median GPU (Jain et al., PAL, SC'24). GPUs of one type
// differ, and not alike for all programs; models of alike programs are of one class
// (Catalogue::SlownessClassOf).
//
// A value that belongs to a ClusterSpec, whose nodes it numbers; a cluster without one has GPUs
// that are alike (ClusterSpec::slowness() is null).

#include <cstddef>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "cluster/allocation.h"
#include "cluster/cluster_spec.h"
#include "core/index.h"

namespace allot {

class GpuSlowness {
 public:
  // The class of the jobs whose model is of no class that is given.
  static constexpr std::string_view kAnyClass = "any";

  // No class is given. O(nodes).
  explicit GpuSlowness(const ClusterSpec& cluster);

  // CSV with columns node,gpu,class,slowness (docs/formats/cluster.md). DataError with file and
  // line for a GPU that the cluster lacks, a GPU that has two for a class, or a slowness that is
  // not > 0.
  static std::shared_ptr<const GpuSlowness> FromCsv(std::string_view text, const std::string& path,
                                                    const ClusterSpec& cluster);
  std::string ToCsv() const;  // reads back to an equal one

  // GPUs that a class does not list are 1. Contract (checked): the cluster has the GPU, slowness >
  // 0.
  void Set(std::string_view job_class, NodeIndex node, GpuCount gpu, double slowness);

  // By GPU, nodes in order: of the class, or of kAnyClass where it is not given. Empty: all are 1.
  std::span<const double> Of(std::string_view job_class) const;
  // The place of a node's first GPU in these.
  std::size_t first_gpu(NodeIndex node) const { return first_gpu_[At(node)]; }

  // Of the GPUs of a job of this class; 1 without GPUs. O(log classes + GPUs).
  double SlowestOf(std::string_view job_class, std::span<const NodeShare> shares) const;

 private:
  std::vector<std::size_t> first_gpu_;  // by node, and behind the last one the number of GPUs
  std::map<std::string, std::vector<double>, std::less<>> by_class_;
};

}  // namespace allot
