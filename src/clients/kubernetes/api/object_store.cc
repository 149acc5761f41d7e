#include "clients/kubernetes/api/object_store.h"

#include "core/strings.h"

namespace allot {

std::uint64_t VersionOf(const nlohmann::json& object) {
  const nlohmann::json& version = object.at("metadata").at("resourceVersion");
  const auto number = ParseInteger(version.get_ref<const std::string&>());
  return number && *number > 0 ? static_cast<std::uint64_t>(*number) : 0;
}

std::string UidOf(const nlohmann::json& object) {
  return object.at("metadata").at("uid").get<std::string>();
}

}  // namespace allot
