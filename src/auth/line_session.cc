#include "auth/line_session.h"

#include <fmt/format.h>

#include "auth/secret.h"

namespace allot {
namespace {

// The code is the last member of the object and covers the text before it, so that the two sides
// need not format JSON in the same way.
constexpr std::string_view kBefore = R"(,"mac":")";
constexpr std::string_view kBehind = R"("})";
constexpr std::size_t kCodeDigits = 64;
constexpr std::size_t kAdded = kBefore.size() + kCodeDigits + kBehind.size();

std::string CodeOf(const std::string& key, LineSession::Side by, std::uint64_t place,
                   std::string_view message) {
  const char* const side = by == LineSession::Side::kDaemon ? "daemon" : "worker";
  return KeyedCode(key, fmt::format("{} {}\n{}", side, place, message));
}

}  // namespace

LineSession::LineSession(Side own, std::string_view token, const Names& names)
    : key_(KeyedCode(token,
                     fmt::format("allot worker protocol 2\n{}\n{}\n{}\n{}", names.worker_nonce,
                                 names.daemon_nonce, names.job, names.worker))),
      own_(own) {}

std::string LineSession::Sign(std::string_view message) {
  const std::string code = CodeOf(key_, own_, signed_++, message);
  return fmt::format("{}{}{}{}", message.substr(0, message.size() - 1), kBefore, code, kBehind);
}

std::optional<std::string> LineSession::Open(std::string_view line) {
  if (line.size() <= kAdded || !line.ends_with(kBehind)) return std::nullopt;
  const std::string_view added = line.substr(line.size() - kAdded);
  if (!added.starts_with(kBefore)) return std::nullopt;
  std::string message(line.substr(0, line.size() - kAdded));
  message += '}';
  const Side other = own_ == Side::kDaemon ? Side::kWorker : Side::kDaemon;
  const std::string code = CodeOf(key_, other, opened_, message);
  if (!SameSecret(code, added.substr(kBefore.size(), kCodeDigits))) return std::nullopt;
  ++opened_;
  return message;
}

}  // namespace allot
