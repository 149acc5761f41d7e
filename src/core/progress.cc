#include "core/progress.h"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <string_view>

namespace allot {

namespace {

constexpr int kBarWidth = 24;

std::string Duration(double seconds) {
  const auto s = static_cast<std::int64_t>(seconds);
  if (s < 60) return fmt::format("{}s", s);
  if (s < 3600) return fmt::format("{}m{:02}s", s / 60, s % 60);
  return fmt::format("{}h{:02}m", s / 3600, s / 60 % 60);
}

std::size_t TerminalColumns() {
  winsize size = {};
  const bool known = ::ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0;
  return known ? size.ws_col : 80;
}

}  // namespace

bool StderrIsTerminal() { return ::isatty(STDERR_FILENO) == 1; }

bool ColourAllowed() {
  const char* no_color = std::getenv("NO_COLOR");  // set and not empty (no-color.org)
  return StderrIsTerminal() && (no_color == nullptr || *no_color == '\0');
}

Progress::Progress(std::string label, std::int64_t total, bool quiet)
    : label_(std::move(label)),
      total_(total),
      quiet_(quiet),
      terminal_(StderrIsTerminal()),
      start_(Clock::now()),
      last_(start_) {}

Progress::~Progress() {
  if (drawn_ && terminal_) std::fputc('\n', stderr);
}

void Progress::Update(std::int64_t done, const std::string& note) {
  if (quiet_) return;
  const Clock::time_point now = Clock::now();
  const auto pause = terminal_ ? std::chrono::milliseconds(100) : std::chrono::seconds(10);
  const bool last = total_ > 0 && done >= total_ && !ended_;
  if (drawn_ && !last && now - last_ < pause) return;
  ended_ = ended_ || last;
  last_ = now;
  drawn_ = true;

  std::string counts = fmt::format("{}", done);
  std::string bar;
  if (total_ > 0) {
    const double share =
        std::clamp(static_cast<double>(done) / static_cast<double>(total_), 0.0, 1.0);
    const double elapsed = std::chrono::duration<double>(now - start_).count();
    const int filled = static_cast<int>(share * kBarWidth);
    bar = fmt::format("[{:#<{}}{:.<{}}] ", "", filled, "", kBarWidth - filled);
    counts = fmt::format("{}/{} {:3.0f} %", done, total_, 100 * share);
    if (share >= 1) {
      counts += fmt::format(", {}", Duration(elapsed));
    } else if (share > 0) {
      counts += fmt::format(", ETA {}", Duration(elapsed * (1 - share) / share));
    }
  }
  const std::string tail = note.empty() ? counts : counts + "  " + note;
  if (!terminal_) {
    fmt::print(stderr, "{}: {}\n", label_, tail);
    return;
  }
  // One row at most, or the carriage return would not bring us back to its start.
  const std::string row = (label_ + " " + bar + tail).substr(0, TerminalColumns() - 1);
  const bool colour = ColourAllowed();
  fmt::print(stderr, "\r{}{}{}\x1b[K", colour ? "\x1b[36m" : "", row, colour ? "\x1b[0m" : "");
  std::fflush(stderr);
}

}  // namespace allot
