// A table of sinfo.

#include <algorithm>

#include "clients/slurm/value_text.h"
#include "cluster/cluster_format.h"
#include "cluster/slurm_nodes.h"
#include "core/error.h"
#include "table/row_error.h"

namespace allot {
namespace {

std::vector<std::string> HostNames(std::string_view text, const std::string& place) {
  try {
    return ExpandHosts(text);
  } catch (const Error&) {
    throw RowError("nodes must be named like n1 or n[1-4,7]; -N gives each a line", Quoted(text),
                   place);
  }
}

std::vector<std::string_view> Fields(std::string_view line, char separator) {
  std::vector<std::string_view> fields;
  for (const std::string_view field : Split(line, separator)) {
    const std::string_view text = Trim(field);
    if (separator != ' ' || !text.empty()) fields.push_back(text);
  }
  return fields;
}

bool IsNodeColumn(std::string_view column) {
  return column == "NODELIST" || column == "HOSTNAMES" || column == "NODE_NAME";
}

// The line with the names of the columns: a date may stand before it.
bool IsSinfoHeader(std::string_view line) {
  const char separator = line.find('|') == std::string_view::npos ? ' ' : '|';
  const auto fields = Fields(line, separator);
  return std::any_of(fields.begin(), fields.end(), IsNodeColumn);
}

ClusterSpec ReadSinfo(std::string_view text, const std::string& path, ReadReport* report) {
  NodeList list(path, report);
  std::vector<std::string_view> header;
  char separator = ' ';
  int line_number = 0;
  for (const std::string_view line : Split(text, '\n')) {
    ++line_number;
    const std::string place = fmt::format("{}:{}", path, line_number);
    if (Trim(line).empty()) continue;
    if (header.empty()) {
      if (!IsSinfoHeader(line)) continue;
      separator = line.find('|') == std::string_view::npos ? ' ' : '|';
      header = Fields(line, separator);
      if (std::find(header.begin(), header.end(), "GRES") == header.end()) {
        throw DataError("a table of sinfo needs the column GRES, got only {} ({}); {}",
                        Quoted(Trim(line)), place, kSinfoAdvice);
      }
      continue;
    }
    const auto fields = Fields(line, separator);
    const auto field = [&](std::string_view name) {
      const auto at = std::find(header.begin(), header.end(), name) - header.begin();
      const auto i = static_cast<std::size_t>(at);
      return i < std::min(header.size(), fields.size()) ? fields[i] : std::string_view();
    };
    // Only the reason, which stands last where it is asked for, holds spaces.
    if (fields.size() < header.size()) {
      throw DataError(
          "a line of sinfo has {} fields as its header, got {} ({}): where a column is cut, its "
          "values run into the next; {}",
          header.size(), fields.size(), place, kSinfoAdvice);
    }
    ListedNode node;
    SetGres(field("GRES"), GresFrom::kTable, place, &node);
    node.cpus = NodeCount("CPUS", field("CPUS"), place);
    node.memory_mb = NodeCount("MEMORY", field("MEMORY"), place);
    node.away = AwayBecause(field("STATE"));
    const auto named = std::find_if(header.begin(), header.end(), IsNodeColumn);
    for (std::string& name : HostNames(field(*named), place)) {
      node.name = std::move(name);
      list.Add(node, line_number);
    }
  }
  return list.Finish(kSinfoAdvice);
}

int DetectSinfo(std::string_view text) {
  int lines = 0;
  for (const std::string_view line : Split(text.substr(0, 4096), '\n')) {
    if (++lines > 3) break;
    if (IsSinfoHeader(line)) return 100;
  }
  return 0;
}

ALLOT_REGISTER(ClusterFormat,
               (ClusterFormat{"sinfo", "a table of Slurm: sinfo -N -o \"%N %G %c %m %t\"",
                              DetectSinfo, ReadSinfo}));

}  // namespace
}  // namespace allot
