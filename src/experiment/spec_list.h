#pragma once
// Lists of specs (policies, settings) as one option's text.

#include <string>
#include <vector>

namespace allot {

// "fifo,las:queues=3600,backfill=false,srtf" -> three: a comma inside a spec's parameters belongs
// to the spec, which is where key=value follows one that has a ':'. Unless the key is no parameter
// of that policy and the value is a policy: "las:queues=3600,mine=srtf" is two, the second with a
// label (core/labelled_spec.h).
std::vector<std::string> SplitSpecs(const std::string& text);

}  // namespace allot
