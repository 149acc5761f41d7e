#include "cluster/cluster_spec.h"

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <limits>
#include <map>
#include <tuple>
#include <utility>

#include "cluster/cluster_format.h"
#include "cluster/cluster_parts.h"
#include "core/check.h"
#include "core/error.h"
#include "core/index.h"
#include "core/strings.h"
#include "perf/throughput_model.h"
#include "table/row_error.h"

namespace allot {
namespace {

constexpr std::int32_t kCpusPerGpu = 8;
// Limits keep every total within 32 bits.
constexpr std::int32_t kMaxNodes = 1'000'000;
constexpr std::int32_t kMaxCpusPerNode = 2'000;
constexpr std::int32_t kMaxMemoryGb = 1'000'000;
constexpr std::int64_t kMbPerGb = 1024;
constexpr std::size_t kMaxTypes = std::numeric_limits<GpuTypeIndex>::max();

bool IsTypeName(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [](unsigned char c) {
    return std::isalnum(c) != 0 || c == '-' || c == '_' || c == '.';
  });
}

// The parts of one line. Its errors blame the command line, or the file when `place` names one.
class PartReader {
 public:
  explicit PartReader(std::string place) : place_(std::move(place)) {}

  void AddPart(std::string_view part, ClusterSpec* spec) const {
    const std::size_t colon = part.find(':');
    std::string_view type =
        colon == std::string_view::npos ? kUnnamedGpuType : Trim(part.substr(colon + 1));
    double gpu_memory = 0;
    if (const std::size_t at = type.find('@'); at != std::string_view::npos) {
      const auto gigabytes = ParseNumber(Trim(type.substr(at + 1)));
      if (!gigabytes || !(*gigabytes > 0 && *gigabytes <= kMaxMemoryGb)) {
        Fail("the memory of a GPU is a number > 0 of GB, at most {}, got '{}' in '{}'",
             kMaxMemoryGb, type.substr(at + 1), part);
      }
      gpu_memory = *gigabytes;
      type = Trim(type.substr(0, at));
    }
    if (!IsTypeName(type)) {
      Fail("a GPU type is made of letters, digits, '-', '_' and '.', got '{}' in '{}'", type, part);
    }
    const std::vector<std::string_view> factors = Split(Trim(part.substr(0, colon)), 'x');
    if (factors.size() < 2 || factors.size() > 4) {
      Fail(
          "a part of a cluster is NODESxGPUS[xCPUS[xMEMORY]][:TYPE[@MEMORY]], as in '16x4' or "
          "'6x4:v100', got {}{}",
          Quoted(part), place_.empty() ? ", which is no file either" : "");
    }
    const auto nodes = Factor("nodes", factors[0], 1, kMaxNodes, part);
    Resources capacity;
    capacity.gpus = Factor("GPUs a node", factors[1], 0, kMaxGpusPerNode, part);
    // Between two x nothing: memory is known, CPUs are not.
    const bool states_cpus =
        factors.size() >= 3 && !(factors.size() == 4 && Trim(factors[2]).empty());
    capacity.cpus = states_cpus ? Factor("CPUs a node", factors[2], 0, kMaxCpusPerNode, part)
                                : kCpusPerGpu * capacity.gpus;
    if (factors.size() == 4) {
      capacity.memory_mb =
          kMbPerGb * Factor("GB of memory a node", factors[3], 1, kMaxMemoryGb, part);
    }
    const auto present = static_cast<std::int32_t>(spec->nodes().size());
    if (present + nodes > kMaxNodes) {
      Fail("a cluster has at most {} nodes, got {} with '{}'", kMaxNodes, present + nodes, part);
    }
    const auto& types = spec->types();
    if (types.size() == kMaxTypes && std::find(types.begin(), types.end(), type) == types.end()) {
      Fail("a cluster has at most {} GPU types, got one more with '{}'", kMaxTypes, part);
    }
    const bool is_new = std::find(types.begin(), types.end(), type) == types.end();
    spec->AddNodes(nodes, capacity, type);
    const auto index = static_cast<GpuTypeIndex>(
        std::find(spec->types().begin(), spec->types().end(), type) - spec->types().begin());
    const double known = spec->gpu_memory_gb(index);
    if (!is_new && known != gpu_memory && gpu_memory > 0) {
      Fail("a GPU type has one memory: '{}' has {} GB and, in '{}', {} GB", type, known, part,
           gpu_memory);
    }
    if (gpu_memory > 0) spec->SetGpuMemory(index, gpu_memory);
    // Nodes without GPUs are for units of CPUs, which these limit in any case.
    if (states_cpus && capacity.gpus > 0) spec->LimitCpus(index);
  }

