#pragma once
// Old names of options and parameters are accepted for one version; the table for users is
// docs/renamed.md. Called by Params and CommandLine.

#include <string>
#include <string_view>

namespace allot {

// Says on stderr, once a process for each triple, that `owner` ("policy 'las'", "allot serve")
// calls `former` now `name`. Thread-safe.
void NoteRenamed(const std::string& owner, std::string_view former, std::string_view name);

}  // namespace allot
