#include "table/column_map.h"

#include <algorithm>

#include "core/error.h"
#include "core/strings.h"
#include "table/length_text.h"
#include "table/row_error.h"

namespace allot {
namespace {

constexpr std::string_view kTimesKey = "times";
constexpr std::string_view kLengthsKey = "lengths";

// Up to one of `ends` outside of quotes; `at` is then there. Quotes around the whole are taken off.
std::string TakeWord(std::string_view text, std::string_view ends, std::size_t* at) {
  std::string word;
  if (*at < text.size() && text[*at] == '"') {
    for (++*at; *at < text.size(); ++*at) {
      if (text[*at] == '"') {
        if (text.substr(*at + 1, 1) != "\"") break;
        ++*at;
      }
      word += text[*at];
    }
    if (*at >= text.size()) throw UsageError("a quote in --columns must be closed, got {}", text);
    ++*at;
    return word;
  }
  const std::size_t end = std::min(text.find_first_of(ends, *at), text.size());
  word = text.substr(*at, end - *at);
  *at = end;
  return word;
}

std::string InMap(const std::string& column) {
  if (column.find_first_of(",=\"") == std::string::npos && !column.empty() &&
      column.front() != ' ' && column.back() != ' ') {
    return column;
  }
  std::string quoted = "\"";
  for (const char c : column) quoted += c == '"' ? std::string("\"\"") : std::string(1, c);
  return quoted + "\"";
}

const ColumnMeaning* FindMeaning(std::string_view name) {
  for (const ColumnMeaning& meaning : ColumnMeanings()) {
    if (meaning.name == name ||
        std::find(meaning.aliases.begin(), meaning.aliases.end(), name) != meaning.aliases.end()) {
      return &meaning;
    }
  }
  return nullptr;
}

}  // namespace

const std::vector<ColumnMeaning>& ColumnMeanings() {
  static const std::vector<ColumnMeaning> meanings = {
      {"submit", {}, "when it was submitted"},
      {"gpus", {}, "GPUs that it asked for; also a product: nodes*gpus_per_node"},
      {"duration", {"runtime", "length"}, "its run time"},
      {"start", {}, "when it started; with end in place of duration"},
      {"end", {}, "when it ended"},
      {"id", {}, "its name, unique; without it rows are counted from 0"},
      {"user", {}, "who submitted it"},
      {"tenant", {"queue", "partition", "account"}, "queue, partition, account or group of users"},
      {"model", {}, "model of the catalogue (--catalogue, --model-map)"},
      {"group", {"application"}, "what like jobs share: application, script"},
      {"outcome", {"state", "status"}, "how it ended"},
      {"limit", {"estimate"}, "run time that was asked for"},
      {"priority", {}, "larger is more important"},
      {"deadline", {}, "when it must have ended"},
      {"min_gpus", {}, "fewest GPUs that it can run on"},
      {"max_gpus", {}, "most GPUs that it can use"},
      {"work", {}, "work to do, in the model's unit"},
      {"gpu_types", {"gpu_type"}, "types of GPU that it can run on, joined by |"},
      {"duration_type", {}, "type of GPU that the run time was measured on"},
      {"gpu_memory_gb", {}, "GB that each of its GPUs must have"},
      {"memory_gb", {}, "GB of host memory"},
      {"cpus", {}, "CPUs of the hosts, of all its GPUs together"},
  };
  return meanings;
}

ColumnMap ColumnMap::Parse(std::string_view text) {
  ColumnMap map;
  for (std::size_t at = 0; at < text.size(); ++at) {
    const std::string key(Trim(TakeWord(text, "=,", &at)));
    if (key.empty() && (at >= text.size() || text[at] == ',')) continue;
    if (at >= text.size() || text[at] != '=') {
      throw UsageError("--columns must be MEANING=COLUMN,..., got {} without '='", Quoted(key));
    }
    const std::string column(Trim(TakeWord(text, ",", &++at)));
    if (at < text.size() && text[at] != ',') {
      throw UsageError("--columns: after a quoted name comes a comma, got {}", text.substr(at));
    }
    if (key == kTimesKey) {
      if (!TimeStyleNamed(column)) {
        throw UsageError("--columns: times must be s, ms, us, min, h, excel, dmy or mdy, got {}",
                         Quoted(column));
      }
      map.times = column;
    } else if (key == kLengthsKey) {
      if (!UnitNamed(column)) {
        throw UsageError("--columns: lengths must be s, ms, us, min, h or d, got {}",
                         Quoted(column));
      }
      map.lengths = column;
    } else {
      map.Set(key, column);
    }
  }
  if (map.empty()) throw UsageError("--columns must name a column, got {}", Quoted(text));
  return map;
}

void ColumnMap::Set(const std::string& meaning, const std::string& column) {
  const ColumnMeaning* const known = FindMeaning(meaning);
  if (known == nullptr) {
    std::vector<std::string> names{std::string(kTimesKey), std::string(kLengthsKey)};
    for (const ColumnMeaning& each : ColumnMeanings()) names.push_back(each.name);
    throw UsageError("--columns: a table has no meaning {}{}; it is MEANING=COLUMN",
                     Quoted(meaning), DidYouMean(meaning, names));
  }
  if (const auto before = Column(known->name)) {
    throw UsageError("--columns: {} is one column, got {} and {}", known->name, Quoted(*before),
                     Quoted(column));
  }
  if (column.empty()) throw UsageError("--columns: {} needs the name of a column", known->name);
  columns_.emplace_back(known->name, column);
}

std::optional<std::string> ColumnMap::Column(std::string_view meaning) const {
  for (const auto& [name, column] : columns_) {
    if (name == meaning) return column;
  }
  return std::nullopt;
}

std::vector<std::string> ColumnMap::Lacks() const {
  std::vector<std::string> lacks;
  if (!Column("submit")) lacks.emplace_back("when jobs were submitted: submit=COLUMN");
  if (!Column("gpus")) lacks.emplace_back("how many GPUs they asked for: gpus=COLUMN");
  if (!Column("duration") && !(Column("start") && Column("end"))) {
    const char* const what = Column("end")     ? "start=COLUMN (or duration=COLUMN)"
                             : Column("start") ? "end=COLUMN (or duration=COLUMN)"
                                               : "duration=COLUMN, or start=COLUMN,end=COLUMN";
    lacks.push_back(fmt::format("how long they ran: {}", what));
  }
  return lacks;
}

std::string ColumnMap::ToString() const {
  std::string text;
  for (const auto& [meaning, column] : columns_) {
    text += fmt::format("{}{}={}", text.empty() ? "" : ",", meaning, InMap(column));
  }
  if (!times.empty()) text += fmt::format(",{}={}", kTimesKey, times);
  if (!lengths.empty()) text += fmt::format(",{}={}", kLengthsKey, lengths);
  return text;
}

std::size_t PositionOf(const std::string& column, const std::vector<std::string>& header,
                       std::string_view place) {
  const auto found = std::find(header.begin(), header.end(), column);
  if (found != header.end()) return static_cast<std::size_t>(found - header.begin());
  if (column.starts_with('#')) {
    const auto number = ParseInteger(std::string_view(column).substr(1));
    if (number && *number >= 1 && *number <= static_cast<long long>(header.size())) {
      return static_cast<std::size_t>(*number - 1);
    }
  }
  throw UsageError("--columns: the table has no column '{}'{} ({})", column,
                   DidYouMean(column, header), place);
}

std::vector<std::size_t> PositionsOf(std::string_view meaning, const std::string& column,
                                     const std::vector<std::string>& header,
                                     std::string_view place) {
  const bool whole = std::find(header.begin(), header.end(), column) != header.end();
  if (whole || !meaning.ends_with("gpus") || column.find('*') == std::string::npos) {
    return {PositionOf(column, header, place)};
  }
  std::vector<std::size_t> positions;
  for (const std::string_view factor : Split(column, '*')) {
    positions.push_back(PositionOf(std::string(Trim(factor)), header, place));
  }
  return positions;
}

}  // namespace allot
