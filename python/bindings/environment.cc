// Environments: one, and a pool of them, over memory that numpy sees without copies.

#include <nanobind/ndarray.h>
#include <nanobind/stl/map.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <chrono>
#include <cstddef>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "bindings/agent_options.h"
#include "bindings/binding.h"
#include "core/strings.h"
#include "envs/cluster_env.h"
#include "envs/vector_env.h"
#include "experiment/world.h"
#include "experiment/world_options.h"
#include "features/feature_table.h"

namespace allot {
namespace {

using Texts = std::map<std::string, std::string>;
using Actions = nb::ndarray<const float, nb::c_contig, nb::device::cpu>;

// Episodes of a world: of its settings; where loads are given random spans of its trace, each at
// one of them, or (weekly) those that --seed means on the command line; else the whole window, the
// same each time. What they need lives as long as they.
EpisodeSource EpisodesOf(const Texts& texts, const nb::dict& options) {
  const auto world = std::make_shared<World>(WorldFromTexts(texts));
  const WorldSpec& spec = world->spec();
  if (world->in_settings()) {
    std::vector<EpisodeSource> sources;
    for (const Setting& setting : world->mixed_settings()) sources.push_back(setting.episodes);
    return sources.size() == 1 ? sources.front() : MixedEpisodes(std::move(sources));
  }
  const auto windows = nb::cast<std::string>(options["windows"]);
  if (windows != "random" && windows != "weekly") {
    throw UsageError("windows must be 'random' or 'weekly', got '{}'", windows);
  }
  if (windows == "weekly") {
    const EpisodeSource source = world->EvaluationEpisodes();
    return [world, source](std::uint64_t seed) { return source(seed); };
  }
  if (!spec.loads.empty() || world->made_by_law()) {
    const Seconds span = ParseWhen(world->trace(), spec.span);
    const EpisodeSource source = world->TrainingEpisodes(world->cluster(), span, spec.loads);
    return [world, source](std::uint64_t seed) { return source(seed); };
  }
  const auto scenarios = std::make_shared<const std::vector<World::Named>>(world->Scenarios());
  return [world, scenarios](std::uint64_t seed) {
    return (*scenarios)[seed % scenarios->size()].scenario;
  };
}

ClusterEnvOptions OptionsOf(const nb::dict& given) {
  ClusterEnvOptions options;
  static_cast<AgentSideOptions&>(options) = AgentSideOptionsOf(given);
  options.reward = nb::cast<std::string>(given["reward"]);
  options.max_decisions = nb::cast<std::int64_t>(given["max_decisions"]);
  if (options.max_decisions < 1) {
    throw UsageError("max_decisions must be >= 1, got {}", options.max_decisions);
  }
  return options;
}

template <typename T>
nb::object ArrayOf(T* data, std::vector<std::size_t> shape, nb::handle owner,
                   std::vector<std::int64_t> strides = {}) {
  return nb::cast(nb::ndarray<nb::numpy, T>(data, shape.size(), shape.data(), owner,
                                            strides.empty() ? nullptr : strides.data()),
                  nb::rv_policy::reference);
}

nb::tuple SpecOf(const TensorSpec& tensor) {
  return nb::make_tuple(tensor.name, tensor.dtype, tensor.shape, tensor.low, tensor.high);
}

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

// All rows of a buffer's tensors, by name, as arrays that the owner keeps alive. Read-only, but
// with the first row of a buffer that may be written to.
nb::dict ViewsOf(const ObservationBuffer& buffer, const EnvSpec& spec, std::size_t rows, bool batch,
                 nb::handle owner, const ObservationView* first = nullptr) {
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

// Columns of infos that lie one behind the other, each at a stride.
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
  add("avg_jct_s", &StepInfo::avg_jct_s);
  add("makespan_s", &StepInfo::makespan_s);
  add("unfinished_jobs", &StepInfo::unfinished_jobs);
  return dict;
}

nb::tuple TupleOf(const StepInfo& info) {
  return nb::make_tuple(info.time_s, info.dt_s, info.decision, info.active_jobs, info.finished_jobs,
                        info.decided, info.illegal_action, info.unplaced_jobs, info.avg_jct_s,
                        info.makespan_s, info.unfinished_jobs);
}

// Of one thread at a time: others get a UsageError. Taken and given back with the GIL held.
class Alone {
 public:
  explicit Alone(bool* busy) : busy_(busy) {
    if (*busy) throw UsageError("another thread is stepping or resetting this environment");
    *busy = true;
  }
  ~Alone() { *busy_ = false; }
  Alone(const Alone&) = delete;
  Alone& operator=(const Alone&) = delete;

 private:
  bool* busy_;
};

class Environment {
 public:
  Environment(const Texts& world, const nb::dict& options)
      : env_(EpisodesOf(world, options), OptionsOf(options)),
        buffer_(env_.spec()),
        view_(buffer_.Row(0)) {}

