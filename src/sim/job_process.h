#pragma once
// The truth of how a job progresses: its rate as a function of where it runs and of how far its
// training is. Most jobs have none: their rate is that of the configuration's table entry, always.
// A job whose throughput model varies() has the model's (sim/model_process.h).
//
// A process is made of segments: the rate is constant while the work done is in one, so that ends
// are exact and a rate can change while nothing is decided. A new kind of process is one file in
// sim/processes/ that registers a ProcessInfo, for --progress NAME; it changes what the tables or
// the models say.

#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "cluster/allocation.h"
#include "core/params.h"
#include "core/registry.h"
#include "perf/configuration.h"
#include "perf/throughput_model.h"

namespace allot {

class JobProcess {
 public:
  virtual ~JobProcess() = default;

  // What a job runs on.
  struct Placed {
    const ConfigurationTable& table;  // the true one
    std::int32_t configuration;
    std::span<const NodeShare> shares;  // empty: not known, as for a table's entries
    PlaceFactors place{};
  };
  struct Segment {
    double rate = 0;                                         // work per second; <= 0: no progress
    double until = std::numeric_limits<double>::infinity();  // done work at which it ends
  };
  // The segment that starts at or holds `done`, with done < until. Pure, thread-safe.
  virtual Segment SegmentAt(const Placed& placed, double done) const = 0;
};

using ProcessPtr = std::shared_ptr<const JobProcess>;

// Of a job that has this process, or where it is null the rates of its table.
JobProcess::Segment SegmentOf(const JobProcess* process, const JobProcess::Placed& placed,
                              double done);

struct ProcessInfo {
  std::string id;
  std::string summary;
  std::vector<ParamSpec> params;
  // Of a job with this much work that else had `base` (null: the rates of its table).
  using Maker = std::function<ProcessPtr(double work, ProcessPtr base)>;
  std::function<Maker(const Params&)> make;
};

// "constant", "phases:at=0.5,factors=2". UsageError with did-you-mean.
ProcessInfo::Maker MakeProcesses(std::string_view spec);

}  // namespace allot
