#include "cli/top_run.h"

#include <bit>

#include "core/index.h"

namespace allot {

void TopListener::OnDecision(const Observation& o, const Allocation& /*allocation*/) {
  TopView view;
  view.title = title_;
  view.now = o.now;
  const std::vector<Node>& nodes = o.cluster->nodes();
  const std::vector<Node>& whole = scenario_.cluster().nodes();
  view.nodes.resize(nodes.size());
  for (std::size_t n = 0; n < nodes.size(); ++n) {
    const bool down = nodes[n].capacity.gpus == 0 && whole[n].capacity.gpus > 0;
    view.nodes[n] = {std::to_string(n), o.cluster->types()[At(nodes[n].type)],
                     whole[n].capacity.gpus, 0, down ? NodeState::kDown : NodeState::kUp};
  }
  const Workload& workload = scenario_.workload();
  while (At(come_) < workload.jobs.size() && workload.jobs[At(come_)].submit <= o.now) ++come_;
  view.finished = come_ - o.rows();
  view.jobs.resize(At(o.rows()));
  for (std::int32_t row = 0; row < o.rows(); ++row) {
    TopJob& job = view.jobs[At(row)];
    const JobIndex index = o.job[At(row)];
    job.name = workload.jobs[At(index)].id;
    if (o.user_names != nullptr && o.user[At(row)] >= 0) {
      job.user = (*o.user_names)[At(o.user[At(row)])];
    }
    for (const NodeShare& share : o.shares_of(row)) {
      const int gpus = std::popcount(share.gpus);
      job.gpus += gpus;
      view.nodes[At(share.node)].used += gpus;
      job.nodes += fmt::format("{}{}:{}", job.nodes.empty() ? "" : " ", share.node, gpus);
    }
    job.stage = job.gpus > 0 ? "runs" : "waits";
    job.asked = std::to_string((*o.table[At(row)])[o.requested[At(row)]].demand.gpus);
    job.done = o.done_work[At(row)] / scenario_.facts(index).work;
    job.age = o.now - o.submit[At(row)];
  }
  watch_(view);
}

}  // namespace allot
