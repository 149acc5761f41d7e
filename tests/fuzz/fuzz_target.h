#pragma once
// What a target of the fuzzer is: a function that ends the program unless an input leads to what it
// must, and samples to begin with. read_one.cc: files of traces and nodes. watch_one.cc: what an
// API server of Kubernetes sends. Called by libFuzzer or fuzz_main.cc with inputs that they make
// up, and by the replay tests with those that were kept.

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace allot {

// Between the parts of an input that has several.
inline constexpr char kCompanionMark = '\x1e';

// The files of a folder as inputs; the first line of an input says what the rest is.
std::vector<std::string> SampleInputs(const std::string& folder);

}  // namespace allot

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);
