#pragma once
// Times as objects of the Kubernetes API have them.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "core/types.h"

namespace allot {

// "2026-11-22T12:38:49Z", with a fraction or a zone too -> seconds since 1970 in UTC; nullopt for
// anything else.
std::optional<Seconds> ParseKubernetesTime(std::string_view text);

// Unix time -> "2026-11-22T12:38:49Z".
std::string KubeTimeText(std::int64_t seconds);

}  // namespace allot
