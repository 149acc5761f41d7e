#include "perf/catalogue.h"

#include <algorithm>
#include <filesystem>
#include <optional>
#include <span>
#include <utility>

#include "core/error.h"
#include "core/file.h"
#include "core/strings.h"
#include "perf/application_files.h"
#include "perf/application_model.h"
#include "perf/gavel_tables.h"
#include "perf/type_columns.h"

namespace allot {
namespace internal {
extern const char kCatalogueCsv[];  // generated from traces/catalogue.csv by CMake
}

namespace {

// Without a column 'kind' all models are of this one.
constexpr std::string_view kUsualKind = "gpu-scaling";
constexpr std::string_view kUsualHeader = "profile,gpu_type,gpus,rate";
// A column of every kind.
constexpr std::string_view kSlownessClass = "slowness_class";

bool Contains(const std::vector<std::string>& names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

const ThroughputModelInfo& KindNamed(std::string_view id, const std::string& place) {
  std::vector<std::string> known;
  for (const ThroughputModelInfo& info : Registry<ThroughputModelInfo>::Global().entries()) {
    if (!info.make) continue;
    if (info.id == id) return info;
    known.push_back(info.id);
  }
  throw DataError("unknown kind of throughput model '{}'{} ({})", id, DidYouMean(id, known), place);
}

// Every column is one of some kind.
void RequireKnown(const std::vector<std::string>& columns, const std::string& place) {
  std::vector<std::string> known = {"profile", "kind", std::string(kSlownessClass)};
  for (const ThroughputModelInfo& info : Registry<ThroughputModelInfo>::Global().entries()) {
    known.insert(known.end(), info.columns.begin(), info.columns.end());
    known.insert(known.end(), info.optional_columns.begin(), info.optional_columns.end());
  }
  for (const std::string& column : columns) {
    if (Contains(known, column)) continue;
    throw DataError("no kind of throughput model has a column '{}'{} ({})", column,
                    DidYouMean(column, known), place);
  }
}

std::vector<std::string> ParseHeader(std::string_view line, const std::string& place) {
  std::vector<std::string> columns;
  for (const std::string_view column : Split(line, ',')) columns.emplace_back(Trim(column));
  if (TypeColumns::Has(columns)) return columns;
  bool good = columns.front() == "profile";
  if (good && Contains(columns, "kind")) {
    RequireKnown(columns, place);
  } else if (good) {
    const ThroughputModelInfo& usual = KindNamed(kUsualKind, place);
    const auto known = [&](const std::string& column) {
      return column == "profile" || column == kSlownessClass || Contains(usual.columns, column) ||
             Contains(usual.optional_columns, column);
    };
    good = std::all_of(columns.begin(), columns.end(), known) &&
           std::all_of(usual.columns.begin(), usual.columns.end(),
                       [&](const std::string& needed) { return Contains(columns, needed); });
  }
  for (const std::string& column : columns) {
    good = good && std::count(columns.begin(), columns.end(), column) == 1;
  }
  if (!good) {
    throw DataError(
        "a catalogue starts with the header '{}', or with 'profile,gpus' and a column for each GPU "
        "type, got '{}' ({})",
        kUsualHeader, line, place);
  }
  return columns;
}

// Of the rows of one profile.
ModelPtr MakeModel(const std::string& profile, std::span<const CatalogueRow> rows) {
  const CatalogueRow& first = rows.front();
  const std::string kind = first.Has("kind") ? first.Text("kind") : std::string(kUsualKind);
  const ThroughputModelInfo& info = KindNamed(kind, first.place());
  for (const std::string& column : info.columns) {
    if (first.Has(column)) continue;
    throw DataError(
        "profile '{}': the kind '{}' needs the column '{}', the catalogue has none "
        "({})",
        profile, kind, column, first.place());
  }
  for (const CatalogueRow& row : rows) {
    if (!row.Has("kind") || row.Text("kind") == kind) continue;
    throw DataError("a profile is of one kind: '{}' is of '{}' and of '{}' ({})", profile, kind,
                    row.Text("kind"), row.place());
  }
  return info.make(profile, rows);
}

// Of the rows of one profile.
std::string SlownessClass(const std::string& profile, std::span<const CatalogueRow> rows) {
  const std::string& first = rows.front().Text(kSlownessClass);
  for (const CatalogueRow& row : rows) {
    if (row.Text(kSlownessClass) == first) continue;
    throw DataError("a profile is of one {}: '{}' is of '{}' and of '{}' ({})", kSlownessClass,
                    profile, first, row.Text(kSlownessClass), row.place());
  }
  return first;
}

}  // namespace

void Catalogue::Add(ModelPtr model, std::string slowness_class) {
  for (const ModelPtr& other : models_) {
    if (other->name() == model->name()) {
      throw DataError(
          "each profile stands once in a catalogue: '{}' is there already, as number {} of {}",
          model->name(), &other - models_.data() + 1, models_.size());
    }
  }
  for (const std::string& type : model->gpu_types()) {
    if (type == kUnnamedGpuType) continue;
    if (std::find(gpu_types_.begin(), gpu_types_.end(), type) == gpu_types_.end()) {
      gpu_types_.push_back(type);
    }
  }
  slowness_classes_[model->name()] = std::move(slowness_class);
  models_.push_back(std::move(model));
}

std::string_view Catalogue::SlownessClassOf(std::string_view name) const {
  const auto found = slowness_classes_.find(name);
  return found == slowness_classes_.end() ? std::string_view() : found->second;
}

namespace {

std::string LettersAndDigits(std::string_view name) {
  std::string letters = ToLower(name);
  std::erase_if(letters, [](char c) { return !(c >= 'a' && c <= 'z') && !(c >= '0' && c <= '9'); });
  return letters;
}

// Names of models are written in many ways: "ResNet-18" is near "resnet18:16" and "resnet18:32".
std::string NearNames(std::string_view name, const std::vector<std::string>& names) {
  constexpr std::size_t kMostNear = 4, kFewestLetters = 3;
  std::string usual = DidYouMean(name, names);
  const std::string wanted = LettersAndDigits(name);
  if (!usual.starts_with(';') || wanted.size() < kFewestLetters) return usual;
  std::vector<std::string> near;
  for (const std::string& each : names) {
    const std::string letters = LettersAndDigits(each);
    const bool alike = letters.starts_with(wanted) || wanted.starts_with(letters);
    if (alike && near.size() < kMostNear) near.push_back("'" + each + "'");
  }
  return near.empty() ? usual : fmt::format(" (did you mean {}?)", Join(near, " or "));
}

}  // namespace

ModelPtr Catalogue::Get(std::string_view name) const {
  std::vector<std::string> names;
  for (const ModelPtr& model : models_) {
    if (model->name() == name) return model;
    names.push_back(model->name());
  }
  throw DataError("unknown throughput profile '{}'{}", name, NearNames(name, names));
}

Catalogue Catalogue::FromCsv(std::string_view text, const std::string& path) {
  Catalogue catalogue;
  if (IsApplicationPack(text)) {
    catalogue = ApplicationCatalogue(text, path);
    catalogue.csv_ = text;
    return catalogue;
  }
  std::vector<std::string> columns;
  std::optional<TypeColumns> by_type;
  std::string profile;
  std::vector<CatalogueRow> rows;
  const auto finish_profile = [&] {
    if (by_type) by_type->Sort(&rows);
    if (!rows.empty()) catalogue.Add(MakeModel(profile, rows), SlownessClass(profile, rows));
    for (const CatalogueRow& row : rows) {
      if (!row.Has("gpu_type") || !row.Has("gpus") || row.Text("gpus").empty()) continue;
      catalogue.cells_.push_back({profile, row.Text("gpu_type"), row.Gpus("gpus"),
                                  row.Text("nodes"), row.Text("partner"),
                                  ParseNumber(row.Text("rate")).value_or(0)});
    }
    rows.clear();
  };
  const auto add = [&](CatalogueRow row) {
    if (row.Text("profile").empty()) {
      throw DataError("'profile' must not be empty, got '' ({})", row.place());
    }
    if (row.Text("profile") != profile) {
      finish_profile();
      profile = row.Text("profile");
      const auto& known = catalogue.models_;
      if (std::any_of(known.begin(), known.end(),
                      [&](const ModelPtr& model) { return model->name() == profile; })) {
        throw DataError("rows of a profile must stand together: '{}' appears again ({})", profile,
                        row.place());
      }
    }
    const std::string& type = row.Text("gpu_type");
    auto& named = catalogue.gpu_types_;
    if (!type.empty() && type != kUnnamedGpuType &&
        std::find(named.begin(), named.end(), type) == named.end()) {
      named.push_back(type);
    }
    rows.push_back(std::move(row));
  };

  int line_number = 0;
  for (std::string_view line : Split(text, '\n')) {
    ++line_number;
    line = Trim(line);
    const std::string place = fmt::format("{}:{}", path, line_number);
    if (line_number == 1) {
      columns = ParseHeader(line, place);
      if (TypeColumns::Has(columns)) by_type.emplace(columns, place);
      continue;
    }
    if (line.empty()) continue;
    if (by_type) {
      for (CatalogueRow& row : by_type->RowsOf(line, place)) add(std::move(row));
    } else {
      add(CatalogueRow(columns, line, place));
    }
  }
  finish_profile();
  if (catalogue.models_.empty()) {
    throw DataError("a catalogue needs at least 1 profile, got 0 ({})", path);
  }
  catalogue.csv_ = text;
  return catalogue;
}

Catalogue Catalogue::FromFile(const std::string& path) {
  if (std::filesystem::is_directory(path)) return FromCsv(PackApplications(path), path);
  const auto files = Split(path, ',');
  const std::string first(files.front());
  const std::string text = ReadTextFile(files.size() > 2 ? path : first);
  if (IsGavelTable(text)) {
    const std::string second(files.size() > 1 ? files[1] : "");
    const std::string pairs = second.empty() ? "" : ReadTextFile(second);
    return FromCsv(GavelCatalogueCsv(text, first, pairs, second), first);
  }
  if (files.size() == 1) return FromCsv(text, path);
  throw DataError(
      "two files are Gavel's tables, alone and pairs: '{}' is not a table of rates alone", first);
}

Catalogue Catalogue::FromName(const std::string& name) {
  const CatalogueInfo* const known = Registry<CatalogueInfo>::Global().Find(name);
  return known != nullptr ? known->get() : FromFile(name);
}

Catalogue Catalogue::Named(std::string id, std::string_view text, const std::string& path) {
  Catalogue catalogue = FromCsv(text, path);
  catalogue.id_ = std::move(id);
  catalogue.csv_.clear();
  return catalogue;
}

const Catalogue& Catalogue::Embedded() {
  static const Catalogue catalogue =
      Named("embedded", internal::kCatalogueCsv, "traces/catalogue.csv");
  return catalogue;
}

namespace {

ALLOT_REGISTER(CatalogueInfo,
               (CatalogueInfo{"embedded", "measured throughput (traces/catalogue.csv)",
                              &Catalogue::Embedded}));

}  // namespace
}  // namespace allot
