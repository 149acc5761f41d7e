// Checkpoints and networks: what allot.load_checkpoint reads and Checkpoint.save writes, and the
// forward passes that serve, to compare those of Python with.

#include <nanobind/ndarray.h>
#include <nanobind/stl/string.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "agents/learned/agent.h"
#include "bindings/binding.h"
#include "core/error.h"
#include "experiment/sources.h"
#include "models/checkpoint.h"
#include "models/index_net.h"
#include "models/sequence_net.h"

namespace allot {
namespace {

using Floats = nb::ndarray<const float, nb::c_contig, nb::device::cpu>;
using NumpyFloats = nb::ndarray<nb::numpy, float>;

NumpyFloats ToNumpy(std::vector<float> values, const std::vector<std::size_t>& shape) {
  auto* const kept = new std::vector<float>(std::move(values));
  const nb::capsule owner(kept,
                          [](void* p) noexcept { delete static_cast<std::vector<float>*>(p); });
  return {kept->data(), shape.size(), shape.data(), owner};
}

nb::dict ToDict(const Checkpoint& checkpoint) {
  nb::dict tensors;
  for (const auto& [name, tensor] : checkpoint.weights.tensors) {
    const std::vector<std::size_t> shape(tensor.shape.begin(), tensor.shape.end());
    tensors[name.c_str()] = nb::cast(ToNumpy(tensor.data, shape));
  }
  nb::dict result;
  result["kind"] = checkpoint.weights.kind;
  result["feature_version"] = checkpoint.feature_version;
  result["shape"] = checkpoint.weights.sizes.dump();
  result["state"] = checkpoint.state.dump();
  result["config"] = checkpoint.config.dump();
  result["card"] = checkpoint.card;
  result["sources"] = SourcesOfCheckpoint(checkpoint.config).dump();
  result["tensors"] = tensors;
  return result;
}

Checkpoint FromDict(const nb::dict& given) {
  const auto text = [&](const char* key) { return nb::cast<std::string>(given[key]); };
  Checkpoint checkpoint;
  checkpoint.weights.kind = text("kind");
  checkpoint.feature_version = nb::cast<int>(given["feature_version"]);
  checkpoint.weights.sizes = nlohmann::json::parse(text("shape"));
  checkpoint.state = nlohmann::json::parse(text("state"));
  checkpoint.config = nlohmann::json::parse(text("config"));
  checkpoint.card = text("card");
  for (const auto& [name, value] : nb::cast<nb::dict>(given["tensors"])) {
    const auto values = nb::cast<Floats>(value);
    Tensor tensor;
    for (std::size_t i = 0; i < values.ndim(); ++i) {
      tensor.shape.push_back(static_cast<std::int64_t>(values.shape(i)));
    }
    tensor.data.assign(values.data(), values.data() + values.size());
    checkpoint.weights.tensors.emplace(nb::cast<std::string>(name), std::move(tensor));
  }
  return checkpoint;
}

Checkpoint LoadServable(const std::string& path) {
  Checkpoint checkpoint = LoadCheckpoint(path);
  RequireServable(checkpoint, path);
  return checkpoint;
}

nb::list Networks() {
  nb::list networks;
  for (const NetworkInfo& info : Registry<NetworkInfo>::Global().entries()) {
    nb::dict one;
    one["name"] = info.id;
    one["summary"] = info.summary;
    one["actions"] = info.actions;
    one["feature_version"] = info.feature_version;
    networks.append(one);
  }
  return networks;
}

nb::dict FreshCheckpoint(const std::string& spec, std::uint64_t seed) {
  Checkpoint checkpoint;
  checkpoint.weights = MakeNetwork(spec, seed);
  checkpoint.feature_version = NetworkOf(checkpoint.weights).feature_version;
  checkpoint.config = {{"network", spec}, {"sources", nlohmann::json::array()}};
  checkpoint.state = nlohmann::json::object();
  return ToDict(checkpoint);
}

nb::dict BeginIn(const nb::dict& given, const std::string& world, const std::string& index) {
  Checkpoint checkpoint = FromDict(given);
  const NetworkInfo& network = NetworkOf(checkpoint.weights);
  if (!network.begin_in) {
    throw UsageError("network '{}' has no parts for worlds", checkpoint.weights.kind);
  }
  network.begin_in(&checkpoint.weights, world, index);
  return ToDict(checkpoint);
}

void Save(const nb::dict& given, const std::string& path) {
  const Checkpoint checkpoint = FromDict(given);
  RequireServable(checkpoint, path);
  SaveCheckpoint(checkpoint, path);
}

NumpyFloats Outputs(const nb::dict& given, const std::string& world, const Floats& jobs,
                    const Floats& context) {
  const NetWeights all = FromDict(given).weights;
  const NetWeights weights = WeightsIn(all, world);
  const bool sequence = NetworkOf(weights).actions == "sequence";
  const std::size_t rows = jobs.ndim() == 2 ? jobs.shape(0) : 0;
  const std::span<const float> x(jobs.data(), jobs.size());
  const std::span<const float> c(context.data(), context.size());
  const auto require = [&](const char* what, std::size_t has, const char* key) {
    const auto needed = static_cast<std::size_t>(SizeOf(weights, key, "network"));
    if (has != needed) throw UsageError("{} must have {} {}, got {}", what, needed, key, has);
  };
  if (jobs.ndim() != 2) throw UsageError("jobs must have 2 dimensions, got {}", jobs.ndim());
  require("jobs", jobs.shape(1), "job_features");
  if (weights.sizes.contains("context_features")) {
    require("context", context.size(), "context_features");
  }
  if (weights.sizes.contains("window")) require("jobs", rows, "window");
  if (sequence) {
    const auto kinds = static_cast<std::size_t>(SizeOf(weights, "kinds", "network"));
    std::vector<float> logits(rows * kinds + 1);
    SequenceNet::Scratch scratch;
    MakeSequenceNet(weights)->Forward(x, c, logits, &scratch);
    const std::size_t count = logits.size();
    return ToNumpy(std::move(logits), {count});
  }
  const IndexNetWeights index(weights);
  const auto outputs = static_cast<std::size_t>(index.shape.outputs);
  std::vector<float> scores(rows * outputs);
  IndexNet::Scratch scratch;
  IndexNet(index).Forward(x, c, scores, &scratch);
  return ToNumpy(std::move(scores), {rows, outputs});
}

void Bind(nb::module_& module) {
  module.def("_networks", Networks);
  module.def("_load_checkpoint",
             [](const std::string& path) { return ToDict(LoadServable(path)); });
  module.def("_save_checkpoint", Save);
  module.def("_fresh_checkpoint", FreshCheckpoint);
  module.def("_begin_in", BeginIn);
  module.def("_network_outputs", Outputs);
}

ALLOT_REGISTER(BindingInfo, (BindingInfo{"network", "checkpoints, and the forward passes", Bind}));

}  // namespace
}  // namespace allot
