#include "experiment/sources.h"

#include <algorithm>

#include "core/params.h"
#include "envs/setting.h"
#include "experiment/spec_list.h"
#include "record/minari_reader.h"

namespace allot {
namespace {

nlohmann::json UnknownSource(const std::string& why) { return {{"unknown", why}}; }

nlohmann::json Window(const std::string& workload, const std::string& from, const std::string& to) {
  return {{"workload", workload}, {"from", from}, {"to", to}};
}

nlohmann::json SettingSource(const std::string& spec) {
  const NamedParams setting = ParseNamedParams(spec);
  if (setting.name != "trace") return UnknownSource("setting " + spec);
  const auto text = [&](const char* key, const char* otherwise) {
    const auto given = setting.given.find(key);
    return given == setting.given.end() ? otherwise : given->second;
  };
  return Window(text("workload", "embedded"), text("from", ""), text("to", ""));
}

// Of a world as World::ToJson writes it.
nlohmann::json SourcesOfWorld(const nlohmann::json& world) {
  nlohmann::json sources = nlohmann::json::array();
  const auto text = [&](const char* key) {
    const auto found = world.find(key);
    return found != world.end() && found->is_string() ? found->get<std::string>() : std::string();
  };
  if (!world.is_object()) {
    sources.push_back(UnknownSource("no world"));
  } else if (!text("setting").empty()) {
    for (const std::string& spec : SplitSettings(text("setting"))) {
      sources.push_back(SettingSource(spec));
    }
  } else if (world.contains("rate") || text("workload").empty() || text("workload") == "-") {
    sources.push_back(UnknownSource("arrivals that no file holds"));
  } else {
    sources.push_back(Window(text("workload"), text("from"), text("to")));
    if (!text("columns").empty()) sources.back()["columns"] = text("columns");
  }
  return sources;
}

}  // namespace

nlohmann::json SourcesOf(World& world) { return SourcesOfWorld(nlohmann::json(world.ToJson())); }

nlohmann::json SourcesOfLogs(const std::vector<std::string>& logs) {
  nlohmann::json sources = nlohmann::json::array();
  for (const std::string& log : logs) {
    const AttributeMap attributes = MinariReader(log).attributes();
    const auto found = attributes.find("sources");
    const auto* text =
        found == attributes.end() ? nullptr : std::get_if<std::string>(&found->second);
    const nlohmann::json said =
        text == nullptr ? nlohmann::json() : nlohmann::json::parse(*text, nullptr, false);
    AddSources(said.is_array() ? said : nlohmann::json::array({UnknownSource("log " + log)}),
               &sources);
  }
  return sources;
}

nlohmann::json SourcesOfHistory(const std::string& history) {
  const std::size_t at = history.rfind('@');
  const std::string until = at == std::string::npos ? "" : history.substr(at + 1);
  return nlohmann::json::array({Window(history.substr(0, at), "", until)});
}

nlohmann::json SourcesOfCheckpoint(const nlohmann::json& config) {
  const auto sources = config.find("sources");
  if (sources != config.end() && sources->is_array()) return *sources;
  const auto world = config.find("world");
  return SourcesOfWorld(world == config.end() ? nlohmann::json() : *world);
}

void AddSources(const nlohmann::json& more, nlohmann::json* sources) {
  for (const nlohmann::json& source : more) {
    if (std::find(sources->begin(), sources->end(), source) == sources->end()) {
      sources->push_back(source);
    }
  }
}

}  // namespace allot