  nb::tuple Reset(std::optional<std::uint64_t> seed) {
    const Alone alone(&busy_);
    const StepInfo info = [&] {
      const nb::gil_scoped_release release;
      const StepInfo first = env_.Reset(seed);
      env_.Observe(view_);
      return first;
    }();
    begun_ = true;
    return TupleOf(info);
  }

  nb::tuple Step(const Actions& action) { return StepWith({action.data(), action.size()}); }
  nb::tuple StepNumber(std::int64_t action) {
    const auto number = static_cast<float>(action);
    return StepWith({&number, 1});
  }

  ClusterEnv& env() { return env_; }
  const ClusterEnv& env() const { return env_; }
  const ObservationBuffer& buffer() const { return buffer_; }
  const SimulatedCluster& cluster() const {
    if (!begun_) throw UsageError("the environment is not reset: call reset first");
    return env_.cluster();
  }

 private:
  nb::tuple StepWith(std::span<const float> action) {
    const Alone alone(&busy_);
    if (!begun_) throw UsageError("step before reset: call reset first");
    const StepResult result = [&] {
      const nb::gil_scoped_release release;
      const StepResult stepped = env_.Step(action);
      env_.Observe(view_);
      return stepped;
    }();
    return nb::make_tuple(result.reward, result.terminated, result.truncated, TupleOf(result.info));
  }

  ClusterEnv env_;
  ObservationBuffer buffer_;
  ObservationView view_;
  bool begun_ = false;
  bool busy_ = false;
};

class Pool {
 public:
  Pool(const Texts& world, const nb::dict& options, std::int64_t count, int threads,
       const std::string& autoreset) {
    const std::map<std::string, Autoreset> modes = {{"SameStep", Autoreset::kSameStep},
                                                    {"NextStep", Autoreset::kNextStep},
                                                    {"Disabled", Autoreset::kDisabled}};
    const auto found = modes.find(autoreset);
    if (found == modes.end()) {
      throw UsageError("autoreset must be SameStep, NextStep or Disabled, got '{}'", autoreset);
    }
    const ClusterEnvOptions of_each = OptionsOf(options);
    const EpisodeSource episodes = EpisodesOf(world, options);
    envs_ = std::make_unique<VectorEnv>(
        count, [&](std::int64_t) { return std::make_unique<ClusterEnv>(episodes, of_each); },
        threads, found->second);
  }

  void Reset(const std::vector<std::optional<std::uint64_t>>& seeds,
             const std::vector<std::uint8_t>& mask) {
    const Alone alone(&busy_);
    const nb::gil_scoped_release release;
    envs_->Reset(seeds, mask);
  }
  void Step(const Actions& actions) {
    const Alone alone(&busy_);
    const nb::gil_scoped_release release;
    envs_->Step({actions.data(), actions.size()});
  }
  double Run(const Actions& actions, int steps) {
    const Alone alone(&busy_);
    const nb::gil_scoped_release release;
    const auto start = std::chrono::steady_clock::now();
    for (int step = 0; step < steps; ++step) envs_->Step({actions.data(), actions.size()});
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  }
  void Send(const Actions& actions, const std::vector<std::int64_t>& environments) {
    const Alone alone(&busy_);
    envs_->Send({actions.data(), actions.size()}, environments);
  }
  std::vector<std::int64_t> Receive(std::int64_t count) {
    const Alone alone(&busy_);
    const nb::gil_scoped_release release;
    return envs_->Receive(count);
  }
  // Waits for what is in flight, whose rewards may be Python's.
  void Settle() {
    const nb::gil_scoped_release release;
    envs_->Settle();
  }
  ~Pool() {
    if (envs_ == nullptr) return;
    const nb::gil_scoped_release release;  // workers may need it to end
    envs_.reset();
  }
  Pool(const Pool&) = delete;
  Pool& operator=(const Pool&) = delete;
  const VectorEnv& envs() const { return *envs_; }
  std::pair<std::size_t, ObservationBuffer*> AddObservation() {
    const Alone alone(&busy_);
    const std::size_t which = envs_->AddObservation();
    return {which, &envs_->observation(which)};
  }
  void ShowIn(std::size_t which) {
    const Alone alone(&busy_);
    envs_->ShowIn(which);
  }

