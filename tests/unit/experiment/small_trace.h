#pragma once
// A trace file of a few rigid jobs, and the world of it on one node, in which runs can be worked
// out by hand: decisions every 10 s, nothing is lost by a restart, policies know the lengths.

#include <fstream>
#include <string>

#include "experiment/world.h"
#include "tests/unit/core/temp_folder.h"

namespace allot::testing_support {

class SmallTrace {
 public:
  // Rows below "job_id,submit_s,gpus,duration_s".
  explicit SmallTrace(const std::string& rows) {
    std::ofstream(path()) << "job_id,submit_s,gpus,duration_s\n" << rows;
  }
  std::string path() const { return (folder_ / "trace.csv").string(); }
  const TempFolder& folder() const { return folder_; }

  WorldSpec OnOneNode(const std::string& cluster) const {
    WorldSpec spec;
    spec.workload = path();
    spec.cluster = cluster;
    spec.rigid = true;
    spec.interval = 10;
    spec.restart_cost = 0;
    spec.lengths = "true";
    return spec;
  }

 private:
  TempFolder folder_;
};

}  // namespace allot::testing_support
