#pragma once
// Inputs made from inputs, for fuzz_main.cc and the replay tests.

#include <string>
#include <vector>

#include "core/rng.h"

namespace allot {

// `text` with one to four edits: bytes, numbers and words that parsers stumble over, parts erased,
// doubled, or taken from one of `others`. Its first line stays.
std::string Mutated(std::string text, const std::vector<std::string>& others, Rng* rng);

}  // namespace allot
