#include "sim/job_process.h"

namespace allot {

JobProcess::Segment SegmentOf(const JobProcess* process, const JobProcess::Placed& placed,
                              double done) {
  if (process != nullptr) return process->SegmentAt(placed, done);
  return {placed.table[placed.configuration].rate};
}

ProcessInfo::Maker MakeProcesses(std::string_view spec) {
  const NamedParams named = ParseNamedParams(spec);
  const ProcessInfo& info = Registry<ProcessInfo>::Global().Get("progress", named.name);
  return info.make(Params(fmt::format("progress '{}'", info.id), info.params, named.given));
}

}  // namespace allot
