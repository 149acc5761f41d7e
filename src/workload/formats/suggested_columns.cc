#include "workload/formats/suggested_columns.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>

#include "core/counted.h"
#include "core/error.h"
#include "core/shell_text.h"
#include "core/strings.h"
#include "table/column_guess.h"
#include "table/row_error.h"
#include "table/table_columns.h"
#include "table/time_text.h"
#include "workload/foreign_files.h"
#include "workload/trace_reader.h"

namespace allot {
namespace {

constexpr std::size_t kWidestCell = 30;

// Characters, not bytes: continuation bytes take no place.
std::size_t Width(std::string_view text) {
  return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), [](char c) {
    return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U;
  }));
}

std::string Cell(std::string_view text) {
  std::string cell;
  std::size_t width = 0;
  for (const char c : text) {
    const bool begins = (static_cast<unsigned char>(c) & 0xC0U) != 0x80U;
    if (begins && ++width > kWidestCell) return cell + "...";
    cell += static_cast<unsigned char>(c) < ' ' ? ' ' : c;
  }
  return cell;
}

std::string NameOfSeparator(char separator) {
  return separator == '\t' ? "tab" : fmt::format("'{}'", separator);
}

// Why reading the table by this map stops; "" where it does not, or where the map lacks columns.
std::string ReadingFault(const ColumnMap& map, const std::string& path) {
  if (!map.Lacks().empty()) return "";
  try {
    ReadTrace(path, std::string(kTableFormat), ReadOptions{.columns = map.ToString()});
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

// Reads the table by the guess, so that no command is suggested that stops at once. Dates that
// leave day and month open are taken as day first, which `guess->order_open` then tells.
void TryToRead(const std::string& path, ColumnGuess* guess) {
  guess->fault = ReadingFault(guess->map, path);
  if (guess->fault.empty() || !guess->map.times.empty()) return;
  ColumnMap day_first = guess->map;
  day_first.times = "dmy";
  if (!ReadingFault(day_first, path).empty()) return;
  guess->map = std::move(day_first);
  guess->fault.clear();
  guess->order_open = true;
}

std::vector<std::string> NextCommands(const ColumnGuess& guess, const std::string& path) {
  if (!guess.fault.empty()) return {};
  const bool whole = guess.map.Lacks().empty();
  const std::string columns = ShellWord(guess.map.ToString() + (whole ? "" : ",...=..."));
  const std::string trace = ShellWord(path);
  if (!whole) {
    return {fmt::format("allot trace inspect {} --columns {}", trace, columns)};
  }
  return {fmt::format("allot trace inspect {} --columns {}", trace, columns),
          fmt::format("allot compare --workload {} --columns {} --cluster 16x8", trace, columns),
          fmt::format("allot whatif --workload {} --columns {} --cluster 16x8", trace, columns),
          fmt::format("allot trace convert {} --columns {} -o jobs.csv", trace, columns)};
}

std::string FormatGuess(const ColumnGuess& guess, const TableFile& table, const std::string& path,
                        std::string_view what) {
  std::string text =
      fmt::format("{} is {}. It is a table: {} columns that end at {}, {}.\n", path, what,
                  table.header().size(), NameOfSeparator(table.separator()), table.encoding());
  const auto& names = table.header();
  const auto date = std::find_if(names.begin(), names.end(), [](const std::string& name) {
    return ParseCalendarTime(name, TimeStyle::Order::kDayFirst).has_value();
  });
  if (date != names.end()) {
    text += fmt::format(
        "Its first line holds no names of columns, but values ('{}'): export it with its header "
        "(sacct: without -n).\n",
        Cell(*date));
  }
  std::vector<std::array<std::string, 4>> rows = {{"Column", "Meaning", "Example", "Why"}};
  const MappedColumns columns(table, guess.map);
  for (const GuessedColumn& each : guess.columns) {
    const std::string style = columns.StyleOf(each.meaning);
    rows.push_back({Cell(each.column), each.meaning, Cell(each.example),
                    each.why + (style.empty() ? "" : "; " + style)});
  }
  std::array<std::size_t, 3> widths{};
  for (const auto& row : rows) {
    for (std::size_t i = 0; i < widths.size(); ++i) {
      widths.at(i) = std::max(widths.at(i), Width(row.at(i)));
    }
  }
  text += guess.columns.empty() ? "\nNo column tells by its name or values what it means.\n" : "\n";
  for (std::size_t r = 0; !guess.columns.empty() && r < rows.size(); ++r) {
    text += "  ";
    for (std::size_t i = 0; i < widths.size(); ++i) {
      text += rows[r].at(i) + std::string(widths.at(i) - Width(rows[r].at(i)) + 2, ' ');
    }
    text += rows[r].back() + "\n";
  }
  if (!guess.others.empty()) {
    text += fmt::format("  {} further {} ignored: {}\n", guess.others.size(),
                        NounFor(std::ssize(guess.others), "column"), Join(guess.others, ", "));
  }
  const std::vector<std::string> lacks = guess.map.Lacks();
  for (const std::string& lack : lacks) text += fmt::format("\nNo column says {}\n", lack);
  if (!lacks.empty()) text += "Complete the list of --columns with these names:\n";
  if (!guess.fault.empty()) {
    text += fmt::format("\nReading it so stops: {}\nCorrect the file, or this list: --columns {}\n",
                        guess.fault, ShellWord(guess.map.ToString()));
  } else if (lacks.empty()) {
    if (guess.order_open) {
      text +=
          "\nIts dates do not show which of their numbers is the day: times=dmy takes the first, "
          "times=mdy the second.\n";
    }
    text +=
        "\nIf this is right, use it (with your own nodes x GPUs); the last one writes a file "
        "that needs no --columns:\n";
  }
  for (const std::string& command : NextCommands(guess, path)) text += "  " + command + "\n";
  text += "What else a column can mean: docs/formats/workloads.md\n";
  return text;
}

nlohmann::ordered_json GuessJson(const ColumnGuess& guess, const TableFile& table,
                                 const std::string& path) {
  const MappedColumns found(table, guess.map);
  nlohmann::ordered_json columns = nlohmann::ordered_json::array();
  for (const GuessedColumn& each : guess.columns) {
    columns.push_back({{"column", each.column},
                       {"meaning", each.meaning},
                       {"example", each.example},
                       {"why", each.why},
                       {"read_as", found.StyleOf(each.meaning)}});
  }
  return {{"path", path},
          {"guess", columns},
          {"ignored", guess.others},
          {"lacks", guess.map.Lacks()},
          {"separator", std::string(1, table.separator())},
          {"encoding", table.encoding()},
          {"columns", guess.map.ToString()},
          {"fault", guess.fault},
          {"commands", NextCommands(guess, path)}};
}

}  // namespace

std::optional<SuggestedColumns> SuggestColumns(const std::string& path) {
  std::error_code ignored;  // a pipe can be read once only
  if (!std::filesystem::is_regular_file(path, ignored)) return std::nullopt;
  DecodedText decoded = TraceText(path);
  const std::string& text = decoded.text;
  if (text.empty() || DetectTraceFormat(text) != nullptr || !TableFile::LooksLike(text)) {
    return std::nullopt;
  }
  const auto foreign = RecogniseForeignFile(text, path);
  if (foreign && !foreign->is_table) return std::nullopt;  // reading it says what it is
  const TableFile table(std::move(decoded), path);
  ColumnGuess guess = GuessColumns(table);
  TryToRead(path, &guess);
  return SuggestedColumns{
      guess.map.Lacks().empty() && guess.fault.empty(),
      FormatGuess(guess, table, path, foreign ? foreign->what : "in no format that allot knows"),
      GuessJson(guess, table, path)};
}

}  // namespace allot
