#include "models/net_weights.h"

#include <fmt/format.h>

#include "core/check.h"
#include "core/error.h"

namespace allot {
namespace {

constexpr char kOfWorld = '@';

}  // namespace

Tensor& NetWeights::operator[](std::string_view name) {
  const auto found = tensors.find(name);
  ALLOT_CHECK(found != tensors.end());
  return found->second;
}

const Tensor& NetWeights::operator[](std::string_view name) const {
  const auto found = tensors.find(name);
  ALLOT_CHECK(found != tensors.end());
  return found->second;
}

std::string OwnTensor(std::string_view name, std::string_view world) {
  return fmt::format("{}{}{}", name, kOfWorld, world);
}

std::string_view WorldOfTensor(std::string_view name) {
  const std::size_t at = name.find(kOfWorld);
  return at == std::string_view::npos ? std::string_view{} : name.substr(at + 1);
}

int SizeOf(const NetWeights& weights, const char* key, const std::string& origin) {
  constexpr std::int64_t kMax = 4096;  // a guard against absurd files, not a design limit
  const nlohmann::json& sizes = weights.sizes;
  const auto found = sizes.is_object() ? sizes.find(key) : sizes.end();
  if (found == sizes.end()) throw DataError("{}: key '{}' is missing", origin, key);
  if (!found->is_number_integer()) {
    throw DataError("{}: '{}' must be a whole number, got {}", origin, key, found->dump());
  }
  const auto value = found->get<std::int64_t>();
  if (value < 1 || value > kMax) {
    throw DataError("{}: '{}' must lie in [1, {}], got {}", origin, key, kMax, value);
  }
  return static_cast<int>(value);
}

}  // namespace allot
