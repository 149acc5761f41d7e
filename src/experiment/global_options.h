#pragma once
// Options of every command, also given to what the commands share.

namespace allot {

struct GlobalOptions {
  bool json = false;
  bool quiet = false;
  int threads = 0;  // 0: as many as there are cores
};

}  // namespace allot
