#include "elastic/epoch_store_visit.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <thread>
#include <utility>

#include "auth/secret.h"
#include "core/error.h"
#include "elastic/epoch_store.h"

namespace allot {
namespace {

using Json = nlohmann::json;

constexpr std::chrono::milliseconds kCheckEvery{20};
constexpr std::chrono::milliseconds kTryAgain{10};
constexpr std::chrono::milliseconds kChallengeDue{2000};
constexpr std::size_t kLongestLine = 8 * 1024 * 1024;
constexpr std::string_view kHexDigits = "0123456789abcdef";

std::string ToDigits(const std::vector<std::uint8_t>& bytes) {
  std::string digits;
  digits.reserve(2 * bytes.size());
  for (const std::uint8_t byte : bytes) {
    digits.push_back(kHexDigits[byte >> 4]);
    digits.push_back(kHexDigits[byte & 15]);
  }
  return digits;
}

std::vector<std::uint8_t> FromDigits(const std::string& digits) {
  std::vector<std::uint8_t> bytes;
  bytes.reserve(digits.size() / 2);
  for (std::size_t i = 0; i + 1 < digits.size(); i += 2) {
    const auto value = [&](std::size_t at) { return kHexDigits.find(digits[at]) & 15; };
    bytes.push_back(static_cast<std::uint8_t>(value(i) << 4 | value(i + 1)));
  }
  return bytes;
}

}  // namespace

EpochStoreVisit::EpochStoreVisit(std::string job, std::string worker, const std::string& token,
                                 std::int64_t epoch, StoreAddress address,
                                 std::function<void()> check)
    : job_(std::move(job)),
      worker_(std::move(worker)),
      token_(EpochStore::SessionToken(token, address.worker)),
      epoch_(epoch),
      address_(std::move(address)),
      check_(std::move(check)),
      socket_(kLongestLine) {}

void EpochStoreVisit::Set(const std::string& key, const std::vector<std::uint8_t>& value) {
  const std::string& digits = own_[key] = ToDigits(value);
  if (session_) Say("set", key, &digits);  // otherwise sent with the next connection
}

std::vector<std::uint8_t> EpochStoreVisit::Get(const std::string& key,
                                               std::chrono::milliseconds patience) {
  const auto until = Clock::now() + patience;
  bool asked = false;
  while (!received_.contains(key)) {
    if (!session_) asked = false;
    if (!Connected(until)) continue;
    if (!std::exchange(asked, true)) Say("get", key, nullptr);
    const std::optional<std::string> line = HearLine(until);
    const std::optional<std::string> text = line ? session_->Open(*line) : std::nullopt;
    const Json message = Json::parse(text.value_or(""), nullptr, false);
    if (!message.is_object() || message.value("say", "") != "value") {
      session_.reset();  // the connection is gone, or leads to another program
      continue;
    }
    if (message.value("epoch", std::int64_t{-1}) == epoch_) {
      received_[message.value("key", "")] = message.value("value", "");
    }
  }
  return FromDigits(received_.at(key));
}

// Tries to connect; false, without a session, if that did not succeed yet.
bool EpochStoreVisit::Connected(Clock::time_point until) {
  if (session_) return true;
  check_();
  if (Clock::now() > until) throw RunError("a peer never came");
  const std::string nonce = NewToken();
  if (!socket_.Connect(fmt::format("tcp:{}:{}", address_.host, address_.port))) {
    std::this_thread::sleep_for(kTryAgain);
    return false;
  }
  socket_.Send(Json{{"say", "hello"}, {"job", job_}, {"worker", worker_}, {"nonce", nonce}}.dump());
  const std::optional<std::string> line =
      HearLine(std::min<Clock::time_point>(until, Clock::now() + kChallengeDue));
  const Json challenge = Json::parse(line.value_or(""), nullptr, false);
  const auto daemon_nonce =
      challenge.is_object() && challenge.contains("nonce") && challenge["nonce"].is_string()
          ? challenge["nonce"].get<std::string>()
          : std::string();
  session_.emplace(LineSession::Side::kWorker, token_,
                   LineSession::Names{job_, worker_, nonce, daemon_nonce});
  if (!line || !session_->Open(*line)) {
    session_.reset();
    socket_.Close();
    std::this_thread::sleep_for(kTryAgain);
    return false;
  }
  for (const auto& [key, digits] : own_) Say("set", key, &digits);
  return true;
}

// Nullopt if the connection is gone or the time is over.
std::optional<std::string> EpochStoreVisit::HearLine(Clock::time_point until) {
  while (socket_.connected()) {
    if (std::optional<std::string> line = socket_.NextLine()) return line;
    if (!socket_.connected()) break;
    check_();
    if (Clock::now() > until) {
      socket_.Close();
      break;
    }
    socket_.Wait(-1, static_cast<int>(kCheckEvery.count()));
  }
  return std::nullopt;
}

void EpochStoreVisit::Say(const char* what, const std::string& key, const std::string* digits) {
  Json message{{"say", what}, {"epoch", epoch_}, {"key", key}};
  if (digits != nullptr) message["value"] = *digits;
  socket_.Send(session_->Sign(message.dump()));
}

}  // namespace allot
