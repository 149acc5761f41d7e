#include "core/terminal.h"

#include <fmt/format.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

#include <cstdio>
#include <string>

#include "core/error.h"

namespace allot {
namespace {

winsize ScreenSize() {
  winsize size = {};
  if (::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_row == 0) {
    size.ws_row = 24;
    size.ws_col = 80;
  }
  return size;
}

}  // namespace

bool Terminal::Here() { return ::isatty(STDIN_FILENO) == 1 && ::isatty(STDOUT_FILENO) == 1; }

Terminal::Terminal() : before_(std::make_unique<termios>()) {
  if (!Here() || ::tcgetattr(STDIN_FILENO, before_.get()) != 0) {
    throw RunError("standard input and output must be a terminal");
  }
  termios keys = *before_;
  keys.c_lflag &= ~static_cast<tcflag_t>(ICANON | ECHO);
  ::tcsetattr(STDIN_FILENO, TCSANOW, &keys);
  std::fputs("\x1b[?1049h\x1b[?25l", stdout);  // the other screen, no cursor
}

Terminal::~Terminal() {
  std::fputs("\x1b[?25h\x1b[?1049l", stdout);
  std::fflush(stdout);
  ::tcsetattr(STDIN_FILENO, TCSANOW, before_.get());
}

int Terminal::rows() const { return ScreenSize().ws_row; }
int Terminal::columns() const { return ScreenSize().ws_col; }

void Terminal::Show(std::string_view screen) {
  std::string text = "\x1b[H";
  for (const char c : screen) {
    if (c == '\n') text += "\x1b[K\r";  // what is left of the line before goes
    text += c;
  }
  text += "\x1b[J";
  std::fwrite(text.data(), 1, text.size(), stdout);
  std::fflush(stdout);
}

char Terminal::Key(std::chrono::milliseconds wait) {
  pollfd input = {.fd = STDIN_FILENO, .events = POLLIN, .revents = 0};
  char key = 0;
  if (::poll(&input, 1, static_cast<int>(wait.count())) <= 0) return 0;
  return ::read(STDIN_FILENO, &key, 1) == 1 ? key : '\0';
}

}  // namespace allot
