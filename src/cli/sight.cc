#include "cli/sight.h"

namespace allot {

Sight SightOf(const nlohmann::json& config, World& world) {
  if (world.in_settings()) return Sight::kNotKnown;
  const nlohmann::json here = world.ToJson();
  const nlohmann::json there = config.value("world", nlohmann::json::object());
  const auto text = [](const nlohmann::json& json, const char* key) {
    return json.value(key, std::string());
  };
  if (world.made_by_law() || text(there, "workload") != text(here, "workload")) {
    return Sight::kNotKnown;
  }
  const auto when = [&](const nlohmann::json& json, const char* key, Seconds otherwise) {
    const std::string value = text(json, key);
    return value.empty() ? otherwise : ParseWhen(world.trace(), value);
  };
  const bool apart = when(there, "to", kNever) <= when(here, "from", 0) ||
                     when(here, "to", kNever) <= when(there, "from", 0);
  return apart ? Sight::kUnseen : Sight::kSeen;
}

}  // namespace allot
