#include "cluster/cluster_spec.h"

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <limits>
#include <utility>

#include "core/check.h"
#include "core/error.h"
#include "core/file.h"
#include "core/strings.h"
#include "perf/throughput_model.h"

namespace allot {
namespace {

constexpr std::int32_t kCpusPerGpu = 8;
// Limits keep every total within 32 bits.
constexpr std::int32_t kMaxNodes = 1'000'000;
constexpr std::int32_t kMaxCpusPerNode = 2'000;
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
    const std::string_view type =
        colon == std::string_view::npos ? kUnnamedGpuType : Trim(part.substr(colon + 1));
    if (!IsTypeName(type)) {
      Fail("a GPU type is made of letters, digits, '-', '_' and '.', got '{}' in '{}'", type, part);
    }
    const std::vector<std::string_view> factors = Split(Trim(part.substr(0, colon)), 'x');
    if (factors.size() < 2 || factors.size() > 3) {
      Fail(
          "a part of a cluster is NODESxGPUS[xCPUS][:TYPE], as in '16x4' or '6x4:v100', got '{}'{}",
          part, place_.empty() ? ", which is no file either" : "");
    }
    const auto nodes = Factor("nodes", factors[0], 1, kMaxNodes, part);
    Resources capacity;
    capacity.gpus = Factor("GPUs a node", factors[1], 0, kMaxGpusPerNode, part);
    capacity.cpus = factors.size() == 3
                        ? Factor("CPUs a node", factors[2], 0, kMaxCpusPerNode, part)
                        : kCpusPerGpu * capacity.gpus;
    const auto present = static_cast<std::int32_t>(spec->nodes().size());
    if (present + nodes > kMaxNodes) {
      Fail("a cluster has at most {} nodes, got {} with '{}'", kMaxNodes, present + nodes, part);
    }
    const auto& types = spec->types();
    if (types.size() == kMaxTypes && std::find(types.begin(), types.end(), type) == types.end()) {
      Fail("a cluster has at most {} GPU types, got one more with '{}'", kMaxTypes, part);
    }
    spec->AddNodes(nodes, capacity, type);
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

void AddLine(std::string_view line, const std::string& place, ClusterSpec* spec) {
  const PartReader reader(place);
  for (const std::string_view part : Split(line, ',')) reader.AddPart(Trim(part), spec);
}

void AddFile(const std::string& path, ClusterSpec* spec) {
  const std::string text = ReadTextFile(path);
  int line_number = 0;
  for (std::string_view line : Split(text, '\n')) {
    ++line_number;
    line = Trim(line.substr(0, line.find('#')));
    if (!line.empty()) AddLine(line, fmt::format("{}:{}", path, line_number), spec);
  }
}

}  // namespace

ClusterSpec ClusterSpec::Parse(std::string_view text) {
  ClusterSpec spec;
  const std::string path(text);
  std::error_code ignored;  // a text that cannot be a path is simply no file
  const bool file = std::filesystem::is_regular_file(path, ignored);
  if (file) {
    AddFile(path, &spec);
  } else {
    AddLine(text, "", &spec);
  }
  if (spec.total().gpus == 0) {
    throw Error(file ? ExitCode::kBadData : ExitCode::kUsage,
                fmt::format("a cluster needs at least 1 GPU, '{}' has {} on {} nodes", text,
                            spec.total().gpus, spec.nodes().size()));
  }
  return spec;
}

void ClusterSpec::SetCapacity(NodeIndex node, const Resources& capacity) {
  Node& changed = nodes_.at(static_cast<std::size_t>(node));
  Resources& of_type = type_total_[static_cast<std::size_t>(changed.type)];
  of_type = of_type - changed.capacity + capacity;
  total_ = total_ - changed.capacity + capacity;
  changed.capacity = capacity;
  gpu_masks_[static_cast<std::size_t>(node)] = GpuMask(capacity.gpus);
  cpus_[static_cast<std::size_t>(node)] = capacity.cpus;
}

void ClusterSpec::AddNodes(std::int32_t count, const Resources& capacity, std::string_view type) {
  ALLOT_CHECK_GE(count, 1);
  ALLOT_CHECK_GE(capacity.gpus, 0);
  ALLOT_CHECK_LE(capacity.gpus, kMaxGpusPerNode);
  ALLOT_CHECK_GE(capacity.cpus, 0);
  auto known = std::find(types_.begin(), types_.end(), type);
  if (known == types_.end()) {
    ALLOT_CHECK_LT(types_.size(), kMaxTypes);
    known = types_.insert(types_.end(), std::string(type));
    type_total_.emplace_back();
  }
  const auto index = static_cast<GpuTypeIndex>(known - types_.begin());
  nodes_.insert(nodes_.end(), static_cast<std::size_t>(count), Node{index, capacity});
  gpu_masks_.resize(nodes_.size(), GpuMask(capacity.gpus));
  cpus_.resize(nodes_.size(), capacity.cpus);
  type_total_[static_cast<std::size_t>(index)] += capacity * count;
  total_ += capacity * count;
}

std::vector<GpuCount> ClusterSpec::type_capacity() const {
  std::vector<GpuCount> gpus;
  for (const Resources& total : type_total_) gpus.push_back(total.gpus);
  return gpus;
}

std::string ClusterSpec::ToString() const {
  std::vector<std::string> parts;
  for (auto run = nodes_.begin(); run != nodes_.end();) {
    const auto end = std::find_if(run, nodes_.end(), [&](const Node& node) {
      return node.type != run->type || !(node.capacity == run->capacity);
    });
    std::string part = fmt::format("{}x{}", end - run, run->capacity.gpus);
    if (run->capacity.cpus != kCpusPerGpu * run->capacity.gpus) {
      part += fmt::format("x{}", run->capacity.cpus);
    }
    const std::string& type = types_[static_cast<std::size_t>(run->type)];
    if (type != kUnnamedGpuType) part += ":" + type;
    parts.push_back(std::move(part));
    run = end;
  }
  return Join(parts, ",");
}

}  // namespace allot
