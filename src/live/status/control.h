#pragma once
// What users ask of a running daemon, and its reply. Sent as JSON over the control socket
// (live/daemon/control_server.h).

#include <cstdint>
#include <optional>
#include <string>

#include "live/status/quote.h"
#include "live/status/states.h"

namespace allot {

enum class ControlAction : std::uint8_t { kStatus, kPause, kResume, kDrain, kCancel, kQuote };

struct ControlRequest {
  ControlAction action = ControlAction::kStatus;
  std::optional<std::string> job{};     // kCancel: its id, or the name by which its user knows it
  std::optional<std::string> node{};    // kDrain: this node; unset: no job begins anywhere
  bool undo = false;                    // kDrain: ends the drain
  std::optional<QuoteRequest> quote{};  // kQuote
  // Who asks, for logs and the journal, as the kernel knows it; it is not sent.
  std::optional<std::string> by{};
};

struct DrainedNode {
  std::string name;
  std::optional<NodeState> state{};  // after the request; unset if the cluster has no such node
};

struct ControlReply {
  ControlAction done = ControlAction::kPause;
  bool paused = false;                // the daemon, after the request
  bool drained = false;               // likewise
  std::optional<DrainedNode> node{};  // of a request that names a node
};

}  // namespace allot
