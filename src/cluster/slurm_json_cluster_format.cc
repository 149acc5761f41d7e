// The JSON of 'scontrol show node' and sinfo.

#include <algorithm>
#include <nlohmann/json.hpp>

#include "cluster/cluster_format.h"
#include "cluster/slurm_nodes.h"
#include "core/user_json.h"
#include "workload/row_error.h"

namespace allot {
namespace {

using SlurmJson = nlohmann::json;

// A value that newer versions wrap: {"total": 8}, {"set": true, "number": 8}, or 8.
std::int64_t NumberIn(const SlurmJson& json, const char* key) {
  const auto found = json.find(key);
  if (found == json.end()) return 0;
  for (const char* inner : {"maximum", "total", "number"}) {
    if (found->is_object() && found->contains(inner)) return NumberIn(*found, inner);
  }
  return found->is_number_integer() ? found->get<std::int64_t>() : 0;
}

std::string TextIn(const SlurmJson& json, const char* key) {
  const auto found = json.find(key);
  if (found == json.end()) return "";
  if (found->is_object() && found->contains("total")) return TextIn(*found, "total");
  if (found->is_string()) return found->get<std::string>();
  std::string joined;  // states: ["IDLE", "DRAIN"]
  if (found->is_array()) {
    for (const SlurmJson& part : *found) {
      if (part.is_string()) joined += (joined.empty() ? "" : "+") + part.get<std::string>();
    }
  }
  return joined;
}

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
  const auto add = [&](const SlurmJson& entry, const std::string& name) {
    ListedNode node;
    node.name = name;
    SetGres(TextIn(entry, "gres"), GresFrom::kRecord, path + ":1", &node);
    node.cpus = NumberIn(entry, "cpus");
    node.memory_mb = NumberIn(entry, entry.contains("real_memory") ? "real_memory" : "memory");
    const SlurmJson& stated =
        entry.contains("node") && entry["node"].is_object() ? entry["node"] : entry;
    node.away = AwayBecause(TextIn(stated, "state"));
    list.Add(node, 1);
  };
  for (const char* key : {"nodes", "sinfo"}) {
    if (!json.contains(key) || !json[key].is_array()) continue;
    for (const SlurmJson& entry : json[key]) {
      if (!entry.is_object()) continue;
      const auto several = entry.find("nodes");
      if (several != entry.end() && several->is_object() && several->contains("nodes")) {
        for (const SlurmJson& name : (*several)["nodes"]) {
          if (name.is_string()) add(entry, name.get<std::string>());
        }
      } else {
        add(entry, TextIn(entry, "name"));
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
