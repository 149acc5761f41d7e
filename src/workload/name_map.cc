#include "workload/name_map.h"

#include <algorithm>
#include <filesystem>
#include <utility>
#include <vector>

#include "core/error.h"
#include "core/file.h"
#include "core/strings.h"
#include "table/csv.h"
#include "table/row_error.h"
#include "workload/gpu_type_name.h"

namespace allot {
namespace {

// The table with each name replaced, and where its index is now.
template <typename Rename>
std::vector<std::int32_t> RenameAll(const Rename& rename, NameTable* names) {
  NameTable renamed;
  std::vector<std::int32_t> index;  // by the old one
  index.reserve(names->size());
  for (const std::string& name : names->names()) index.push_back(renamed.Intern(rename(name)));
  *names = std::move(renamed);
  return index;
}

template <typename Index>
void Move(const std::vector<std::int32_t>& index, Index* at) {
  if (*at >= 0) *at = static_cast<Index>(index[static_cast<std::size_t>(*at)]);
}

// The single types of the names that stand for one or several.
std::vector<std::string> SingleTypes(const NameTable& names) {
  std::vector<std::string> types;
  for (const std::string& joined : names.names()) {
    for (const std::string_view type : Split(joined, '|')) {
      if (std::find(types.begin(), types.end(), Trim(type)) != types.end()) continue;
      types.emplace_back(Trim(type));
    }
  }
  return types;
}

}  // namespace

NameMap NameMap::Parse(const std::string& option, const std::string& text) {
  NameMap map;
  map.option_ = option;
  std::error_code ignored;
  if (std::filesystem::is_regular_file(text, ignored)) {
    map.from_file_ = true;
    const std::string table = ReadTextFile(text);
    CsvReader csv(table, text, {"theirs", "ours"});
    while (csv.Next()) {
      csv.CheckRow();
      const std::string theirs(csv.Text("theirs"));
      if (!map.ours_.emplace(theirs, csv.Text("ours")).second) {
        throw RowError("a name stands once in a map of names", Quoted(theirs), csv.place());
      }
    }
    return map;
  }
  for (const std::string_view pair : Split(text, ',')) {
    const std::size_t equals = pair.find('=');
    const std::string theirs(Trim(pair.substr(0, equals)));
    if (equals == std::string_view::npos || theirs.empty()) {
      throw UsageError(
          "--{} must be THEIRS=OURS,... or a CSV file theirs,ours that is there, got {}", option,
          Quoted(pair));
    }
    if (!map.ours_.emplace(theirs, Trim(pair.substr(equals + 1))).second) {
      throw UsageError("--{} gives one name for each, got {} twice", option, Quoted(theirs));
    }
  }
  return map;
}

void NameMap::RenameModels(Workload* workload) const {
  const std::vector<std::string>& names = workload->models.names();
  for (const auto& pair : ours_) {
    if (from_file_ || workload->models.Find(pair.first) >= 0) continue;
    throw UsageError("--{}: no job has the model {}{}", option_, Quoted(pair.first),
                     names.empty() ? "; the trace names no models" : DidYouMean(pair.first, names));
  }
  const auto rename = [this](const std::string& name) {
    const auto found = ours_.find(name);
    return found == ours_.end() ? name : found->second;
  };
  const std::vector<std::int32_t> index = RenameAll(rename, &workload->models);
  for (Job& job : workload->jobs) Move(index, &job.model);
}

void NameMap::RenameGpuTypes(Workload* workload) const {
  const std::vector<std::string> types = SingleTypes(workload->gpu_types);
  std::map<std::string, std::string, std::less<>> ours;  // by type of the trace
  for (const auto& [theirs, name] : ours_) {
    std::vector<std::size_t> meant;  // each spelling on its own: one does not hide another
    for (std::size_t k = 0; k < types.size(); ++k) {
      if (!FindGpuTypes(theirs, {types[k]}).empty()) meant.push_back(k);
    }
    if (meant.empty() && !from_file_) {
      throw UsageError("--{}: no job names the GPU type {}{}", option_, Quoted(theirs),
                       types.empty() ? "; the trace names no types" : DidYouMean(theirs, types));
    }
    for (const std::size_t type : meant) {
      const auto [known, is_new] = ours.emplace(types[type], name);
      if (is_new || known->second == name || theirs == types[type]) {
        known->second = name;
      } else if (!ours_.contains(types[type])) {
        throw UsageError("--{} gives one name for each, got {} and {} for {}", option_,
                         Quoted(known->second), Quoted(name), Quoted(types[type]));
      }
    }
  }
  const auto rename = [&](const std::string& joined) {
    std::vector<std::string> names;
    for (const std::string_view type : Split(joined, '|')) {
      const auto found = ours.find(Trim(type));
      names.emplace_back(found == ours.end() ? Trim(type) : std::string_view(found->second));
      if (names.back().empty()) return std::string();  // any type
    }
    return Join(names, "|");
  };
  const std::vector<std::int32_t> index = RenameAll(rename, &workload->gpu_types);
  for (Job& job : workload->jobs) {
    Move(index, &job.gpu_types);
    Move(index, &job.duration_type);
  }
}

}  // namespace allot
