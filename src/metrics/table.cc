#include "metrics/table.h"

#include <algorithm>

#include "core/check.h"
#include "core/strings.h"
#include "metrics/csv.h"
#include "metrics/html.h"

namespace allot {
namespace {

constexpr std::string_view kGap = "  ";
constexpr std::string_view kBold = "\x1b[1m";
constexpr std::string_view kPlain = "\x1b[0m";

void Pad(std::string_view cell, std::size_t width, TextTable::Align align, std::string* line) {
  const std::string padding(width - DisplayWidth(cell), ' ');
  if (align == TextTable::Align::kRight) *line += padding;
  *line += cell;
  if (align == TextTable::Align::kLeft) *line += padding;
}

void EndLine(std::string* text) {
  text->erase(text->find_last_not_of(' ') + 1);
  *text += '\n';
}

std::string MarkdownCell(std::string_view cell) {
  std::string escaped;
  for (const char c : cell) {
    if (c == '|' || c == '\\') escaped += '\\';
    escaped += c;
  }
  return escaped;
}

}  // namespace

std::size_t DisplayWidth(std::string_view text) {
  return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), [](char c) {
    return (static_cast<unsigned char>(c) & 0xC0) != 0x80;
  }));
}

TextTable::TextTable(std::vector<Column> columns) : columns_(std::move(columns)) {}

void TextTable::AddRow(std::vector<std::string> cells, char marker) {
  ALLOT_CHECK_EQ(cells.size(), columns_.size());
  for (std::string& cell : cells) cell = Printable(cell);  // names are users'
  rows_.push_back({std::move(cells), marker});
}

void TextTable::AddNote(const std::string& note) { notes_.push_back(Printable(note)); }

std::string TextTable::ToText(bool colour) const {
  std::vector<std::size_t> widths;
  std::size_t total = 0;
  for (std::size_t c = 0; c < columns_.size(); ++c) {
    std::size_t width = DisplayWidth(columns_[c].title);
    for (const Row& row : rows_) width = std::max(width, DisplayWidth(row.cells[c]));
    widths.push_back(width);
    total += width + (c == 0 ? 0 : kGap.size());
  }
  const bool gutter =
      std::any_of(rows_.begin(), rows_.end(), [](const Row& row) { return row.marker != ' '; });
  const std::string indent = gutter ? "  " : "";

  std::string text = indent;
  for (std::size_t c = 0; c < columns_.size(); ++c) {
    if (c > 0) text += kGap;
    Pad(columns_[c].title, widths[c], columns_[c].align, &text);
  }
  EndLine(&text);
  text += indent;
  for (std::size_t i = 0; i < total; ++i) text += "─";
  text += '\n';
  for (const Row& row : rows_) {
    const bool bold = colour && row.marker != ' ';
    std::string line;
    if (gutter) line = {row.marker, ' '};
    for (std::size_t c = 0; c < columns_.size(); ++c) {
      if (c > 0) line += kGap;
      Pad(row.cells[c], widths[c], columns_[c].align, &line);
    }
    line.erase(line.find_last_not_of(' ') + 1);
    if (bold) text += kBold;
    text += line;
    if (bold) text += kPlain;
    text += '\n';
  }
  for (const std::string& note : notes_) text += indent + note + '\n';
  return text;
}

std::string TextTable::ToMarkdown() const {
  std::string text = "|";
  for (const Column& column : columns_) text += " " + MarkdownCell(column.title) + " |";
  text += "\n|";
  for (const Column& column : columns_) text += column.align == Align::kRight ? "---:|" : "---|";
  text += '\n';
  for (const Row& row : rows_) {
    text += '|';
    const std::string_view stars = row.marker != ' ' ? "**" : "";
    for (const std::string& cell : row.cells) {
      text += ' ';
      text += stars;
      text += MarkdownCell(cell);
      text += stars;
      text += " |";
    }
    text += '\n';
  }
  for (const std::string& note : notes_) text += "\n" + note + "\n";
  return text;
}

std::string TextTable::ToHtml() const {
  std::string html = "<div class=\"scroll\"><table>\n<thead><tr>";
  for (const Column& column : columns_)
    html += "<th scope=\"col\">" + EscapeHtml(column.title) + "</th>";
  html += "</tr></thead>\n<tbody>\n";
  for (const Row& row : rows_) {
    html += row.marker != ' ' ? "<tr class=\"reference\">" : "<tr>";
    for (std::size_t c = 0; c < columns_.size(); ++c) {
      const std::string cell = EscapeHtml(row.cells[c]);
      html += c == 0 ? "<th scope=\"row\">" + cell + "</th>" : "<td>" + cell + "</td>";
    }
    html += "</tr>\n";
  }
  html += "</tbody></table></div>\n";
  for (const std::string& note : notes_) html += "<p class=\"note\">" + EscapeHtml(note) + "</p>\n";
  return html;
}

}  // namespace allot
