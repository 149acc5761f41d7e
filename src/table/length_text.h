#pragma once
// Run times, and their units, as tables of people, databases and schedulers write them.

#include <optional>
#include <string>
#include <string_view>

#include "core/types.h"
#include "table/table_dialect.h"

namespace allot {

// Run times: a number of `unit` seconds, [D-]HH:MM:SS[.5], "1 day, 2:03:04", "1h30m", PT1H30M, P2W.
// Months and years, P1M, have no fixed length.
std::optional<Seconds> ReadLength(std::string_view text, double unit, DecimalMark mark);

// The unit that a column's name ends with: "run_ms", "Duration (min)", "hours"; nullopt: none.
std::optional<double> UnitInName(std::string_view column);
// What stands in brackets at its end and is no unit: "Std" of "Rechenzeit (Std)"; "": nothing.
std::string_view UnknownUnitInName(std::string_view column);
// "s", "ms", "us", "min", "h", "d" -> seconds; nullopt for any other word.
std::optional<double> UnitNamed(std::string_view word);
std::string NameOfUnit(double unit);  // "" of a second

}  // namespace allot