 private:
  std::int32_t Factor(std::string_view what, std::string_view text, std::int32_t low,
                      std::int32_t high, std::string_view part) const {
    const auto value = ParseInteger(Trim(text));
    if (!value || *value < low || *value > high) {
      Fail("the number of {} is a whole number from {} to {}, got '{}' in '{}'", what, low, high,
           text, part);
    }
    return static_cast<std::int32_t>(*value);
  }

  template <typename... Args>
  [[noreturn]] void Fail(fmt::format_string<Args...> format, Args&&... args) const {
    const std::string message = fmt::format(format, std::forward<Args>(args)...);
    if (place_.empty()) throw UsageError("{}", message);
    throw DataError("{} ({})", message, place_);
  }

  std::string place_;
};

// Gavel's way to write a cluster: GPUs of three types in this order, here with nodes of so many
// GPUs: "36:36:36", "12:12:12x4".
constexpr const char* kGavelTypes[] = {"v100", "p100", "k80"};

bool IsInGavelsOrder(std::string_view text) {
  return text.find_first_not_of("0123456789:x") == std::string_view::npos &&
         text.find(':') < text.find('x') && std::count(text.begin(), text.end(), ':') == 2;
}

void AddInGavelsOrder(std::string_view text, ClusterSpec* spec) {
  const std::size_t times = text.find('x');
  const std::string_view node = times == std::string_view::npos ? "1" : text.substr(times + 1);
  const auto per_node = ParseInteger(node);
  const std::vector<std::string_view> counts = Split(text.substr(0, times), ':');
  for (std::size_t type = 0; type < counts.size(); ++type) {
    const auto gpus = ParseInteger(counts[type]);
    if (!gpus || !per_node || *per_node < 1 || *gpus % *per_node != 0) {
      throw UsageError(
          "GPUs in Gavel's order are whole nodes of each type, V100:P100:K80[xGPUS], as in "
          "'36:36:36' or '12:12:12x4', got '{}' in nodes of '{}' in '{}'",
          counts[type], node, text);
    }
    if (*gpus == 0) continue;
    const std::string part =
        fmt::format("{}x{}:{}", *gpus / *per_node, *per_node, kGavelTypes[type]);
    PartReader("").AddPart(part, spec);
  }
}

}  // namespace

void AddClusterParts(std::string_view line, const std::string& place, ClusterSpec* spec) {
  const PartReader reader(place);
  for (const std::string_view part : Split(line, ',')) reader.AddPart(Trim(part), spec);
}

namespace {

// Whether a text that names no file was meant to: it has a folder, or an ending like ".txt".
bool LooksLikePath(std::string_view text) {
  if (text.find('/') != std::string_view::npos) return true;
  const std::size_t dot = text.find_last_of('.');
  if (dot == std::string_view::npos || dot == 0) return false;
  if (text.find_first_of(":,") != std::string_view::npos) return false;  // parts with types
  const std::string_view ending = text.substr(dot + 1);
  return !ending.empty() && std::isalpha(static_cast<unsigned char>(ending.front())) != 0 &&
         IsTypeName(ending);
}

// Whether the text is a file. DataError for a path where no file is, or none that can be read
// again.
bool IsClusterFile(const std::string& text) {
  std::error_code ignored;  // a text that cannot be a path is simply no file
  if (std::filesystem::is_regular_file(text, ignored)) return true;
  if (std::filesystem::exists(text, ignored)) {
    throw DataError("a node list must be a file on disk, because it is read more than once, got {}",
                    Quoted(text));
  }
  if (!LooksLikePath(text)) return false;
  throw DataError(
      "no file {}: a cluster is the path of a node list ('allot list cluster-formats'), or parts "
      "like 16x8 or 6x4:v100,3x8:a100",
      Quoted(text));
}

}  // namespace

