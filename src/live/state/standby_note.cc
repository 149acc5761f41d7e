#include "live/state/standby_note.h"

#include <fmt/format.h>
#include <spdlog/spdlog.h>
#include <unistd.h>

#include <nlohmann/json.hpp>
#include <system_error>
#include <utility>

#include "core/error.h"
#include "core/file.h"
#include "core/file_lock.h"
#include "core/json_text.h"
#include "core/user_json.h"

namespace allot {
namespace {

std::filesystem::path NoteIn(const std::filesystem::path& state) { return state / "standby.json"; }

}  // namespace

StandbyNote::StandbyNote(const std::filesystem::path& state, std::string runtime)
    : file_(NoteIn(state)), runtime_(std::move(runtime)) {}

std::string WaitingStandby::Text() const {
  return fmt::format("waits to be in charge (process {}): {}", process, why);
}

std::string WaitingStandby::ToJson() const {
  return JsonText(nlohmann::ordered_json{{"standby", {{"process", process}, {"waits", why}}}});
}

StandbyNote::~StandbyNote() { Over(); }

void StandbyNote::Over() {
  const std::lock_guard lock(mutex_);
  over_ = true;
  std::error_code ignored;
  std::filesystem::remove(file_, ignored);
}

void StandbyNote::Say(const std::string& why) {
  const nlohmann::ordered_json note = {
      {"process", std::to_string(::getpid())}, {"runtime", runtime_}, {"why", why}};
  const std::lock_guard lock(mutex_);
  if (over_) return;
  try {
    WriteTextFile(file_, JsonText(note) + "\n");
  } catch (const Error& error) {  // it waits all the same
    spdlog::warn("{}", error.what());
  }
}

std::optional<WaitingStandby> StandbyIn(const std::filesystem::path& state) {
  std::error_code error;
  if (!std::filesystem::exists(NoteIn(state), error)) return std::nullopt;
  try {
    const auto note = ParseUserJson<nlohmann::json>(ReadTextFile(NoteIn(state).string()));
    WaitingStandby standby{note.at("process"), note.at("runtime"), note.at("why")};
    if (standby.process.empty() || LockHolder(state / "lock") != standby.process) {
      return std::nullopt;
    }
    return standby;
  } catch (const std::exception&) {  // it is being replaced, or is not ours to read
    return std::nullopt;
  }
}

}  // namespace allot
