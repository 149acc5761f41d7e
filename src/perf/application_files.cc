#include "perf/application_files.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <utility>

#include "core/error.h"
#include "core/file.h"
#include "core/index.h"
#include "core/strings.h"
#include "perf/throughput_model.h"
#include "table/csv.h"
#include "table/row_error.h"

namespace allot {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kPackHeader = "@allot-applications\n";
constexpr std::string_view kFile = "@file ";
constexpr const char* kFixedFile = "fixed_batches.csv";
constexpr long long kMostOnANode = 64;  // GPUs
constexpr long long kLargestBatch = 100'000'000;
constexpr long long kMostGpusOfPoint = 1'000'000;
constexpr long long kMostEpochs = 1'000'000;
constexpr double kSameProgress = 1e-9;

// The files of a pack by name.
class Files {
 public:
  Files(std::string_view pack, std::string folder) : folder_(std::move(folder)) {
    std::size_t at = kPackHeader.size();
    while (at < pack.size()) {
      const std::size_t line = std::min(pack.find('\n', at), pack.size());
      const std::string name(Trim(pack.substr(at + kFile.size(), line - at - kFile.size())));
      const std::size_t begin = std::min(line + 1, pack.size());
      std::size_t end = pack.find("\n" + std::string(kFile), line);
      end = end == std::string_view::npos ? pack.size() : end + 1;
      texts_[name] = pack.substr(begin, end - begin);
      at = end;
    }
  }
  bool Has(const std::string& name) const { return texts_.contains(name); }
  std::string PathOf(const std::string& name) const { return folder_ + "/" + name; }
  const std::string& folder() const { return folder_; }
  std::string_view Text(const std::string& name) const {
    const auto found = texts_.find(name);
    if (found == texts_.end()) {
      throw DataError("applications of '{}' need the file {}, there is none", folder_,
                      PathOf(name));
    }
    return found->second;
  }
  CsvReader Csv(const std::string& name, const std::vector<std::string>& required,
                const std::vector<std::string>& optional = {}) const {
    return CsvReader(Text(name), PathOf(name), required, optional);
  }

