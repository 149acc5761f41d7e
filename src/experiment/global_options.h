#pragma once
// Options that every command has, and that what commands share is told.

namespace allot {

struct GlobalOptions {
  bool json = false;
  bool quiet = false;
  int threads = 0;  // 0: as many as there are cores
};

}  // namespace allot
