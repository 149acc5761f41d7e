#include "clients/kubernetes/api/kube_reply.h"

#include "core/user_json.h"

namespace allot {
namespace {

constexpr std::size_t kMostOfMessage = 600;

std::string Beginning(std::string_view text) {
  return std::string(text.substr(0, kMostOfMessage)) + (text.size() > kMostOfMessage ? "..." : "");
}

std::string TextOf(const nlohmann::json& object, const char* key) {
  const auto found = object.find(key);
  return found != object.end() && found->is_string() ? found->get<std::string>() : "";
}

}  // namespace

std::string KubeReply::Text() const {
  if (code == 0) return message;
  return fmt::format("{}{}{}: {}", code, reason.empty() ? "" : " ", reason, message);
}

Status KubeReply::ToStatus(std::string_view what) const {
  return ok() ? Status::Ok() : Status::Refused("{}: {}", what, Text());
}

KubeReply ReadKubeReply(long code, std::string_view body) {
  KubeReply reply;
  reply.code = code;
  nlohmann::json parsed = ParseUserJson(body);
  if (reply.ok()) {
    if (parsed.is_object()) {
      reply.body = std::move(parsed);
      return reply;
    }
    return NoKubeReply(fmt::format("the answer must be an object, got '{}'", Beginning(body)));
  }
  if (parsed.is_object()) {
    reply.reason = TextOf(parsed, "reason");
    reply.message = Beginning(TextOf(parsed, "message"));
    const auto details = parsed.find("details");
    if (details != parsed.end() && details->is_object() &&
        details->value("retryAfterSeconds", nlohmann::json()).is_number()) {
      reply.retry_after = details->at("retryAfterSeconds").get<double>();
    }
  }
  if (reply.message.empty()) reply.message = Beginning(body);
  return reply;
}

KubeReply NoKubeReply(std::string why) {
  KubeReply reply;
  reply.message = std::move(why);
  return reply;
}

std::string QueryText(std::string_view text) {
  std::string query;
  for (const char c : text) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                       c == '-' || c == '.' || c == '_' || c == '~' || c == '/';
    query += plain ? std::string(1, c) : fmt::format("%{:02X}", static_cast<unsigned char>(c));
  }
  return query;
}

}  // namespace allot
