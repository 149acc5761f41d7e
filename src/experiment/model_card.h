#pragma once
// The model card that pretrain and train save with weights.

#include <string>

namespace allot {

// The text of card.md: network, command, version and measurements.
std::string ModelCard(const std::string& title, const std::string& command,
                      const std::string& measured);

}  // namespace allot
