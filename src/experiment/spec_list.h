#pragma once
// Lists of specs (policies, settings) as one option's text.

#include <string>
#include <vector>

namespace allot {

// "fifo,las:queues=3600,backfill=false,srtf" -> three: a comma inside a spec's parameters belongs
// to the spec, which is where key=value follows one that has a ':'.
std::vector<std::string> SplitSpecs(const std::string& text);

}  // namespace allot
