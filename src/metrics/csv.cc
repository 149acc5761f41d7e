#include "metrics/csv.h"

#include <algorithm>

#include "core/file.h"
#include "core/strings.h"
#include "core/types.h"
#include "table/csv.h"

namespace allot {

std::string CsvField(std::string_view text) {
  if (text.find_first_of(",\"\r\n") == std::string_view::npos) return std::string(text);
  std::string field = "\"";
  for (const char c : text) {
    if (c == '"') field += '"';
    field += c;
  }
  return field + '"';
}

NumberColumns ReadNumberColumns(const std::string& path, const std::vector<std::string>& required,
                                const std::vector<std::string>& optional) {
  const std::string text = ReadTextFile(path);
  NumberColumns columns;
  for (const std::string& name : required) columns[name];

  // CsvReader knows every column of its format; a result file may have grown more since.
  std::vector<std::string> others;
  const std::string_view header = std::string_view(text).substr(0, text.find('\n'));
  for (const std::string_view field : Split(Trim(header), ',')) {
    const std::string name(field);
    if (std::find(optional.begin(), optional.end(), name) != optional.end()) columns[name];
    if (std::find(required.begin(), required.end(), name) == required.end()) others.push_back(name);
  }

  CsvReader csv(text, path, required, others);
  while (csv.Next()) {
    csv.CheckRow();
    for (auto& [name, values] : columns) {
      values.push_back(csv.Has(name) ? csv.Number(name) : kUnknown);
    }
  }
  return columns;
}

}  // namespace allot
