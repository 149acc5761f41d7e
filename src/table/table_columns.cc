#include "table/table_columns.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "core/error.h"
#include "core/interrupt.h"
#include "table/length_text.h"
#include "table/row_error.h"

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

std::string RuleOfTimes(const std::string& name, const TimeStyle& style, bool no_numbers) {
  if (!style.calendar && !no_numbers) {
    return fmt::format("'{}' must be a number like the others of its column, or all of them {}",
                       name, kTimeForms);
  }
  if (style.epoch)
    return fmt::format("'{}' must be {} like most of its column", name, Description(style));
  if (no_numbers || style.order == TimeStyle::Order::kNotSaid) {
    return fmt::format(
        "'{}' must be a date or time written like {}; where day and month are ambiguous, "
        "add times=dmy or times=mdy to --columns",
        name, kTimeForms);
  }
  return fmt::format("'{}' must be a date with the {} first like most of its column", name,
                     style.order == TimeStyle::Order::kDayFirst ? "day" : "month");
}

std::string RuleOfLengths(const std::string& name, std::string_view text) {
  if (text.starts_with('P') || text.starts_with('p')) {
    return fmt::format(
        "'{}' must be a run time in weeks, days or parts of days, like P2W, P1DT12H or PT30M, as "
        "months and years have no fixed length",
        name);
  }
  return fmt::format("'{}' must be a run time: a number, HH:MM:SS, D-HH:MM:SS, 1h30m or PT1H30M",
                     name);
}

}  // namespace

MappedColumns::MappedColumns(const TableFile& table, const ColumnMap& map)
    : decimal_(table.decimal()) {
  columns_.reserve(map.columns().size());
  for (const auto& [meaning, name] : map.columns()) {
    const auto positions = PositionsOf(meaning, name, table.header(), table.place_of_header());
    Column column{meaning, name, positions.front()};
    column.factors.assign(positions.begin() + 1, positions.end());
    if (IsLength(meaning)) {
      column.unit = UnitNamed(map.lengths).value_or(UnitInName(name).value_or(1));
      if (map.lengths.empty()) column.no_unit = UnknownUnitInName(name);
    }
    columns_.push_back(std::move(column));
  }
  std::map<std::string_view, TimeSurvey> surveys;
  CsvReader rows = table.Rows();
  while (rows.Next()) {
    ThrowIfInterrupted();
    for (const Column& column : columns_) {
      if (!IsTime(column.meaning) || column.position >= rows.fields()) continue;
      surveys[column.meaning].Look(rows.At(column.position), decimal_);
    }
  }
  const std::optional<TimeStyle> said = TimeStyleNamed(map.times);
  std::optional<int> zone;  // one for all, so that differences hold
  for (Column& column : columns_) {
    if (!IsTime(column.meaning)) continue;
    const bool unit_said = said && said->order == TimeStyle::Order::kNotSaid;
    const TimeSurvey& survey = surveys[column.meaning];
    const bool excel = said && said->zero != 0;
    column.style = survey.Style(unit_said && !excel ? said->unit : UnitInName(column.name), said);
    column.no_numbers = survey.understood() < survey.values() - survey.understood();
    if (said && said->order != TimeStyle::Order::kNotSaid) column.style.order = said->order;
    if (!zone) zone = column.style.zone;
    if (column.style.zone) column.style.zone = zone;
  }
  // The other times count from what submissions count from.
  const Column* const submit = Find("submit");
  if (submit != nullptr && submit->style.open) {
    const TimeSurvey& survey = surveys["submit"];
    throw DataError(
        "the numbers of '{}' may be Excel's dates: add times=excel, or times=s "
        "for seconds, to --columns, got {} to {} ({})",
        submit->name, survey.least(), survey.most(), table.place_of_header());
  }
  for (Column& column : columns_) {
    column.style.open = false;
    // Numbers that are all later than any time since 1970: each stands for "never".
    const bool never = submit != nullptr && submit->style.epoch && IsTime(column.meaning) &&
                       !column.style.calendar &&
                       surveys[column.meaning].least() * submit->style.unit > kLastEpoch;
    if (never) column.style = submit->style;
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
  // What databases write for never.
  if (column.style.calendar && ParseTableNumber(text, decimal_) == 0.0) return std::nullopt;
  const auto time = ReadTime(text, column.style, decimal_);
  const std::string unlikely = time ? UnlikelyTime(*time, column.style) : "";
  if (!unlikely.empty()) {
    throw RowError(fmt::format("'{}' must be a time from 1989 to 2128, and empty where it is not "
                               "known or means \"never\"",
                               column.name),
                   fmt::format("{}: {}", Quoted(text), unlikely), row.place());
  }
  if (time) return time;
  const std::string rule = RuleOfTimes(column.name, column.style, column.no_numbers);
  throw RowError(rule + OpenNumber(text), Quoted(text), row.place());
}

std::optional<Seconds> MappedColumns::Length(const CsvReader& row, std::string_view meaning) const {
  const std::string_view text = Text(row, meaning);
  if (text.empty()) return std::nullopt;
  const Column& column = *Find(meaning);
  if (!column.no_unit.empty() && ParseTableNumber(text, decimal_)) {
    throw RowError(fmt::format("the unit of '{}' must be known: add lengths=h, min, s or ms to "
                               "--columns",
                               column.name),
                   Quoted(column.no_unit), row.place());
  }
  const auto length = ReadLength(text, column.unit, decimal_);
  if (!length || !std::isfinite(*length)) {
    throw RowError(RuleOfLengths(column.name, text) + OpenNumber(text), Quoted(text), row.place());
  }
  return length;
}

std::optional<double> MappedColumns::Number(const CsvReader& row, std::string_view meaning) const {
  const Column* const column = Find(meaning);
  if (column == nullptr) return std::nullopt;
  auto product = NumberAt(row, *column, column->position);
  for (const std::size_t factor : column->factors) {
    const auto number = NumberAt(row, *column, factor);
    product = product && number ? std::optional(*product * *number) : std::nullopt;
  }
  return product;
}

std::optional<double> MappedColumns::NumberAt(const CsvReader& row, const Column& column,
                                              std::size_t position) const {
  const std::string_view text = row.At(position);
  if (IsMissing(text)) return std::nullopt;
  const auto number = ParseTableNumber(text, decimal_);
  if (!number) {
    throw RowError(fmt::format("'{}' must be a number", column.name) + OpenNumber(text),
                   Quoted(text), row.place());
  }
  return number;
}

std::string MappedColumns::OpenNumber(std::string_view text) const {
  const bool open =
      decimal_ == DecimalMark::kOpen && ParseTableNumber(text, DecimalMark::kPoint).has_value();
  return open ? "; 1,234 may be 1234 or 1.234: write one of them" : "";
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
