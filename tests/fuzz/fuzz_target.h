#pragma once
// What a target of the fuzzer is: a function that ends the program unless an input leads to what it
// must, and samples to begin with. read_one.cc: files of traces and nodes. watch_one.cc: what an
// API server of Kubernetes sends. Called by libFuzzer or fuzz_main.cc with inputs that they make
// up, and by the replay tests with those that were kept.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace allot {

// Between the parts of an input that has several.
inline constexpr char kCompanionMark = '\x1e';

// An input whose first line says what the rest is.
struct NamedInput {
  std::string_view kind;
  std::string_view text;
};
// nullopt: it has one line only.
inline std::optional<NamedInput> NamedInputOf(const std::uint8_t* data, std::size_t size) {
  const std::string_view input(reinterpret_cast<const char*>(data), size);
  const std::size_t end = input.find('\n');
  if (end == std::string_view::npos) return std::nullopt;
  return NamedInput{input.substr(0, end), input.substr(end + 1)};
}

// The files of a folder as such inputs.
std::vector<std::string> SampleInputs(const std::string& folder);

}  // namespace allot

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);