 private:
  std::unique_ptr<VectorEnv> envs_;
  bool busy_ = false;
};

nb::list NamesOfJobs(const SimulatedCluster& cluster) {
  nb::list names;
  for (const Job& job : cluster.scenario().workload().jobs) names.append(job.id);
  return names;
}

// GPUs of each node: in use and there.
nb::tuple NodesInUse(const SimulatedCluster& cluster) {
  const Observation& o = cluster.Observe();
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

nb::list JobRecords(const SimulatedCluster& cluster) {
  nb::list rows;
  for (const JobRecord& r : cluster.records()) {
    rows.append(nb::make_tuple(
        cluster.scenario().workload().jobs[static_cast<std::size_t>(r.job)].id, r.submit,
        r.first_start, r.finish, r.gpu_seconds, r.preemptions, r.restarts));
  }
  return rows;
}

void Bind(nb::module_& module) {
  nb::class_<Environment>(module, "Environment", "One simulated cluster; see allot.envs.")
      .def(nb::init<const Texts&, const nb::dict&>(), "world"_a, "options"_a)
      .def("spec", [](const Environment& e) { return SpecOf(e.env().spec()); })
      .def("views",
           [](nb::handle_t<Environment> self) {
             const auto& e = nb::cast<const Environment&>(self);
             return ViewsOf(e.buffer(), e.env().spec(), 1, false, self);
           })
      .def("reset", &Environment::Reset, "seed"_a.none())
      .def("step", &Environment::Step, "action"_a)
      .def("step_number", &Environment::StepNumber, "action"_a)
      .def("job_names", [](const Environment& e) { return NamesOfJobs(e.cluster()); })
      .def("nodes_in_use", [](const Environment& e) { return NodesInUse(e.cluster()); })
      .def("job_records", [](const Environment& e) { return JobRecords(e.cluster()); });

  nb::class_<Pool>(module, "Pool", "Environments stepped as one; see allot.envs.")
      .def(nb::init<const Texts&, const nb::dict&, std::int64_t, int, const std::string&>(),
           "world"_a, "options"_a, "count"_a, "threads"_a, "autoreset"_a)
      .def("spec", [](const Pool& p) { return SpecOf(p.envs().spec().single); })
      .def("threads", [](const Pool& p) { return p.envs().threads(); })
      .def("views",
           [](nb::handle_t<Pool> self) {
             const VectorEnv& envs = nb::cast<const Pool&>(self).envs();
             const auto count = static_cast<std::size_t>(envs.spec().num_envs);
             const EnvSpec& spec = envs.spec().single;
             nb::dict dict;
             dict["observation"] = ViewsOf(envs.observation(), spec, count, true, self);
             dict["final_observation"] = ViewsOf(envs.final_observation(), spec, count, true, self);
             dict["info"] = ColumnsOf(envs.infos(), self);
             dict["final_info"] = ColumnsOf(envs.final_infos(), self);
             dict["rewards"] = ArrayOf(envs.rewards().data(), {count}, self);
             dict["terminated"] = ArrayOf(envs.terminated().data(), {count}, self);
             dict["truncated"] = ArrayOf(envs.truncated().data(), {count}, self);
             return dict;
           })
      .def("reset", &Pool::Reset, "seeds"_a, "mask"_a)
      .def("add_observation",
           [](nb::handle_t<Pool> self) {
             auto& pool = nb::cast<Pool&>(self);
             const auto [which, buffer] = pool.AddObservation();
             const VectorEnvSpec& spec = pool.envs().spec();
             const ObservationView first = buffer->Row(0);
             return nb::make_tuple(
                 which, ViewsOf(*buffer, spec.single, static_cast<std::size_t>(spec.num_envs), true,
                                self, &first));
           })
      .def("show_in", &Pool::ShowIn, "which"_a)
      .def("step", &Pool::Step, "actions"_a)
      .def("run", &Pool::Run, "actions"_a, "steps"_a,
           "Steps so often with the same actions; returns the seconds. For bench/python_env.py.")
      .def("send", &Pool::Send, "actions"_a, "environments"_a)
      .def("settle", &Pool::Settle)
      .def("receive", &Pool::Receive, "count"_a);

  module.def("settings", [] {
    nb::list rows;
    for (const SettingInfo& setting : Registry<SettingInfo>::Global().entries()) {
      nb::list params;
      for (const ParamSpec& param : setting.params) {
        params.append(nb::make_tuple(param.name, param.default_value, param.help));
      }
      rows.append(nb::make_tuple(setting.id, setting.summary, params));
    }
    return rows;
  });
  module.def("world_options", [] {
    nb::list names;
    for (const WorldOption& option : WorldOptionTable()) {
      names.append(nb::make_tuple(option.name, option.help));
    }
    return names;
  });
  module.def("did_you_mean", [](const std::string& word, const std::vector<std::string>& known) {
    return DidYouMean(word, known);
  });
  // For env.metadata and allot.features: what each column of `jobs` and `context` is.
  module.def("feature_tables", [] {
    const auto rows = [](const std::vector<FeatureInfo>& table) {
      nb::list list;
      for (const FeatureInfo& f : table) {
        nb::dict row;
        row["name"] = f.name;
        row["unit"] = f.unit;
        row["meaning"] = f.meaning;
        row["low"] = f.low;
        row["high"] = f.high;
        list.append(row);
      }
      return list;
    };
    nb::dict tensors;
    tensors["jobs"] = rows(JobFeatureTable());
    tensors["context"] = rows(ContextFeatureTable());
    nb::dict tables;
    tables["features"] = tensors;
    tables["feature_version"] = kFeatureVersion;
    return tables;
  });
  module.def("rewards", [] { return Registry<RewardInfo>::Global().ids(); });
  module.def("training_decisions",
             [](const std::string& setting) { return MakeSetting(setting).training_decisions; });
}

ALLOT_REGISTER(BindingInfo, (BindingInfo{"environment", "environments and pools of them", Bind}));

}  // namespace
}  // namespace allot
