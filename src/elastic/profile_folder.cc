#include "elastic/profile_folder.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "core/error.h"
#include "core/owned_file.h"
#include "core/owned_folder.h"
#include "core/strings.h"
#include "elastic/environment.h"

namespace allot {
namespace {

namespace fs = std::filesystem;

constexpr int kEpochs = 10;
constexpr double kRestartSeconds = 2;  // typical resize with libtorch; users correct the table

std::int64_t WholeFrom(const char* name, std::int64_t otherwise) {
  const std::optional<std::string> text = EnvironmentVariable(name);
  if (!text) return otherwise;
  const auto number = ParseInteger(*text);
  if (!number || *number < 1) {
    throw UsageError("environment: {} must be a whole number above 0, got '{}'", name, *text);
  }
  return *number;
}

// Estimates may be negative or unknown.
double NotNegative(double value) { return value > 0 ? value : 0; }

std::vector<std::string> Lines(const OwnedFolder& folder, const char* name) {
  std::vector<std::string> lines;
  const std::string text = folder.Read(name).value_or("");
  for (const std::string_view line : Split(text, '\n')) {
    if (!line.empty()) lines.emplace_back(line);
  }
  return lines;
}

// Adds `rows` unless a row begins with `key`. Jobs that write into one folder take turns.
void AddRows(const fs::path& path, const char* name, const char* header, const std::string& key,
             const std::vector<std::string>& rows) {
  const OwnedFolder folder = OwnedFolder::OpenOrMake(path);
  const OwnedFile lock = folder.Lock(".lock");
  std::vector<std::string> lines = Lines(folder, name);
  if (lines.empty()) lines.emplace_back(header);
  if (lines.front() != header) {
    throw DataError("{}: its first line must be '{}', got '{}'", (path / name).string(), header,
                    lines.front());
  }
  const auto begins = [&](const std::string& line) { return line.starts_with(key); };
  if (std::any_of(lines.begin() + 1, lines.end(), begins)) return;
  lines.insert(lines.end(), rows.begin(), rows.end());
  // Curves are sorted by batch; the order of other rows has no meaning.
  std::stable_sort(lines.begin() + 1, lines.end(), [](const auto& a, const auto& b) {
    return std::strtod(a.c_str(), nullptr) < std::strtod(b.c_str(), nullptr);
  });
  folder.Write(name, Join(lines, "\n") + "\n");
}

std::string Placement(const std::vector<float>& node_of) {
  std::vector<std::pair<float, int>> nodes;
  for (const float node : node_of) {
    const auto known = std::find_if(nodes.begin(), nodes.end(),
                                    [&](const auto& each) { return each.first == node; });
    if (known == nodes.end()) {
      nodes.emplace_back(node, 1);
    } else {
      ++known->second;
    }
  }
  const bool apart =
      std::any_of(nodes.begin(), nodes.end(), [](const auto& each) { return each.second > 9; });
  if (apart && nodes.size() == 1) return "";  // the format cannot express it
  std::vector<std::string> counts;
  counts.reserve(nodes.size());
  for (const auto& each : nodes) counts.push_back(std::to_string(each.second));
  return Join(counts, apart ? " " : "");
}

}  // namespace

std::optional<ProfileFolder> ProfileFolder::FromEnvironment() {
  const std::optional<std::string> path = EnvironmentVariable("ALLOT_PROFILE");
  if (!path) return std::nullopt;
  return ProfileFolder(fs::absolute(*path), EnvironmentVariable("ALLOT_GPU_TYPE").value_or("gpu"),
                       static_cast<std::int32_t>(WholeFrom("ALLOT_PROFILE_EPOCHS", kEpochs)),
                       WholeFrom("ALLOT_PROFILE_BATCH", 0));
}

ProfileFolder::ProfileFolder(fs::path application, std::string gpu_type, std::int32_t epochs,
                             std::int64_t batch)
    : application_(std::move(application)),
      gpu_type_(std::move(gpu_type)),
      epochs_(epochs),
      batch_(batch) {}

void ProfileFolder::BeginEpoch(const std::vector<float>& node_of) {
  placement_ = Placement(node_of);
}

void ProfileFolder::AddTimes(const BatchRange& range, const WorkerBatch& batch,
                             const StepSeconds& seconds) {
  if (placement_.empty() || batch.local < range.least_local) return;
  const std::string key = fmt::format("{},{},{},", placement_, batch.local, gpu_type_);
  if (std::find(written_.begin(), written_.end(), key) != written_.end()) return;
  written_.push_back(key);
  AddRows(application_, "placements.csv", "placement,local_bsz,gpu_type,step_time,sync_time", key,
          {fmt::format("{}{:.6g},{:.6g}", key, seconds.iteration,
                       seconds.iteration - seconds.gradient)});
}

void ProfileFolder::AddStep(const BatchRange& range, std::int64_t batch, double worth, double work,
                            double total, const GradientNoise& noise) {
  const bool first = work - worth <= 0;
  if (first && curve_batch_ == 0) curve_batch_ = batch;
  if (curve_batch_ != batch || !(total > 0)) curve_batch_ = -1;
  if (curve_batch_ < 0) return;
  iterations_ += 1;
  const auto initial = static_cast<double>(range.initial);
  const double epoch = total / epochs_;
  while (static_cast<std::int32_t>(curve_.size()) < epochs_) {
    const double end = epoch * static_cast<double>(curve_.size() + 1);
    if (work < end) return;
    // The fraction of this step before the epoch's end.
    const double share = worth > 0 ? (work - end) / worth : 0;
    curve_.push_back(fmt::format("{},{},{:.17g},{:.10g},{:.6g},{:.6g}", batch, curve_.size(),
                                 end / initial, iterations_ - share, NotNegative(noise.signal()),
                                 NotNegative(noise.variance()) / initial));
  }
  WriteParameters(range, total);
  WriteCurve();
  curve_batch_ = -1;  // the curve is written once
}

void ProfileFolder::WriteParameters(const BatchRange& range, double total) const {
  const std::string name = application_.filename().string();
  const std::string key = fmt::format("{},{},", name, gpu_type_);
  AddRows(application_.parent_path(), "parameters.csv",
          "application,gpu_type,init_batch_size,max_batch_size,min_local_bsz,max_local_bsz,"
          "max_epochs,total_progress,restart_seconds",
          key,
          {fmt::format("{}{},{},{},{},{},{:.17g},{}", key, range.initial, range.most,
                       range.least_local, range.most_local, epochs_,
                       total / static_cast<double>(range.initial), kRestartSeconds)});
}

void ProfileFolder::WriteCurve() const {
  AddRows(application_, "validation.csv", "batch_size,epoch,progress,iteration,grad_sqr,grad_var",
          fmt::format("{},", curve_batch_), curve_);
}

}  // namespace allot
