#pragma once
// Definitions of sweeps (sweep/definition.h) as people write them: TOML or JSON, read as the JSON
// that SweepFromJson takes.

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

namespace allot {

// A TOML file, or JSON when its name ends in .json. DataError with place.
nlohmann::ordered_json ReadDefinitionFile(const std::string& path);
nlohmann::ordered_json ParseToml(std::string_view text, std::string_view where);

}  // namespace allot
