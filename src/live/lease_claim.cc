#include "live/lease_claim.h"

#include <cmath>
#include <utility>

namespace allot {

LeaseClaim::LeaseClaim(std::string self, LeaseTiming timing)
    : self_(std::move(self)), timing_(timing) {}

std::optional<nlohmann::json> LeaseClaim::Next(const nlohmann::json& lease, Seconds now,
                                               const std::string& time) {
  const nlohmann::json spec =
      lease.is_object() ? lease.value("spec", nlohmann::json::object()) : nlohmann::json::object();
  const auto text = [&](const char* key) {
    const auto found = spec.find(key);
    return found != spec.end() && found->is_string() ? found->get<std::string>() : std::string();
  };
  const auto whole = [&](const char* key, int otherwise) {
    const auto found = spec.find(key);
    return found != spec.end() && found->is_number() ? found->get<int>() : otherwise;
  };
  holder_ = text("holderIdentity");
  if (const std::string as_text = spec.dump(); as_text != seen_) {
    seen_ = as_text;
    since_ = now;
  }
  const bool ours = holder_ == self_;
  if (!ours) renewed_ = -kNever;
  const Seconds theirs = whole("leaseDurationSeconds", static_cast<int>(timing_.duration));
  if (!ours && !holder_.empty() && now < since_ + theirs) return std::nullopt;
  const int changes = whole("leaseTransitions", 0);
  return nlohmann::json{{"holderIdentity", self_},
                        {"leaseDurationSeconds", static_cast<int>(std::ceil(timing_.duration))},
                        {"acquireTime", ours ? text("acquireTime") : time},
                        {"renewTime", time},
                        {"leaseTransitions", ours ? changes : changes + 1}};
}

}  // namespace allot
