#pragma once
// The options that every command has.

namespace allot {

struct GlobalOptions {
  bool json = false;
  bool quiet = false;
  int threads = 0;  // 0: one per core
};

}  // namespace allot
