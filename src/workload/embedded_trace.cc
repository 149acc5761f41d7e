#include "workload/embedded_trace.h"

// The assembler copies the file as it is, which compiles in no time; a C++ array of its bytes would
// be five times as long and take seconds.
__asm__(
    ".pushsection .rodata\n"
    ".global allot_embedded_trace_begin\n"
    ".global allot_embedded_trace_end\n"
    "allot_embedded_trace_begin:\n"
    ".incbin \"" ALLOT_EMBEDDED_TRACE
    "\"\n"
    "allot_embedded_trace_end:\n"
    ".popsection\n");

extern "C" {
extern const char allot_embedded_trace_begin[];
extern const char allot_embedded_trace_end[];
}

namespace allot {

std::string_view EmbeddedTrace() { return {allot_embedded_trace_begin, allot_embedded_trace_end}; }

}  // namespace allot
