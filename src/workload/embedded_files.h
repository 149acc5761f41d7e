#pragma once
// Files of traces/ that are compiled into the program (what they are: traces/README.md). Read by
// ReadTrace and by the formats that need a table.

#include <string_view>

namespace allot {

std::string_view
EmbeddedTrace();  // gzip bytes of philly-2017-4weeks.csv.gz, the workload "embedded"

inline constexpr std::string_view kEmbeddedTraceName = "philly-2017-4weeks";

std::string_view EmbeddedGavelRates();      // gavel_rates.csv
std::string_view EmbeddedPolluxRunTimes();  // pollux_run_times.csv
// gzip bytes of pollux_applications.txt.gz (perf/application_files.h)
std::string_view EmbeddedPolluxApplications();
std::string_view EmbeddedPhillyLaw();  // laws/philly.json
std::string_view EmbeddedVenusLaw();   // laws/helios-venus.json

}  // namespace allot