 private:
  std::string folder_;
  std::map<std::string, std::string_view> texts_;
};

std::string TypeOf(const CsvReader& row) {
  return row.Has("gpu_type") ? std::string(row.Text("gpu_type")) : std::string(kUnnamedGpuType);
}

double Positive(const CsvReader& row, std::string_view column) {
  const double number = row.Number(column);
  if (!(number > 0)) {
    throw RowError(fmt::format("'{}' must be > 0", column), row.Text(column), row.place());
  }
  return number;
}

struct Parameters {
  std::string gpu_type;
  std::string place;
  BatchLimits limits;
  Seconds restart = 0;
  std::int32_t epochs = 0;
  std::int32_t stages = 1;
  double fixed_batch = 0;
  GpuCount most_gpus = 0;
  double total_progress = 0;
};

using ParametersOf = std::vector<std::pair<std::string, std::vector<Parameters>>>;

Parameters ReadParameters(const CsvReader& row) {
  Parameters p;
  p.gpu_type = TypeOf(row);
  p.place = row.place();
  const auto whole = [&](const char* column) {
    return static_cast<double>(row.Whole(column, 1, kLargestBatch));
  };
  p.limits = {whole("init_batch_size"), whole("max_batch_size"), whole("min_local_bsz"),
              whole("max_local_bsz")};
  if (p.limits.most < p.limits.initial || p.limits.most_local < p.limits.least_local) {
    throw DataError(
        "batches must have room: 'init_batch_size' {} up to 'max_batch_size' {}, 'min_local_bsz' "
        "{} up "
        "to 'max_local_bsz' {} ({})",
        p.limits.initial, p.limits.most, p.limits.least_local, p.limits.most_local, p.place);
  }
  p.epochs = static_cast<std::int32_t>(row.Whole("max_epochs", 1, kMostEpochs));
  p.total_progress = Positive(row, "total_progress");
  p.restart = row.Number("restart_seconds");
  if (p.restart < 0) {
    throw RowError("'restart_seconds' must be >= 0", row.Text("restart_seconds"), row.place());
  }
  if (row.Has("pipeline_stages")) {
    p.stages = static_cast<std::int32_t>(row.Whole("pipeline_stages", 1, kMaxGpusPerJob));
  }
  return p;
}

// Of programs that cannot choose their batch.
void ReadFixed(const Files& files, ParametersOf* all) {
  CsvReader csv = files.Csv(kFixedFile, {"application", "batch_size"}, {"max_gpus"});
  while (csv.Next()) {
    csv.CheckRow();
    const auto named = std::find_if(all->begin(), all->end(), [&](const auto& each) {
      return each.first == csv.Text("application");
    });
    if (named == all->end()) {
      throw RowError("'application' must be one of parameters.csv", csv.Text("application"),
                     csv.place());
    }
    for (Parameters& p : named->second) {
      p.fixed_batch = static_cast<double>(csv.Whole("batch_size", 1, kLargestBatch));
      if (p.fixed_batch > p.limits.most) {
        throw RowError(fmt::format("'batch_size' must be at most the 'max_batch_size' {} of '{}'",
                                   p.limits.most, named->first),
                       csv.Text("batch_size"), csv.place());
      }
      if (csv.Has("max_gpus")) {
        p.most_gpus = static_cast<GpuCount>(csv.Whole("max_gpus", 1, kMaxGpusPerJob));
      }
    }
  }
}

ParametersOf ReadAllParameters(const Files& files) {
  CsvReader csv = files.Csv("parameters.csv",
                            {"application", "init_batch_size", "max_batch_size", "min_local_bsz",
                             "max_local_bsz", "max_epochs", "total_progress", "restart_seconds"},
                            {"gpu_type", "validated_batch_sizes", "pipeline_stages"});
  ParametersOf all;
  while (csv.Next()) {
    csv.CheckRow();
    const std::string name(csv.Text("application"));
    if (name.empty() || name.find_first_of(",\"/\\\n") != std::string::npos || name[0] == '.') {
      throw RowError("'application' must be the name of a folder", name, csv.place());
    }
    auto at = std::find_if(all.begin(), all.end(),
                           [&](const auto& known) { return known.first == name; });
    if (at == all.end()) at = all.insert(at, {name, {}});
    Parameters read = ReadParameters(csv);
    for (const Parameters& known : at->second) {
      if (known.gpu_type != read.gpu_type) continue;
      throw DataError(
          "{}: an application has one row for each GPU type: '{}' on '{}' stands in {} too",
          csv.place(), name, read.gpu_type, known.place);
    }
    at->second.push_back(std::move(read));
  }
  if (all.empty()) throw DataError("{}: at least one application, got none", files.folder());
  if (files.Has(kFixedFile)) ReadFixed(files, &all);
  return all;
}

// "441", or "12 4" where nodes have ten GPUs or more.
std::string ReadPlacement(const CsvReader& row) {
  const std::string_view text = row.Text("placement");
  std::vector<UnitCounts> nodes;
  const bool apart = text.find(' ') != std::string_view::npos;
  const auto add = [&](std::string_view part) {
    const auto gpus = ParseInteger(part);
    if (!gpus || *gpus < 1 || *gpus > kMostOnANode) {
      throw RowError("'placement' is the GPUs of each node, a digit each or apart", text,
                     row.place());
    }
    nodes.emplace_back(static_cast<int>(*gpus));
  };
  if (apart) {
    for (const std::string_view part : Split(text, ' ')) add(part);
  } else {
    for (std::size_t i = 0; i < std::max<std::size_t>(text.size(), 1); ++i) add(text.substr(i, 1));
  }
  return CanonicalPlacement(nodes);
}

// Of a pipeline the step is that of a stage.
StepTime ReadTime(const CsvReader& row, bool pipeline = false) {
  const StepTime time{Positive(row, "step_time"), row.Number("sync_time")};
  if (!(time.synchronisation >= 0 && (pipeline || time.synchronisation <= time.step))) {
    throw RowError(fmt::format("'sync_time' must be from 0 to 'step_time' ({})", time.step),
                   row.Text("sync_time"), row.place());
  }
  return time;
}

std::int32_t ReadLocal(const CsvReader& row) {
  return static_cast<std::int32_t>(row.Whole("local_bsz", 1, kLargestBatch));
}

ProfiledTimes::Point ReadPoint(const CsvReader& row) {
  return {static_cast<std::int32_t>(row.Integer("num_nodes", 1, kMostGpusOfPoint)),
          static_cast<std::int32_t>(row.Integer("num_replicas", 1, kMostGpusOfPoint)),
          ReadLocal(row)};
}

void ReadPlacements(const Files& files, const std::string& name,
                    const std::set<std::string>& pipelines,
                    std::map<std::string, ProfiledTimes>* times) {
  const std::string file = name + "/placements.csv";
  CsvReader csv =
      files.Csv(file, {"placement", "local_bsz", "step_time", "sync_time"}, {"gpu_type"});
  std::map<std::string, std::string> seen;  // its place, by row
  while (csv.Next()) {
    csv.CheckRow();
    const auto type = times->find(TypeOf(csv));
    if (type == times->end()) continue;  // of a type without parameters
    const std::string placement = ReadPlacement(csv);
    const std::int32_t local = ReadLocal(csv);
    const StepTime time = ReadTime(csv, pipelines.contains(type->first));
    const auto [first, added] = seen.try_emplace(
        fmt::format("{} with {} samples on '{}'", PlacementText(placement), local, type->first),
        csv.place());
    if (!added) {
      throw DataError("{}: a time is given once: placement {} of '{}' stands in {} too",
                      csv.place(), first->first, name, first->second);
    }
    type->second.AddPlacement(placement, {local, time});
    ProfiledTimes::Point point{static_cast<std::int32_t>(placement.size()), 0, local};
    for (const char gpus : placement) point.gpus += gpus;
    type->second.AddShape(point, time);
  }
  const std::string scalability = name + "/scalability.csv";
  if (!files.Has(scalability)) return;
  CsvReader rows =
      files.Csv(scalability, {"num_nodes", "num_replicas", "local_bsz", "step_time", "sync_time"},
                {"gpu_type"});
  while (rows.Next()) {
    rows.CheckRow();
    const auto type = times->find(TypeOf(rows));
    if (type == times->end()) continue;
    type->second.AddShape(ReadPoint(rows), ReadTime(rows, pipelines.contains(type->first)));
  }
}

void ReadTriangulation(const Files& files, const std::string& file, ProfiledTimes* times) {
  const auto fail = [&](const std::string& rule, const std::string& got) {
    return DataError("{}: {}, got {}", files.PathOf(file), rule, got);
  };
  const auto json = nlohmann::json::parse(files.Text(file), nullptr, /*allow_exceptions=*/false);
  if (!json.is_object()) throw fail("must be a JSON object", json.type_name());
  std::vector<ProfiledTimes::Point> points;
  std::vector<StepTime> values;
  std::vector<ProfiledTimes::Simplex> simplices;
  try {
    for (const auto& p : json.at("points")) {
      points.push_back(
          {p.at(0).get<std::int32_t>(), p.at(1).get<std::int32_t>(), p.at(2).get<std::int32_t>()});
    }
    if (json.contains("values")) {
      for (const auto& v : json.at("values")) values.push_back({v.at(0), v.at(1)});
    } else {
      for (const auto& point : points) values.push_back(times->MeanOf(point));
    }
    for (const auto& s : json.at("simplices")) {
      simplices.push_back({s.at(0), s.at(1), s.at(2), s.at(3)});
    }
  } catch (const nlohmann::json::exception& error) {
    throw fail(
        "must be an object of points [nodes, GPUs, batch], values [step, sync] and simplices [4 "
        "points]",
        error.what());
  }
  if (points.size() != values.size()) {
    throw fail("each point has a value", fmt::format("{} and {}", points.size(), values.size()));
  }
  for (const auto& simplex : simplices) {
    for (const std::int32_t corner : simplex) {
      if (corner >= 0 && At(corner) < points.size()) continue;
      throw fail(fmt::format("corners are points from 0 to {}", points.size() - 1),
                 std::to_string(corner));
    }
  }
  for (const StepTime& value : values) {
    if (!(value.step > 0 && std::isfinite(value.step) && value.synchronisation >= 0)) {
      throw fail("times are finite and > 0", fmt::format("{}", value.step));
    }
  }
  times->Triangulate(std::move(points), std::move(values), simplices);
}

void ReadInterpolation(const Files& files, const std::string& name, const std::string& type,
                       ProfiledTimes* times) {
  const std::string of_type = type == kUnnamedGpuType ? "" : "-" + type;
  const std::string triangulation = name + "/interp" + of_type + ".json";
  if (files.Has(triangulation)) ReadTriangulation(files, triangulation, times);
  const std::string overlaps = name + "/interp_overlaps" + of_type + ".csv";
  if (!files.Has(overlaps)) return;
  CsvReader csv =
      files.Csv(overlaps, {"num_nodes", "num_replicas", "local_bsz", "step_time", "sync_time"});
  while (csv.Next()) {
    csv.CheckRow();
    times->AddExact(ReadPoint(csv), ReadTime(csv));
  }
}

std::vector<TrainingCurve> ReadCurves(const Files& files, const std::string& name) {
  CsvReader csv = files.Csv(
      name + "/validation.csv",
      {"batch_size", "epoch", "progress", "iteration", "grad_sqr", "grad_var"}, {"metric"});
  std::vector<TrainingCurve> curves;
  std::string last;  // row
  const auto end_curve = [&] {
    if (curves.empty() || curves.back().epochs.size() == curves.front().epochs.size()) return;
    throw RowError(fmt::format("every batch has as many epochs as the first, {}: batch {} ends",
                               curves.front().epochs.size(), curves.back().batch),
                   std::to_string(curves.back().epochs.size()), last);
  };
  while (csv.Next()) {
    csv.CheckRow();
    const auto batch = static_cast<double>(csv.Whole("batch_size", 1, kLargestBatch));
    if (curves.empty() || curves.back().batch != batch) {
      end_curve();
      curves.push_back({batch, {}});
    }
    last = csv.place();
    auto& epochs = curves.back().epochs;
    const auto epoch = csv.Integer("epoch", 0, kMostEpochs);
    if (static_cast<std::size_t>(epoch) != epochs.size()) {
      throw RowError(fmt::format("epochs of a batch count from 0: the next is {}", epochs.size()),
                     csv.Text("epoch"), csv.place());
    }
    TrainingCurve::Epoch read{Positive(csv, "progress"),
                              Positive(csv, "iteration"),
                              {csv.Number("grad_sqr"), csv.Number("grad_var")}};
    if (!epochs.empty() && read.progress <= epochs.back().progress) {
      throw RowError(fmt::format("'progress' must rise from epoch to epoch, it was {}",
                                 epochs.back().progress),
                     csv.Text("progress"), csv.place());
    }
    if (!epochs.empty() && read.iterations <= epochs.back().iterations) {
      throw RowError(fmt::format("'iteration' must rise from epoch to epoch, it was {}",
                                 epochs.back().iterations),
                     csv.Text("iteration"), csv.place());
    }
    epochs.push_back(read);
  }
  end_curve();
  return curves;
}

ApplicationPtr ReadApplication(const Files& files, const std::string& name,
                               const std::vector<Parameters>& parameters) {
  std::map<std::string, ProfiledTimes> times;
  std::set<std::string> pipelines;
  for (const Parameters& p : parameters) {
    times[p.gpu_type];
    if (p.stages > 1) pipelines.insert(p.gpu_type);
  }
  ReadPlacements(files, name, pipelines, &times);
  std::vector<ApplicationOnType> types;
  types.reserve(parameters.size());
  for (const Parameters& p : parameters) {
    ProfiledTimes& of_type = times[p.gpu_type];
    if (of_type.empty()) {
      throw DataError("{}: '{}' needs measured placements on '{}', {} has none", p.place, name,
                      p.gpu_type, files.PathOf(name + "/placements.csv"));
    }
    ReadInterpolation(files, name, p.gpu_type, &of_type);
    of_type.Finish();
    types.push_back({p.gpu_type, p.limits, p.restart, p.stages, p.fixed_batch, p.most_gpus,
                     std::move(of_type)});
  }
  auto application = std::make_shared<const Application>(
      name, std::move(types), ReadCurves(files, name), files.PathOf(name));
  for (const Parameters& p : parameters) {
    if (p.epochs != application->epochs()) {
      throw DataError(
          "{}: 'max_epochs' of '{}' must be the epochs of its training curves ({}), got {}",
          p.place, name, application->epochs(), p.epochs);
    }
    const double sum = application->total_progress();
    if (std::abs(p.total_progress - sum) > kSameProgress * sum) {
      throw DataError("{}: 'total_progress' of '{}' must be where its last epoch ends ({}), got {}",
                      p.place, name, sum, p.total_progress);
    }
  }
  return application;
}

}  // namespace

