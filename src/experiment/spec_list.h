#pragma once
// Splits the text of an option into specs (policies, settings).

#include <string>
#include <vector>

namespace allot {

// "fifo,las:queues=3600,backfill=false,srtf" has three specs: key=value after a spec with a ':'
// belongs to that spec. If the key is no parameter of that policy and the value is a policy, it is
// a label instead: "las:queues=3600,mine=srtf" has two specs (core/labelled_spec.h).
std::vector<std::string> SplitSpecs(const std::string& text);

// The same of settings, which have no labels: "pollux:load=1,beliefs=learned,dl2" has two.
std::vector<std::string> SplitSettings(const std::string& text);

}  // namespace allot
