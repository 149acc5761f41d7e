#pragma once
// CSV as result files need it: a field writer, and whole columns of numbers at once.

#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace allot {

// `text` as one field: quoted when it holds a comma, a quote or a line break (RFC 4180).
std::string CsvField(std::string_view text);

using NumberColumns = std::map<std::string, std::vector<double>, std::less<>>;

// The named columns of a file, one element per row; an empty field is kUnknown. Columns of
// `optional` that the file lacks are left out, other columns are ignored.
// DataError with path and line when a required column is absent, a row is ragged or a field is no
// number.
NumberColumns ReadNumberColumns(const std::string& path, const std::vector<std::string>& required,
                                const std::vector<std::string>& optional = {});

}  // namespace allot
