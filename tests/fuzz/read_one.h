#pragma once
// What every input to a reader of traces or node lists must lead to. Called by libFuzzer or
// fuzz_main.cc with inputs that they make up, and by the replay test with those of corpus/.

#include <cstddef>
#include <cstdint>

namespace allot {

// Between the text of a trace and that of its second file, of formats that have one.
inline constexpr char kCompanionMark = '\x1e';

}  // namespace allot

// The input is "FORMAT\nTEXT", or "cluster:FORMAT\nTEXT" of a node list; without the name of a
// format, all formats read the whole of it, as no file may break any of them. Strictly and
// leniently, reading ends with an Error for bad data or with jobs that obey their rules, that
// account for every record, and that come back unchanged from allot's own CSV. Anything else ends
// the program.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);