ClusterSpec ClusterSpec::Parse(std::string_view text) {
  ClusterSpec spec;
  const std::string path(text);
  const bool file = IsClusterFile(path);
  if (file) {
    ReadReport report;
    spec = ReadCluster(path, &report);
  } else if (IsInGavelsOrder(text)) {
    AddInGavelsOrder(text, &spec);
  } else {
    AddClusterParts(text, "", &spec);
  }
  if (spec.total().gpus == 0) {
    throw Error(file ? ExitCode::kBadData : ExitCode::kUsage,
                fmt::format("a cluster needs at least 1 GPU, '{}' has {} on {} nodes", text,
                            spec.total().gpus, spec.nodes().size()));
  }
  return spec;
}

namespace {

// Memory that is not stated is not limited; what is down has none.
Resources WithMemory(Resources capacity) {
  const bool there = capacity.gpus > 0 || capacity.cpus > 0;
  if (there && capacity.memory_mb == 0) capacity.memory_mb = kUnlimitedMemory;
  return capacity;
}

}  // namespace

void ClusterSpec::SetCapacity(NodeIndex node, const Resources& given) {
  const Resources capacity = WithMemory(given);
  const auto n = static_cast<std::size_t>(node);
  Node& changed = nodes_.at(n);
  Resources& of_type = type_total_[static_cast<std::size_t>(changed.type)];
  of_type = of_type - changed.capacity + capacity;
  total_ = total_ - changed.capacity + capacity;
  changed.capacity = capacity;
  gpu_masks_[n] = GpuMask(capacity.gpus);
  cpus_[n] = capacity.cpus;
  if (!memory_mb_.empty()) memory_mb_[n] = capacity.memory_mb;
}

GpuTypeIndex ClusterSpec::AddType(std::string_view type) {
  auto known = std::find(types_.begin(), types_.end(), type);
  if (known == types_.end()) {
    ALLOT_CHECK_LT(types_.size(), kMaxTypes);
    known = types_.insert(types_.end(), std::string(type));
    type_total_.emplace_back();
    gpu_memory_gb_.push_back(0);
    limits_cpus_.push_back(false);
  }
  return static_cast<GpuTypeIndex>(known - types_.begin());
}

void ClusterSpec::AddNodes(std::int32_t count, const Resources& given, std::string_view type) {
  const Resources capacity = WithMemory(given);
  ALLOT_CHECK_GE(count, 1);
  ALLOT_CHECK(topology_ == nullptr);
  ALLOT_CHECK_GE(capacity.gpus, 0);
  ALLOT_CHECK_LE(capacity.gpus, kMaxGpusPerNode);
  ALLOT_CHECK_GE(capacity.cpus, 0);
  ALLOT_CHECK_GE(capacity.memory_mb, 0);
  const GpuTypeIndex index = AddType(type);
  const bool limited = capacity.memory_mb != 0 && capacity.memory_mb != kUnlimitedMemory;
  if (limited && memory_mb_.empty()) {
    for (const Node& node : nodes_) memory_mb_.push_back(node.capacity.memory_mb);
  }
  nodes_.insert(nodes_.end(), static_cast<std::size_t>(count), Node{index, capacity});
  gpu_masks_.resize(nodes_.size(), GpuMask(capacity.gpus));
  cpus_.resize(nodes_.size(), capacity.cpus);
  if (limited || !memory_mb_.empty()) memory_mb_.resize(nodes_.size(), capacity.memory_mb);
  type_total_[static_cast<std::size_t>(index)] += capacity * count;
  total_ += capacity * count;
}

