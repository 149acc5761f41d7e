#pragma once
// Files of traces/ that are compiled into the program (what they are: traces/README.md). Read by
// ReadTrace and by the formats that need a table.

#include <span>
#include <string_view>

namespace allot {

// A trace that can be named without a file.
struct EmbeddedTrace {
  std::string_view workload;  // in place of a path: "embedded", "embedded-openb"
  std::string_view name;
  std::string_view gzip;  // the content of traces/NAME.csv.gz
};
std::span<const EmbeddedTrace> EmbeddedTraces();
// Null if `workload` is no such name.
const EmbeddedTrace* FindEmbeddedTrace(std::string_view workload);

std::string_view EmbeddedGavelRates();      // gavel_rates.csv
std::string_view EmbeddedPolluxRunTimes();  // pollux_run_times.csv
// gzip bytes of pollux_applications.txt.gz (perf/application_files.h)
std::string_view EmbeddedPolluxApplications();
std::string_view EmbeddedPhillyLaw();  // laws/philly.json
std::string_view EmbeddedVenusLaw();   // laws/helios-venus.json

}  // namespace allot
