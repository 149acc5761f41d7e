// Pools of environments, over memory that numpy sees without copies.

#include <nanobind/ndarray.h>
#include <nanobind/stl/map.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <chrono>
#include <cstddef>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "bindings/binding.h"
#include "bindings/environment_arrays.h"
#include "bindings/environment_options.h"
#include "envs/cluster_env.h"
#include "envs/vector_env.h"

namespace allot {
namespace {

using Texts = std::map<std::string, std::string>;
using Actions = nb::ndarray<const float, nb::c_contig, nb::device::cpu>;

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
    const EnvironmentOptions made = EnvironmentOptionsOf(world, options);
    envs_ = std::make_unique<VectorEnv>(
        count,
        [&](std::int64_t) { return std::make_unique<ClusterEnv>(made.episodes, made.of_each); },
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
  // One environment at rest. UsageError before its first reset, and while any are in flight.
  const ClusterEnv& At(std::int64_t index) {
    const Alone alone(&busy_);
    return dynamic_cast<const ClusterEnv&>(envs_->At(index));
  }
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

void Bind(nb::module_& module) {
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
      .def("job_names",
           [](Pool& p, std::int64_t index) { return NamesOfJobs(p.At(index).cluster()); })
      .def("job_records",
           [](Pool& p, std::int64_t index) { return JobRecordsOf(p.At(index).cluster()); })
      .def("configurations",
           [](Pool& p, std::int64_t index) { return ConfigurationsOf(p.At(index)); })
      .def("send", &Pool::Send, "actions"_a, "environments"_a)
      .def("settle", &Pool::Settle)
      .def("receive", &Pool::Receive, "count"_a);
}

ALLOT_REGISTER(BindingInfo, (BindingInfo{"pool", "pools of environments", Bind}));

}  // namespace
}  // namespace allot
