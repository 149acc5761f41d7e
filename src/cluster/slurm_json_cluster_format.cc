// The JSON of 'scontrol show node' and sinfo.

#include <algorithm>
#include <nlohmann/json.hpp>

#include "clients/slurm/slurm_json.h"
#include "cluster/cluster_format.h"
#include "cluster/slurm_nodes.h"
#include "core/user_json.h"
#include "table/row_error.h"

namespace allot {
namespace {

using SlurmJson = nlohmann::json;

ClusterSpec ReadSlurmJson(std::string_view text, const std::string& path, ReadReport* report) {
  JsonFault fault;
  const SlurmJson json = ParseUserJson(text, &fault);
  if (!json.is_object()) {
    const std::string_view before = text.substr(0, fault.byte);
    throw DataError("a file of sinfo --json {}, got {} ({}:{}); {}",
                    json.is_discarded() ? fault.rule : "must be a JSON object",
                    Quoted(text.substr(before.size(), 40)), path,
                    1 + std::count(before.begin(), before.end(), '\n'), kSinfoAdvice);
  }
  NodeList list(path, report);
  const auto add = [&](const SlurmNode& read, const std::string& name) {
    ListedNode node;
    node.name = name;
    SetGres(read.gres, GresFrom::kRecord, path + ":1", &node);
    node.cpus = read.cpus;
    node.memory_mb = static_cast<std::int64_t>(read.memory_mib);
    node.away = AwayBecause(read.state, read.state_text);
    list.Add(node, 1);
  };
  for (const char* key : {"nodes", "sinfo"}) {
    if (!json.contains(key) || !json[key].is_array()) continue;
    for (const SlurmJson& entry : json[key]) {
      if (!entry.is_object()) continue;
      const SlurmNode read = ReadNodeJson(entry);
      const auto several = entry.find("nodes");
      if (several != entry.end() && several->is_object() && several->contains("nodes")) {
        for (const SlurmJson& name : (*several)["nodes"]) {
          if (name.is_string()) add(read, name.get<std::string>());
        }
      } else {
        add(read, read.name);
      }
    }
  }
  return list.Finish(kSinfoAdvice);
}

int DetectSlurmJson(std::string_view text) {
  const std::string_view head = Trim(text.substr(0, 4096));
  if (!head.starts_with('{') || text.find("\"gres\"") == std::string_view::npos) return 0;
  return text.find("\"nodes\"") != std::string_view::npos ? 90 : 0;
}

ALLOT_REGISTER(ClusterFormat,
               (ClusterFormat{"slurm-json", "scontrol show node --json, sinfo --json",
                              DetectSlurmJson, ReadSlurmJson}));

}  // namespace
}  // namespace allot
