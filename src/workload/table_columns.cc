#include "workload/table_columns.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "core/interrupt.h"
#include "workload/row_error.h"

namespace allot {
namespace {

constexpr std::array<std::string_view, 4> kTimes = {"submit", "start", "end", "deadline"};
constexpr std::array<std::string_view, 2> kLengths = {"duration", "limit"};

bool IsTime(std::string_view meaning) {
  return std::find(kTimes.begin(), kTimes.end(), meaning) != kTimes.end();
}

bool IsLength(std::string_view meaning) {
  return std::find(kLengths.begin(), kLengths.end(), meaning) != kLengths.end();
}

std::string RuleOfTimes(const std::string& name, const TimeStyle& style) {
  if (!style.calendar) {
    return fmt::format("'{}' must be a number like the others of its column", name);
  }
  if (style.epoch)
    return fmt::format("'{}' must be {} like most of its column", name, Description(style));
  if (style.order == TimeStyle::Order::kNotSaid) {
    return fmt::format(
        "'{}' must be a date like 2026-11-23 14:05:00; where day and month cannot be told apart, "
        "add times=dmy or times=mdy to --columns",
        name);
  }
  return fmt::format("'{}' must be a date with the {} first like most of its column", name,
                     style.order == TimeStyle::Order::kDayFirst ? "day" : "month");
}

}  // namespace

MappedColumns::MappedColumns(const TableFile& table, const ColumnMap& map)
    : separator_(table.separator()) {
  columns_.reserve(map.columns().size());
  for (const auto& [meaning, name] : map.columns()) {
    Column column{meaning, name, PositionOf(name, table.header(), table.place_of_header())};
    if (IsLength(meaning)) {
      column.unit = UnitNamed(map.lengths).value_or(UnitInName(name).value_or(1));
    }
    columns_.push_back(std::move(column));
  }
  std::map<std::string_view, TimeSurvey> surveys;
  CsvReader rows = table.Rows();
  while (rows.Next()) {
    ThrowIfInterrupted();
    for (const Column& column : columns_) {
      if (!IsTime(column.meaning) || column.position >= rows.fields()) continue;
      surveys[column.meaning].Look(rows.At(column.position), separator_);
    }
  }
  const std::optional<TimeStyle> said = TimeStyleNamed(map.times);
  std::optional<int> zone;  // one for all, so that differences hold
  for (Column& column : columns_) {
    if (!IsTime(column.meaning)) continue;
    const bool unit_said = said && said->order == TimeStyle::Order::kNotSaid;
    column.style =
        surveys[column.meaning].Style(unit_said ? said->unit : UnitInName(column.name).value_or(1));
    if (said && said->order != TimeStyle::Order::kNotSaid) column.style.order = said->order;
    if (!zone) zone = column.style.zone;
    if (column.style.zone) column.style.zone = zone;
  }
  // What one column shows of the order of its dates holds for the others.
  for (const Column& shown : columns_) {
    if (shown.style.order == TimeStyle::Order::kNotSaid) continue;
    for (Column& column : columns_) {
      if (column.style.order == TimeStyle::Order::kNotSaid) column.style.order = shown.style.order;
    }
  }
}

const MappedColumns::Column* MappedColumns::Find(std::string_view meaning) const {
  const auto found = std::find_if(columns_.begin(), columns_.end(),
                                  [&](const Column& column) { return column.meaning == meaning; });
  return found == columns_.end() ? nullptr : &*found;
}

std::string_view MappedColumns::Text(const CsvReader& row, std::string_view meaning) const {
  const Column* const column = Find(meaning);
  if (column == nullptr) return "";
  const std::string_view text = row.At(column->position);
  return IsMissing(text) ? "" : text;
}

std::optional<Seconds> MappedColumns::Time(const CsvReader& row, std::string_view meaning) const {
  const std::string_view text = Text(row, meaning);
  if (text.empty()) return std::nullopt;
  const Column& column = *Find(meaning);
  const auto time = ReadTime(text, column.style, separator_);
  if (!time) throw RowError(RuleOfTimes(column.name, column.style), Quoted(text), row.place());
  if (column.style.epoch && *time == 0) return std::nullopt;  // what databases write for never
  return time;
}

std::optional<Seconds> MappedColumns::Length(const CsvReader& row, std::string_view meaning) const {
  const std::string_view text = Text(row, meaning);
  if (text.empty()) return std::nullopt;
  const Column& column = *Find(meaning);
  const auto length = ReadLength(text, column.unit, separator_);
  if (!length || !std::isfinite(*length)) {
    throw RowError(fmt::format("'{}' must be a run time: a number, HH:MM:SS, D-HH:MM:SS or 1h30m",
                               column.name),
                   Quoted(text), row.place());
  }
  return length;
}

std::optional<double> MappedColumns::Number(const CsvReader& row, std::string_view meaning) const {
  const std::string_view text = Text(row, meaning);
  if (text.empty()) return std::nullopt;
  const auto number = ParseTableNumber(text, separator_);
  if (!number) {
    throw RowError(fmt::format("'{}' must be a number", Find(meaning)->name), Quoted(text),
                   row.place());
  }
  return number;
}

bool MappedColumns::AlikeTimes() const {
  const Column* const submit = Find("submit");
  const Column* const start = Find("start");
  return submit != nullptr && start != nullptr && submit->style.calendar == start->style.calendar;
}

bool MappedColumns::calendar() const {
  const Column* const submit = Find("submit");
  return submit != nullptr && submit->style.calendar;
}

std::string MappedColumns::StyleOf(std::string_view meaning) const {
  const Column* const column = Find(meaning);
  if (column == nullptr) return "";
  if (IsTime(meaning)) return Description(column->style);
  if (IsLength(meaning) && column->unit != 1) {
    return fmt::format("numbers in {}", NameOfUnit(column->unit));
  }
  return "";
}

}  // namespace allot
