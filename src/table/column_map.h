#pragma once
// Which column of a table means what: --columns submit=SubmitTime,gpus=gpu_req,duration=Elapsed.
// Names with a comma, an equals sign or a quote stand in double quotes, a quote inside is doubled;
// #3 is the third column; numbers of GPUs may be a product, gpus=nodes*gpus_per_node. `times` and
// `lengths` say how columns are written where that cannot be seen: times=mdy, lengths=min.

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "table/time_text.h"

namespace allot {

// What a column can mean.
struct ColumnMeaning {
  std::string name;                  // "submit"
  std::vector<std::string> aliases;  // accepted for it: "queue" for "tenant"
  std::string help;
};
const std::vector<ColumnMeaning>& ColumnMeanings();

class ColumnMap {
 public:
  // UsageError naming the part: no `=`, an unknown meaning (with a suggestion), one given twice.
  static ColumnMap Parse(std::string_view text);

  void Set(const std::string& meaning, const std::string& column);
  // The column of a meaning by its first name; nullopt: none.
  std::optional<std::string> Column(std::string_view meaning) const;
  bool empty() const { return columns_.empty(); }
  // What is missing for a job, each with what to write; empty where nothing is.
  std::vector<std::string> Lacks() const;
  const std::vector<std::pair<std::string, std::string>>& columns() const { return columns_; }

  std::string times{};    // as TimeStyleNamed, "": as found
  std::string lengths{};  // as UnitNamed, "": as found

  std::string ToString() const;  // parses back to an equal map

 private:
  std::vector<std::pair<std::string, std::string>> columns_;  // meaning, column
};

// The position of a column as a map names it: its name, else "#3". UsageError with a suggestion and
// the place where there is none.
std::size_t PositionOf(const std::string& column, const std::vector<std::string>& header,
                       std::string_view place);
// For numbers of GPUs also a product, gpus=nodes*gpus_per_node: the positions of its factors.
std::vector<std::size_t> PositionsOf(std::string_view meaning, const std::string& column,
                                     const std::vector<std::string>& header,
                                     std::string_view place);

}  // namespace allot
