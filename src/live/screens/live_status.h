#pragma once
// What the commands of a running daemon share: where its state is, and the table of what runs.

#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <string>

namespace allot {

// --state as given, or $XDG_STATE_HOME/allot, or ~/.local/state/allot.
std::filesystem::path StateFolder(const std::string& given);

// A daemon's status (live/daemon/daemon.h) for people, some lines that end with a newline.
std::string StatusText(const nlohmann::ordered_json& status);

// When jobs start and end, of a status with forecasts (wait_forecast/live_outlook.h).
std::string EtaText(const nlohmann::ordered_json& status);

// Draws the status again and again in the same place of a terminal; elsewhere only what is new.
class StatusScreen {
 public:
  void Draw(const nlohmann::ordered_json& status);

 private:
  std::string last_;
  int lines_ = 0;
};

}  // namespace allot
