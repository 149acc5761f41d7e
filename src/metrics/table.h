#pragma once
// A small table for people and for papers: aligned text, Markdown, CSV or HTML from the same
// cells.

#include <string>
#include <string_view>
#include <vector>

namespace allot {

class TextTable {
 public:
  enum class Align { kLeft, kRight };
  struct Column {
    std::string title;
    Align align = Align::kRight;
  };

  explicit TextTable(std::vector<Column> columns);

  // `cells` one per column, UTF-8 without control characters. `marker` stands before a row in text
  // ('>'); a marked row is bold where colour is allowed.
  void AddRow(std::vector<std::string> cells, char marker = ' ');
  void AddNote(const std::string& note);  // a line below the table

  std::string ToText(bool colour = false) const;
  std::string ToMarkdown() const;
  std::string ToHtml()
      const;  // a table element and its notes; marked rows are of class "reference"

 private:
  struct Row {
    std::vector<std::string> cells;
    char marker;
  };
  std::vector<Column> columns_;
  std::vector<Row> rows_;
  std::vector<std::string> notes_;
};

// Columns that a terminal needs for `text`: its code points, as the house prints no wide
// characters.
std::size_t DisplayWidth(std::string_view text);

}  // namespace allot