bool IsApplicationPack(std::string_view text) { return text.starts_with(kPackHeader); }

std::string PackApplications(const std::string& folder) {
  const fs::path root(folder);
  if (!fs::is_regular_file(root / "parameters.csv")) {
    throw DataError("a folder of applications holds parameters.csv, '{}' has none", folder);
  }
  std::string pack(kPackHeader);
  const auto add = [&](const std::string& name) {
    std::string text = ReadTextFile((root / name).string());
    if (!text.empty() && text.back() != '\n') text += '\n';
    pack += fmt::format("{}{}\n{}", kFile, name, text);
  };
  add("parameters.csv");
  if (fs::is_regular_file(root / kFixedFile)) add(kFixedFile);
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(root)) {
    if (!entry.is_directory()) continue;
    const std::string name = entry.path().filename().string();
    for (const auto& file : fs::directory_iterator(entry.path())) {
      const std::string extension = file.path().extension().string();
      if (!file.is_regular_file() || (extension != ".csv" && extension != ".json")) continue;
      names.push_back(name + "/" + file.path().filename().string());
    }
  }
  std::sort(names.begin(), names.end());
  for (const std::string& name : names) add(name);
  return pack;
}

std::vector<ApplicationPtr> ReadApplications(std::string_view pack, const std::string& path) {
  const Files files(pack, path);
  std::vector<ApplicationPtr> applications;
  for (const auto& [name, parameters] : ReadAllParameters(files)) {
    applications.push_back(ReadApplication(files, name, parameters));
  }
  return applications;
}

}  // namespace allot
