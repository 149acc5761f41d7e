#include "bindings/environment_arrays.h"

#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "bindings/observation_arrays.h"
#include "features/configuration_tensor.h"

namespace allot {
namespace {

nb::tuple SpecOf(const TensorSpec& tensor) {
  return nb::make_tuple(tensor.name, tensor.dtype, tensor.shape, tensor.low, tensor.high);
}

}  // namespace

nb::dict SpecOf(const EnvSpec& spec) {
  constexpr const char* kKinds[] = {"box", "discrete", "multi_discrete"};
  nb::list tensors;
  for (const TensorSpec& tensor : spec.observation) tensors.append(SpecOf(tensor));
  nb::dict dict;
  dict["observation"] = tensors;
  dict["action"] = SpecOf(spec.action);
  dict["action_kind"] = kKinds[static_cast<int>(spec.action_kind)];
  return dict;
}

nb::dict ViewsOf(const ObservationBuffer& buffer, const EnvSpec& spec, std::size_t rows, bool batch,
                 nb::handle owner, const ObservationView* first) {
  nb::dict dict;
  for (std::size_t k = 0; k < spec.observation.size(); ++k) {
    const TensorSpec& tensor = spec.observation[k];
    std::vector<std::size_t> shape;
    if (batch) shape.push_back(rows);
    for (const std::int64_t n : tensor.shape) shape.push_back(static_cast<std::size_t>(n));
    const auto arrays = [&](auto read_only, auto writable) {
      dict[tensor.name.c_str()] = first == nullptr ? ArrayOf(read_only.data(), shape, owner)
                                                   : ArrayOf(writable().data(), shape, owner);
    };
    if (tensor.dtype == "float32") {
      arrays(buffer.floats(tensor.name), [&] { return first->floats(k); });
    } else if (tensor.dtype == "int64") {
      arrays(buffer.integers(tensor.name), [&] { return first->integers(k); });
    } else {
      arrays(buffer.bytes(tensor.name), [&] { return first->bytes(k); });
    }
  }
  return dict;
}

nb::dict ColumnsOf(std::span<const StepInfo> infos, nb::handle owner) {
  nb::dict dict;
  const auto add = [&]<typename T>(const char* name, const T StepInfo::*member) {
    static_assert(sizeof(StepInfo) % sizeof(T) == 0);
    dict[name] = ArrayOf(&(infos.data()->*member), {infos.size()}, owner,
                         {static_cast<std::int64_t>(sizeof(StepInfo) / sizeof(T))});
  };
  add("time_s", &StepInfo::time_s);
  add("dt", &StepInfo::dt_s);
  add("decision", &StepInfo::decision);
  add("active_jobs", &StepInfo::active_jobs);
  add("finished_jobs", &StepInfo::finished_jobs);
  add("decided", &StepInfo::decided);
  add("illegal_action", &StepInfo::illegal_action);
  add("unplaced_jobs", &StepInfo::unplaced_jobs);
  add("jobs_beyond_window", &StepInfo::jobs_beyond_window);
  add("avg_jct_s", &StepInfo::avg_jct_s);
  add("makespan_s", &StepInfo::makespan_s);
  add("unfinished_jobs", &StepInfo::unfinished_jobs);
  return dict;
}

nb::tuple TupleOf(const StepInfo& info) {
  return nb::make_tuple(info.time_s, info.dt_s, info.decision, info.active_jobs, info.finished_jobs,
                        info.decided, info.illegal_action, info.unplaced_jobs,
                        info.jobs_beyond_window, info.avg_jct_s, info.makespan_s,
                        info.unfinished_jobs);
}

nb::list NamesOfJobs(const SimulatedCluster& cluster) {
  nb::list names;
  for (const Job& job : cluster.scenario().workload().jobs) names.append(job.id);
  return names;
}

nb::tuple NodesInUse(const Observation& o) {
  nb::list used;
  nb::list there;
  const std::vector<Node>& nodes = o.cluster->nodes();
  std::vector<int> count(nodes.size());
  for (const NodeShare& share : o.shares) {
    count[static_cast<std::size_t>(share.node)] += __builtin_popcountll(share.gpus);
  }
  for (std::size_t n = 0; n < nodes.size(); ++n) {
    used.append(count[n]);
    there.append(static_cast<int>(nodes[n].capacity.gpus));
  }
  return nb::make_tuple(used, there);
}

nb::list JobRecordsOf(const SimulatedCluster& cluster) {
  nb::list rows;
  for (const JobRecord& r : cluster.records()) {
    rows.append(nb::make_tuple(
        cluster.scenario().workload().jobs[static_cast<std::size_t>(r.job)].id, r.submit,
        r.first_start, r.finish, r.gpu_seconds, r.preemptions, r.restarts));
  }
  return rows;
}

nb::object ConfigurationsOf(const ClusterEnv& env) {
  const AgentSideOptions& options = env.options();
  std::vector<float> values(static_cast<std::size_t>(options.max_jobs) *
                            static_cast<std::size_t>(options.max_configurations) *
                            kConfigurationColumns);
  WriteConfigurations(env.observation(), options.max_jobs, options.max_configurations, values);
  return OwnArray(std::move(values))
      .attr("reshape")(options.max_jobs, options.max_configurations, kConfigurationColumns);
}

}  // namespace allot
