// Parts of a cluster, as on the command line, any number a line; '#' begins a comment.

#include <fmt/format.h>

#include "cluster/cluster_format.h"
#include "cluster/cluster_parts.h"
#include "core/strings.h"

namespace allot {
namespace {

ClusterSpec ReadParts(std::string_view text, const std::string& path, ReadReport* /*report*/) {
  ClusterSpec spec;
  int line_number = 0;
  for (std::string_view line : Split(text, '\n')) {
    ++line_number;
    line = Trim(line.substr(0, line.find('#')));
    if (line.empty()) continue;
    try {
      AddClusterParts(line, fmt::format("{}:{}", path, line_number), &spec);
    } catch (const Error& error) {
      if (!spec.nodes().empty()) throw;
      // Perhaps it was meant as something else.
      throw DataError("{}; node lists of other programs: 'allot list cluster-formats'",
                      error.what());
    }
  }
  return spec;
}

ALLOT_REGISTER(ClusterFormat,
               (ClusterFormat{"parts",
                              "NODESxGPUS[xCPUS[xMEMORY]][:TYPE[@MEMORY]], any number a line",
                              [](std::string_view) { return 1; },  // what nothing else is
                              ReadParts}));

}  // namespace
}  // namespace allot
