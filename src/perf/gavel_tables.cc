#include "perf/gavel_tables.h"

#include <algorithm>
#include <map>
#include <vector>

#include "core/error.h"
#include "core/strings.h"
#include "perf/units.h"
#include "table/csv.h"

namespace allot {
namespace {

// Catalogues have no quotes.
std::string Name(const CsvReader& csv, std::string_view column) {
  std::string name(csv.Text(column));
  if (name.empty() || name.find_first_of(",\"\n") != std::string::npos) {
    throw DataError("{}: '{}' must be a name without commas and quotes, got '{}'", csv.place(),
                    column, name);
  }
  return name;
}

// As written, so that no digit is lost.
std::string Rate(const CsvReader& csv, std::string_view column) {
  if (const double rate = csv.Number(column); !(rate >= 0)) {
    throw DataError("{}: '{}' must be >= 0, got {}", csv.place(), column, rate);
  }
  return std::string(csv.Text(column));
}

class Rows {
 public:
  void Add(const CsvReader& csv, const std::string& profile, const std::string& row,
           const std::string& rate) {
    const auto [first, added] = lines_.try_emplace(profile + "," + row, csv.place());
    if (!added) {
      throw DataError("{}: a rate is given once, {} of '{}' stands in {} too", csv.place(), row,
                      profile, first->second);
    }
    const auto [known, is_new] = of_.try_emplace(profile);
    if (is_new) order_.push_back(profile);
    known->second += fmt::format("{},measured,{},{}\n", profile, row, rate);
  }
  bool Has(const std::string& profile) const { return of_.contains(profile); }
  std::string Text() const {
    std::string text = "profile,kind,gpu_type,gpus,nodes,partner,rate\n";
    for (const std::string& profile : order_) text += of_.at(profile);
    return text;
  }

 private:
  std::map<std::string, std::string> lines_;  // by row, its first place
  std::map<std::string, std::string> of_;     // by profile
  std::vector<std::string> order_;
};

}  // namespace

bool IsGavelTable(std::string_view text) {
  const std::string_view header = Trim(text.substr(0, text.find('\n')));
  const auto columns = Split(header, ',');
  return std::find(columns.begin(), columns.end(), "job_type") != columns.end() &&
         std::find(columns.begin(), columns.end(), "steps_per_s") != columns.end();
}

std::string GavelCatalogueCsv(std::string_view alone, const std::string& alone_path,
                              std::string_view beside, const std::string& beside_path,
                              GavelNodes counted) {
  Rows rows;
  CsvReader csv(alone, alone_path, {"job_type", "scale_factor", "gpu_type", "steps_per_s"},
                {"model", "batch_size", "consolidated"});
  while (csv.Next()) {
    csv.CheckRow();
    std::string nodes;
    if (csv.Has("consolidated")) nodes = csv.Integer("consolidated", 0, 1) == 1 ? "1" : "2+";
    const auto gpus = csv.Integer("scale_factor", 1, kMaxGpusPerJob);
    // One GPU lies on one node, whatever the row says.
    const bool anywhere = gpus == 1 || counted == GavelNodes::kIgnored;
    if (anywhere && nodes == "2+") continue;
    if (anywhere) nodes.clear();
    rows.Add(csv, Name(csv, "job_type"),
             fmt::format("{},{},{},", Name(csv, "gpu_type"), gpus, nodes),
             Rate(csv, "steps_per_s"));
  }
  if (Trim(beside).empty()) return rows.Text();
  CsvReader pairs(
      beside, beside_path,
      {"gpu_type", "scale_factor", "job_type_a", "job_type_b", "steps_per_s_a", "steps_per_s_b"});
  while (pairs.Next()) {
    pairs.CheckRow();
    const std::string where = fmt::format("{},{},,", Name(pairs, "gpu_type"),
                                          pairs.Integer("scale_factor", 1, kMaxGpusPerJob));
    const std::string a = Name(pairs, "job_type_a");
    const std::string b = Name(pairs, "job_type_b");
    for (const std::string& type : {a, b}) {
      if (rows.Has(type)) continue;
      throw DataError("{}: pairs are of job types with rates of their own, '{}' has none in {}",
                      pairs.place(), type, alone_path);
    }
    const std::string rate_a = Rate(pairs, "steps_per_s_a");
    const std::string rate_b = Rate(pairs, "steps_per_s_b");
    rows.Add(pairs, a, where + b, rate_a);
    if (a != b) rows.Add(pairs, b, where + a, rate_b);
  }
  return rows.Text();
}

}  // namespace allot
