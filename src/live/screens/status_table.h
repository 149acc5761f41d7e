#pragma once
// What `allot status` and `allot serve --watch` show of a daemon's status. Texts are lines that end
// with a newline.

#include <string>

#include "live/status/status.h"

namespace allot {

std::string StatusText(const DaemonStatus& status);

// When jobs start and end, by the wait forecasts of the status.
std::string ForecastText(const DaemonStatus& status);

// Draws the status again and again in the same lines of a terminal. Where there is no terminal, it
// prints a line whenever the size or stage of a job has changed.
class StatusScreen {
 public:
  void Draw(const DaemonStatus& status);

 private:
  std::string last_;
  int lines_ = 0;
};

}  // namespace allot
