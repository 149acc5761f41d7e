#include "core/output_text.h"

#include <iostream>

#include "core/error.h"
#include "core/file.h"

namespace allot {

void WriteOutput(const std::string& path, const std::string& what,
                 const std::function<void(std::ostream&)>& write) {
  if (path.empty() || path == "-") {
    write(std::cout);
    std::cout.flush();
    if (!std::cout) throw RunError("cannot write {} to stdout", what);
    return;
  }
  AtomicFile file(path);
  write(file.stream());
  file.Commit();
}

}  // namespace allot
