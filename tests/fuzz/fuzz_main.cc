// A fuzzer for compilers without libFuzzer: mutates the samples, keeps what reaches code that no
// input reached before, and stops at the first input that its target does not allow.
//
//   TARGET SAMPLES OUT CPU_SECONDS [SEED] [CORPUS...]
//
// OUT receives the inputs that were kept and, as "failed", the one that ended it. Inputs run in a
// child process, which dies of them; an input may take ten seconds.

#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <filesystem>
#include <string>
#include <vector>

#include "core/file.h"
#include "tests/fuzz/fuzz_target.h"
#include "tests/fuzz/mutate.h"

namespace {

constexpr std::size_t kPlaces = 1 << 16;
constexpr unsigned kSecondsPerInput = 10;

// By hash of the edge: reached by the present input, and by any so far.
// Plain arrays, as their use must not itself be counted.
unsigned char reached[kPlaces];
unsigned char known[kPlaces];
std::uintptr_t last_place = 0;

struct Shared {  // between the processes
  std::size_t size;
  char bytes[1 << 20];
};
Shared* present = nullptr;

}  // namespace

// Called by code compiled with -fsanitize-coverage=trace-pc, at every branch. Edges as AFL has
// them: a place shifted by the one before it.
extern "C" __attribute__((no_sanitize_coverage)) void __sanitizer_cov_trace_pc() {
  const auto place = reinterpret_cast<std::uintptr_t>(__builtin_return_address(0));
  const std::uintptr_t mixed = (place >> 2) * 0x9E3779B97F4A7C15ULL >> 40;
  reached[(mixed ^ last_place) % kPlaces] = 1;
  last_place = mixed >> 1;
}

namespace {

using allot::Mutated;

// True when the input reached something new.
__attribute__((no_sanitize_coverage)) bool Run(const std::string& input) {
  present->size = std::min(input.size(), sizeof(present->bytes));
  std::memcpy(present->bytes, input.data(), present->size);
  std::memset(reached, 0, kPlaces);
  last_place = 0;
  alarm(kSecondsPerInput);
  LLVMFuzzerTestOneInput(reinterpret_cast<const std::uint8_t*>(input.data()), input.size());
  alarm(0);
  bool fresh = false;
  for (std::size_t i = 0; i < kPlaces; ++i) {
    if (reached[i] == 0 || known[i] != 0) continue;
    known[i] = 1;
    fresh = true;
  }
  return fresh;
}

double ProcessorSeconds() { return static_cast<double>(std::clock()) / CLOCKS_PER_SEC; }

std::vector<std::string> ReadFolder(const char* folder) {
  std::vector<std::string> inputs;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    inputs.push_back(allot::ReadTextFile(entry.path().string()));
  }
  return inputs;
}

int Fuzz(std::vector<std::string> inputs, const std::filesystem::path& out, double seconds,
         std::uint64_t seed) {
  const std::size_t given = inputs.size();
  std::int64_t runs = 0;
  for (const std::string& input : inputs) Run(input);
  for (; ProcessorSeconds() < seconds; ++runs) {
    allot::Rng rng(seed, "fuzz", static_cast<std::uint64_t>(runs));
    const std::string input = Mutated(inputs[rng.Below(inputs.size())], inputs, &rng);
    if (!Run(input)) continue;
    inputs.push_back(input);
    allot::WriteTextFile(out / ("kept-" + std::to_string(inputs.size() - given)), input);
  }
  std::printf("%lld inputs in %.0f CPU-seconds, %zu kept beside %zu given\n",
              static_cast<long long>(runs), ProcessorSeconds(), inputs.size() - given, given);
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 4) {
    std::fprintf(stderr, "usage: TARGET SAMPLES OUT CPU_SECONDS [SEED] [CORPUS...]\n");
    return 2;
  }
  std::vector<std::string> inputs = allot::SampleInputs(argv[1]);
  for (int i = 5; i < argc; ++i) {
    for (std::string& input : ReadFolder(argv[i])) inputs.push_back(std::move(input));
  }
  void* memory =
      mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) return 1;
  present = static_cast<Shared*>(memory);
  const pid_t child = fork();
  if (child == 0) {
    return Fuzz(std::move(inputs), argv[2], std::atof(argv[3]),
                argc > 4 ? std::strtoull(argv[4], nullptr, 10) : 0);
  }
  int status = 0;
  if (child < 0 || waitpid(child, &status, 0) != child) return 1;
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return 0;
  const std::filesystem::path failed = std::filesystem::path(argv[2]) / "failed";
  allot::WriteTextFile(failed, std::string_view(present->bytes, present->size));
  std::fprintf(stderr, "%s after an input that was written to %s\n",
               WIFSIGNALED(status) && WTERMSIG(status) == SIGALRM ? "out of time" : "stopped",
               failed.c_str());
  return 1;
}
