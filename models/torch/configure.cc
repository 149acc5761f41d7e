#include "models/torch/configure.h"

#include <ATen/Parallel.h>
#include <dlfcn.h>

namespace allot {

void ConfigureTorch() {
  at::set_num_threads(1);
  // OpenBLAS (Debian's pthread build) has a thread pool of its own, out of torch's reach. Looked up
  // at run time because any BLAS may stand behind libblas.so.3.
  using SetThreads = void (*)(int);
  if (const auto set =
          reinterpret_cast<SetThreads>(dlsym(RTLD_DEFAULT, "openblas_set_num_threads"))) {
    set(1);
  }
}

}  // namespace allot
