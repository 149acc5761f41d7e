// allot's own format: a CSV with a row for each node and a column for each level, from below. The
// header has levels as --topology has them, without sizes; a last column may name 'all':
//
//   node,leaf:factor=8:uplink=8,pod
//   n1,leaf-a,pod-1

#include "cluster/topology_format.h"
#include "core/error.h"
#include "core/strings.h"

namespace allot {
namespace {

TopologyFile ReadAllotTopology(std::string_view text, const std::string& path) {
  TopologyFile file;
  std::size_t columns = 0;
  int number = 0;
  for (std::string_view line : Split(text, '\n')) {
    ++number;
    line = Trim(line);
    if (line.empty() || line.starts_with('#')) continue;
    const std::string place = fmt::format("{}:{}", path, number);
    const std::vector<std::string_view> fields = Split(line, ',');
    if (columns == 0) {
      columns = fields.size();
      for (const std::string_view field : fields) file.levels.push_back(ParseLevel(field, place));
      continue;
    }
    if (fields.size() != columns || Trim(fields.front()).empty()) {
      throw DataError("topology: a row names a node and has {} columns, got {} in '{}' ({})",
                      columns, fields.size(), line, place);
    }
    TopologyNode node;
    node.name = Trim(fields.front());
    node.line = number;
    for (std::size_t i = 1; i < fields.size(); ++i) {
      if (file.levels[i].name != "all") node.domains.emplace_back(Trim(fields[i]));
    }
    file.nodes.push_back(std::move(node));
  }
  return file;
}

int DetectAllotTopology(std::string_view text) {
  const std::string_view header = Trim(text.substr(0, text.find('\n')));
  return header.starts_with("node,") || header.starts_with("node:") ? 90 : 0;
}

ALLOT_REGISTER(TopologyFormat, (TopologyFormat{"allot", "allot's own CSV: node,leaf,pod",
                                               DetectAllotTopology, ReadAllotTopology}));

}  // namespace
}  // namespace allot
