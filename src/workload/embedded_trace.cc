#include "workload/embedded_trace.h"

// The assembler copies the file as it is, which compiles in no time; a C++ array of its bytes would
// be five times as long and take seconds.
__asm__(
    ".pushsection .rodata\n"
    ".global kAllotEmbeddedTraceBegin\n"
    ".global kAllotEmbeddedTraceEnd\n"
    "kAllotEmbeddedTraceBegin:\n"
    ".incbin \"" ALLOT_EMBEDDED_TRACE
    "\"\n"
    "kAllotEmbeddedTraceEnd:\n"
    ".popsection\n");

extern "C" {
extern const char kAllotEmbeddedTraceBegin[];
extern const char kAllotEmbeddedTraceEnd[];
}

namespace allot {

std::string_view EmbeddedTrace() { return {kAllotEmbeddedTraceBegin, kAllotEmbeddedTraceEnd}; }

}  // namespace allot
