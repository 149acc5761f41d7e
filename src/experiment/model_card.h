#pragma once
// The model card that pretrain and train put beside the weights they save.

#include <string>

namespace allot {

// The text of card.md: what the weights are, by which command and version they were made, what was
// measured.
std::string ModelCard(const std::string& title, const std::string& command,
                      const std::string& measured);

}  // namespace allot