void ClusterSpec::SetGpuMemory(GpuTypeIndex type, double gigabytes) {
  gpu_memory_gb_.at(static_cast<std::size_t>(type)) = gigabytes;
}

void ClusterSpec::LimitCpus(GpuTypeIndex type) { limits_cpus_.at(At(type)) = true; }

std::vector<GpuCount> ClusterSpec::type_capacity() const {
  std::vector<GpuCount> gpus;
  for (const Resources& total : type_total_) gpus.push_back(total.gpus);
  return gpus;
}

std::vector<GpuTypeSpec> ClusterSpec::type_specs() const {
  std::vector<GpuTypeSpec> specs;
  for (std::size_t type = 0; type < types_.size(); ++type) {
    specs.push_back(
        {types_[type], type_total_[type].gpus, 0, false, gpu_memory_gb_[type], limits_cpus_[type]});
  }
  std::map<std::tuple<GpuTypeIndex, std::int32_t, std::int32_t, std::int64_t>, std::int32_t> alike;
  for (const Node& node : nodes_) {
    GpuTypeSpec& spec = specs[static_cast<std::size_t>(node.type)];
    spec.node_gpus = std::max(spec.node_gpus, node.capacity.gpus);
    const std::int64_t memory = node.capacity.memory_mb;
    spec.limits_memory = spec.limits_memory || (memory != 0 && memory != kUnlimitedMemory);
    ++alike[{node.type, node.capacity.gpus, node.capacity.cpus, memory}];
  }
  for (const auto& [kind, count] : alike) {
    const auto& [type, gpus, cpus, memory] = kind;
    specs[At(type)].nodes.push_back({{gpus, cpus, memory}, count});
  }
  return specs;
}

std::string ClusterSpec::ToString() const {
  std::vector<std::string> parts;
  for (auto run = nodes_.begin(); run != nodes_.end();) {
    const auto end = std::find_if(run, nodes_.end(), [&](const Node& node) {
      return node.type != run->type || !(node.capacity == run->capacity);
    });
    std::string part = fmt::format("{}x{}", end - run, run->capacity.gpus);
    const Resources& capacity = run->capacity;
    const bool limited = capacity.memory_mb != 0 && capacity.memory_mb != kUnlimitedMemory;
    if (limits_cpus_[At(run->type)] || capacity.cpus != kCpusPerGpu * capacity.gpus) {
      part += fmt::format("x{}", capacity.cpus);
    } else if (limited) {
      part += "x";
    }
    if (limited) part += fmt::format("x{}", capacity.memory_mb / kMbPerGb);
    const std::size_t type = At(run->type);
    const double gpu_memory = gpu_memory_gb_[type];
    if (types_[type] != kUnnamedGpuType || gpu_memory > 0) part += ":" + types_[type];
    if (gpu_memory > 0) part += fmt::format("@{}", gpu_memory);
    parts.push_back(std::move(part));
    run = end;
  }
  return Join(parts, ",");
}

std::string ClusterSpec::InWords() const {
  std::vector<std::pair<std::pair<GpuTypeIndex, GpuCount>, int>> kinds;  // by first node
  for (const Node& node : nodes_) {
    const std::pair kind(node.type, node.capacity.gpus);
    const auto found = std::find_if(kinds.begin(), kinds.end(),
                                    [&](const auto& known) { return known.first == kind; });
    if (found == kinds.end()) {
      kinds.emplace_back(kind, 1);
    } else {
      ++found->second;
    }
  }
  std::vector<std::string> parts;
  for (const auto& [kind, count] : kinds) {
    const std::string& type = types_[At(kind.first)];
    const char* const what = !parts.empty() ? "" : count == 1 ? " node" : " nodes";
    const std::string named = type == kUnnamedGpuType ? (kind.second == 1 ? "GPU" : "GPUs") : type;
    parts.push_back(fmt::format("{}{} with {} {}", count, what, kind.second, named));
  }
  return Join(parts, ", ");
}

}  // namespace allot
