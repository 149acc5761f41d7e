#pragma once
// A full screen of a terminal that is drawn again and again, and its keys. What was on the screen
// comes back at the end, also after an error.

#include <chrono>
#include <memory>
#include <string_view>

struct termios;

namespace allot {

class Terminal {
 public:
  Terminal();  // RunError where input or output is none
  ~Terminal();
  Terminal(const Terminal&) = delete;
  Terminal& operator=(const Terminal&) = delete;

  // Whether both standard input and output are a terminal.
  static bool Here();
  int rows() const;
  int columns() const;
  void Show(std::string_view screen);  // lines that end with a newline
  // The next key within this time, 0 where there is none. Ctrl-C is not a key but a signal.
  char Key(std::chrono::milliseconds wait);

 private:
  std::unique_ptr<termios> before_;
};

}  // namespace allot
