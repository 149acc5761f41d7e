#include "rules/constraints.h"

namespace allot {

// Keeps the memory for the next decision.
void Constraints::Clear() {
  hidden.clear();
  guarantee.clear();
  nodes_of.clear();
  withheld.clear();
  node_use.clear();
  node_names.clear();
  valid_until = kNever;
}

}  // namespace allot
