#include "workload/model_map.h"

#include <filesystem>
#include <utility>
#include <vector>

#include "core/error.h"
#include "core/file.h"
#include "core/strings.h"
#include "workload/csv.h"
#include "workload/row_error.h"

namespace allot {

ModelMap ModelMap::Parse(const std::string& text) {
  ModelMap map;
  std::error_code ignored;
  if (std::filesystem::is_regular_file(text, ignored)) {
    map.from_file_ = true;
    const std::string table = ReadTextFile(text);
    CsvReader csv(table, text, {"theirs", "ours"});
    while (csv.Next()) {
      csv.CheckRow();
      const std::string theirs(csv.Text("theirs"));
      if (!map.ours_.emplace(theirs, csv.Text("ours")).second) {
        throw RowError("a name stands once in a map of models", Quoted(theirs), csv.place());
      }
    }
    return map;
  }
  for (const std::string_view pair : Split(text, ',')) {
    const std::size_t equals = pair.find('=');
    const std::string theirs(Trim(pair.substr(0, equals)));
    if (equals == std::string_view::npos || theirs.empty()) {
      throw UsageError(
          "--model-map must be THEIRS=OURS,... or a CSV file theirs,ours that is there, got {}",
          Quoted(pair));
    }
    if (!map.ours_.emplace(theirs, Trim(pair.substr(equals + 1))).second) {
      throw UsageError("--model-map gives one name for each, got {} twice", Quoted(theirs));
    }
  }
  return map;
}

void ModelMap::Apply(Workload* workload) const {
  const std::vector<std::string>& names = workload->models.names();
  for (const auto& pair : ours_) {
    if (from_file_ || workload->models.Find(pair.first) >= 0) continue;
    throw UsageError("--model-map: no job has the model {}{}", Quoted(pair.first),
                     names.empty() ? "; the trace names no models" : DidYouMean(pair.first, names));
  }
  NameTable models;
  std::vector<std::int32_t> index;  // by the old one
  index.reserve(names.size());
  for (const std::string& name : names) {
    const auto found = ours_.find(name);
    index.push_back(models.Intern(found == ours_.end() ? name : found->second));
  }
  for (Job& job : workload->jobs) {
    if (job.model >= 0) job.model = index[static_cast<std::size_t>(job.model)];
  }
  workload->models = std::move(models);
}

}  // namespace allot
