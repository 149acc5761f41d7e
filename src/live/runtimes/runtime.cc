#include "live/runtimes/runtime.h"

#include <algorithm>

#include "core/strings.h"

namespace allot {

std::string_view NameOf(JobState state) {
  constexpr std::string_view kNames[] = {"active", "held", "finished", "failed", "cancelled"};
  return kNames[static_cast<std::size_t>(state)];
}

std::string GpuTypesFrom(std::string_view text, std::string_view where) {
  constexpr std::string_view kLetters =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-.";
  const std::vector<std::string_view> types = Split(text, '|');
  for (auto type = types.begin(); type != types.end(); ++type) {
    if (type->empty() || type->size() > 64 ||
        type->find_first_not_of(kLetters) != std::string_view::npos) {
      throw DataError(
          "{} must be GPU types joined by '|', each 1 to 64 letters, digits, '_', '-' or '.', got "
          "'{}' in '{}'",
          where, *type, text);
    }
    if (std::find(types.begin(), type, *type) != type) {
      throw DataError("{} must name each GPU type once, got '{}' twice in '{}'", where, *type,
                      text);
    }
  }
  return std::string(text);
}

std::unique_ptr<Runtime> MakeRuntime(std::string_view spec, const RuntimeOptions& options) {
  const NamedParams named = ParseNamedParams(spec);
  const RuntimeInfo& info = Registry<RuntimeInfo>::Global().Get("runtime", named.name);
  return info.make(Params(fmt::format("runtime '{}'", info.id), info.params, named.given), options);
}

}  // namespace allot
