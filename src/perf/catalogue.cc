#include "perf/catalogue.h"

#include <algorithm>
#include <utility>

#include "core/error.h"
#include "core/file.h"
#include "core/strings.h"

namespace allot {
namespace internal {
extern const char kCatalogueCsv[];  // generated from traces/catalogue.csv by CMake
}

namespace {

constexpr std::string_view kHeader = "profile,gpu_type,gpus,rate";
constexpr std::size_t kColumns = 4;

struct Row {
  std::string profile;
  std::string gpu_type;
  GpuCount gpus;
  double rate;
};

Row ParseRow(std::string_view line, const std::string& place) {
  const std::vector<std::string_view> fields = Split(line, ',');
  if (fields.size() != kColumns) {
    throw DataError("a catalogue row has {} columns ({}), got {} ({})", kColumns, kHeader,
                    fields.size(), place);
  }
  if (fields[0].empty() || fields[1].empty()) {
    throw DataError("'profile' and 'gpu_type' must not be empty, got '{}' and '{}' ({})", fields[0],
                    fields[1], place);
  }
  const auto gpus = ParseInteger(fields[2]);
  if (!gpus || *gpus < 1 || *gpus > kMaxGpusPerJob) {
    throw DataError("'gpus' must be a whole number from 1 to {}, got '{}' ({})", kMaxGpusPerJob,
                    fields[2], place);
  }
  const auto rate = ParseNumber(fields[3]);
  if (!rate || !(*rate > 0)) {
    throw DataError("'rate' must be a number > 0, got '{}' ({})", fields[3], place);
  }
  return {std::string(fields[0]), std::string(fields[1]), static_cast<GpuCount>(*gpus), *rate};
}

// Adds a row to the types of its profile; a type's rows are consecutive and rise in GPUs.
void AddPoint(const Row& row, const std::string& place, std::vector<GpuScalingPoints>* types) {
  if (types->empty() || types->back().gpu_type != row.gpu_type) {
    for (const GpuScalingPoints& type : *types) {
      if (type.gpu_type == row.gpu_type) {
        throw DataError(
            "rows of a GPU type must stand together: '{}' of profile '{}' appears again ({})",
            row.gpu_type, row.profile, place);
      }
    }
    types->push_back({row.gpu_type, {}});
  }
  auto& points = types->back().points;
  if (!points.empty() && row.gpus <= points.back().first) {
    throw DataError("'gpus' must rise within a GPU type, got {} after {} ({})", row.gpus,
                    points.back().first, place);
  }
  points.emplace_back(row.gpus, row.rate);
}

}  // namespace

void Catalogue::Add(ModelPtr model) {
  for (const ModelPtr& other : models_) {
    if (other->name() == model->name()) {
      throw DataError(
          "each profile stands once in a catalogue: '{}' is there already, as number {} of {}",
          model->name(), &other - models_.data() + 1, models_.size());
    }
  }
  models_.push_back(std::move(model));
}

ModelPtr Catalogue::Get(std::string_view name) const {
  std::vector<std::string> names;
  for (const ModelPtr& model : models_) {
    if (model->name() == name) return model;
    names.push_back(model->name());
  }
  throw DataError("unknown throughput profile '{}'{}", name, DidYouMean(name, names));
}

Catalogue Catalogue::FromCsv(std::string_view text, const std::string& path) {
  Catalogue catalogue;
  std::string profile;
  std::vector<GpuScalingPoints> types;
  const auto finish_profile = [&] {
    if (!types.empty()) catalogue.Add(MakeGpuScalingModel(profile, std::exchange(types, {})));
  };

  int line_number = 0;
  for (std::string_view line : Split(text, '\n')) {
    ++line_number;
    line = Trim(line);
    const std::string place = fmt::format("{}:{}", path, line_number);
    if (line_number == 1) {
      if (line != kHeader) {
        throw DataError("a catalogue starts with the header '{}', got '{}' ({})", kHeader, line,
                        place);
      }
      continue;
    }
    if (line.empty()) continue;
    const Row row = ParseRow(line, place);
    if (row.profile != profile) {
      finish_profile();
      profile = row.profile;
      const auto& known = catalogue.models_;
      if (std::any_of(known.begin(), known.end(),
                      [&](const ModelPtr& model) { return model->name() == profile; })) {
        throw DataError("rows of a profile must stand together: '{}' appears again ({})", profile,
                        place);
      }
    }
    AddPoint(row, place, &types);
    auto& named = catalogue.gpu_types_;
    if (row.gpu_type != kUnnamedGpuType &&
        std::find(named.begin(), named.end(), row.gpu_type) == named.end()) {
      named.emplace_back(row.gpu_type);
    }
  }
  finish_profile();
  if (catalogue.models_.empty()) {
    throw DataError("a catalogue needs at least 1 profile, got 0 ({})", path);
  }
  catalogue.csv_ = text;
  return catalogue;
}

Catalogue Catalogue::FromFile(const std::string& path) { return FromCsv(ReadTextFile(path), path); }

const Catalogue& Catalogue::Embedded() {
  static const Catalogue catalogue = [] {
    Catalogue embedded = FromCsv(internal::kCatalogueCsv, "traces/catalogue.csv");
    embedded.id_ = "embedded";
    embedded.csv_.clear();
    return embedded;
  }();
  return catalogue;
}

namespace {

ALLOT_REGISTER(CatalogueInfo,
               (CatalogueInfo{"embedded", "measured throughput (traces/catalogue.csv)",
                              &Catalogue::Embedded}));

}  // namespace
}  // namespace allot
