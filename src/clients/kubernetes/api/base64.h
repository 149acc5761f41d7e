#pragma once
// Base64 as kubeconfig files hold certificates (RFC 4648, with padding; spaces and line ends
// between the letters are skipped).

#include <optional>
#include <string>
#include <string_view>

namespace allot {

// nullopt unless it is whole.
std::optional<std::string> FromBase64(std::string_view text);

}  // namespace allot
