#pragma once
// A progress bar on stderr: redrawn at most 10 times a second on a terminal, else a line at once
// and one every 10 s, nothing when quiet. Honours NO_COLOR. Never touches stdout.

#include <chrono>
#include <cstdint>
#include <string>

namespace allot {

class Progress {
 public:
  Progress(std::string label, std::int64_t total, bool quiet = false);
  ~Progress();  // ends the line
  // `note` stands behind the bar: "312 episodes/s, JCT 0.87 of teacher".
  void Update(std::int64_t done, const std::string& note = "");

 private:
  using Clock = std::chrono::steady_clock;
  std::string label_;
  std::int64_t total_;
  bool quiet_;
  bool terminal_;
  bool drawn_ = false;
  bool ended_ = false;  // the last count was shown
  Clock::time_point start_;
  Clock::time_point last_;
};

bool StderrIsTerminal();
bool ColourAllowed();  // terminal, and NO_COLOR unset

}  // namespace allot
