#include "core/renamed.h"

#include <fmt/format.h>

#include <cstdio>
#include <mutex>
#include <set>

namespace allot {

void NoteRenamed(const std::string& owner, std::string_view former, std::string_view name) {
  static std::mutex mutex;
  static std::set<std::string> said;
  std::string note =
      fmt::format("note: {}: '{}' is now '{}'; the next version will not accept the old name\n",
                  owner, former, name);
  const std::scoped_lock lock(mutex);
  const auto [text, first] = said.insert(std::move(note));
  if (first) std::fputs(text->c_str(), stderr);
}

}  // namespace allot
