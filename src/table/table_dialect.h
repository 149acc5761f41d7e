#pragma once
// How a table separates its fields, found from its first lines: programs and countries differ.

#include <optional>
#include <string_view>
#include <vector>

namespace allot {

struct TableDialect {
  char separator = ',';  // or ';', tab, '|'
  int lines_before = 0;  // that are not part of the table: Excel's "sep=;"
};

// The separator that most of the first lines hold equally often outside of quotes, at least once;
// of several, the one that makes more columns. nullopt where none does: it is no table.
std::optional<TableDialect> FindDialect(std::string_view text);

// The words of a line that blanks and tabs separate, any number of them.
std::vector<std::string_view> SplitAtBlanks(std::string_view line);

// What divides the whole part of a table's numbers from the rest.
enum class DecimalMark {
  kPoint,  // 1,234 is a thousand and more
  kComma,  // 1,234 is one and more
  kOpen,   // nothing shows what 1,234 is
};

// Looks at the fields of a table, for its numbers.
class DecimalSurvey {
 public:
  explicit DecimalSurvey(char separator) : separator_(separator) {}
  void Look(std::string_view field);
  // Where fields end at commas numbers have points. Excel's ';' goes with commas.
  DecimalMark mark() const;

 private:
  char separator_;
  bool comma_ = false;      // 3,5 or 1.234,5
  bool point_ = false;      // 3.5
  bool thousands_ = false;  // 1,234,567 or 1,234.5
};

// A number of such a table: 3,5 is three and a half unless numbers have points; 1,234,567, 1,234.5
// and 1.234,5 have their thousands marked. nullopt as ParseNumber, and for 1,234 where that is
// open.
std::optional<double> ParseTableNumber(std::string_view text, DecimalMark mark);

// What people and programs write where they know nothing: nothing, NaN, None, null, N/A, -, ...
bool IsMissing(std::string_view text);

}  // namespace allot
