#pragma once
// The JSON of the status, and of control requests and replies: the one place that knows its keys.
// What is written is read back as the same value. Texts are one line without its newline unless an
// indent is given; bytes that are not UTF-8 become U+FFFD.

#include <string>
#include <string_view>
#include <vector>

#include "live/status/control.h"
#include "live/status/status.h"

namespace allot {

inline constexpr int kOneLine = -1;

std::string WriteStatus(const DaemonStatus& status, int indent = kOneLine);
std::string WriteJobs(const std::vector<JobStatus>& jobs, int indent);
std::string WriteNodes(const std::vector<NodeStatus>& nodes, int indent);
std::string WriteQuote(const Quote& quote, int indent = kOneLine);
std::string WriteRequest(const ControlRequest& request);
std::string WriteReply(const ControlReply& reply);
std::string WriteError(std::string_view message);

// UsageError for what is no request, or lacks what its action needs.
ControlRequest ReadRequest(std::string_view text);

// RunError with the daemon's message if it answers with an error. DataError if the answer is no
// object or lacks something, as that of another version may.
DaemonStatus ReadStatus(std::string_view text);
Quote ReadQuote(std::string_view text);
ControlReply ReadReply(std::string_view text);

}  // namespace allot
