#include "workload/embedded_files.h"

// The assembler copies a file as it is, which compiles in no time; a C++ array of its bytes would
// be five times as long and take seconds.
#define ALLOT_EMBED(symbol, file)                       \
  __asm__(                                              \
      ".pushsection .rodata\n"                          \
      ".global " #symbol                                \
      "Begin\n"                                         \
      ".global " #symbol "End\n" #symbol                \
      "Begin:\n"                                        \
      ".incbin \"" ALLOT_TRACES "/" file "\"\n" #symbol \
      "End:\n"                                          \
      ".popsection\n");                                 \
  extern "C" const char symbol##Begin[];                \
  extern "C" const char symbol##End[];

ALLOT_EMBED(kAllotTrace, "philly-2017-4weeks.csv.gz")
ALLOT_EMBED(kAllotOpenb, "openb-2023.csv.gz")
ALLOT_EMBED(kAllotGavelRates, "gavel_rates.csv")
ALLOT_EMBED(kAllotPolluxRunTimes, "pollux_run_times.csv")
ALLOT_EMBED(kAllotPolluxApplications, "pollux_applications.txt.gz")
ALLOT_EMBED(kAllotPhillyLaw, "laws/philly.json")
ALLOT_EMBED(kAllotVenusLaw, "laws/helios-venus.json")

namespace allot {

std::span<const EmbeddedTrace> EmbeddedTraces() {
  static const EmbeddedTrace kTraces[] = {
      {"embedded", "philly-2017-4weeks", {kAllotTraceBegin, kAllotTraceEnd}},
      {"embedded-openb", "openb-2023", {kAllotOpenbBegin, kAllotOpenbEnd}}};
  return kTraces;
}

const EmbeddedTrace* FindEmbeddedTrace(std::string_view workload) {
  for (const EmbeddedTrace& trace : EmbeddedTraces()) {
    if (workload == trace.workload) return &trace;
  }
  return nullptr;
}

std::string_view EmbeddedGavelRates() { return {kAllotGavelRatesBegin, kAllotGavelRatesEnd}; }
std::string_view EmbeddedPolluxRunTimes() {
  return {kAllotPolluxRunTimesBegin, kAllotPolluxRunTimesEnd};
}
std::string_view EmbeddedPolluxApplications() {
  return {kAllotPolluxApplicationsBegin, kAllotPolluxApplicationsEnd};
}
std::string_view EmbeddedPhillyLaw() { return {kAllotPhillyLawBegin, kAllotPhillyLawEnd}; }
std::string_view EmbeddedVenusLaw() { return {kAllotVenusLawBegin, kAllotVenusLawEnd}; }

}  // namespace allot
