#include "metrics/table.h"

#include <gtest/gtest.h>

namespace allot {
namespace {

TextTable Example(char marker = ' ') {
  TextTable table({{"policy", TextTable::Align::kLeft}, {"avg JCT"}, {"decision"}});
  table.AddRow({"learned", "38.1 s", "8.2 µs"}, marker);
  table.AddRow({"fifo", "2h 41m", "12.0 µs"});
  return table;
}

TEST(TextTable, AlignsNumbersRightAndCountsCodePoints) {
  EXPECT_EQ(Example().ToText(),
            "policy   avg JCT  decision\n"
            "──────────────────────────\n"
            "learned   38.1 s    8.2 µs\n"
            "fifo      2h 41m   12.0 µs\n");
}

TEST(TextTable, MarkedRowsStandInAGutter) {
  EXPECT_EQ(Example('>').ToText(),
            "  policy   avg JCT  decision\n"
            "  ──────────────────────────\n"
            "> learned   38.1 s    8.2 µs\n"
            "  fifo      2h 41m   12.0 µs\n");
}

TEST(TextTable, ColourOnlyOnRequest) {
  EXPECT_EQ(Example('>').ToText().find('\x1b'), std::string::npos);
  EXPECT_NE(Example('>').ToText(true).find("\x1b[1m> learned   38.1 s    8.2 µs\x1b[0m\n"),
            std::string::npos);
}

TEST(TextTable, NotesFollowTheRows) {
  TextTable table = Example();
  table.AddNote("means over 8 workloads");
  const std::string text = table.ToText();
  EXPECT_TRUE(text.ends_with("12.0 µs\nmeans over 8 workloads\n"));
}

TEST(TextTable, NamesOfUsersDoNotReachTheTerminal) {
  TextTable table({{"job", TextTable::Align::kLeft}});
  table.AddRow({"a\x1b[2Jb\r\n"});
  table.AddNote(
      "c\xc2\x9b"
      "d µ");
  EXPECT_EQ(table.ToText(),
            "job\n"
            "─────────────────\n"
            "a\\x1b[2Jb\\x0d\\x0a\n"
            "c\\x9bd µ\n");
}

TEST(TextTable, Markdown) {
  TextTable table({{"policy", TextTable::Align::kLeft}, {"JCT"}});
  table.AddRow({"las:queues=1|2", "1.0"});
  table.AddRow({"learned", "0.7"}, '>');
  EXPECT_EQ(table.ToMarkdown(),
            "| policy | JCT |\n"
            "|---|---:|\n"
            "| las:queues=1\\|2 | 1.0 |\n"
            "| **learned** | **0.7** |\n");
}

TEST(TextTable, HtmlEscapesAndMarks) {
  TextTable table({{"policy", TextTable::Align::kLeft}, {"a<b"}});
  table.AddRow({"fifo", "1"}, '>');
  table.AddRow({"las", "&"});
  table.AddNote("x < y");
  EXPECT_EQ(table.ToHtml(), R"(<div class="scroll"><table>
<thead><tr><th scope="col">policy</th><th scope="col">a&lt;b</th></tr></thead>
<tbody>
<tr class="reference"><th scope="row">fifo</th><td>1</td></tr>
<tr><th scope="row">las</th><td>&amp;</td></tr>
</tbody></table></div>
<p class="note">x &lt; y</p>
)");
}

}  // namespace
}  // namespace allot
