// Gavel (Narayanan et al., OSDI'20): single decisions of its policies, solved again.

#include "core/error.h"
#include "fidelity/gavel_snapshots.h"
#include "fidelity/peer.h"

namespace allot {
namespace {

std::vector<FidelityCase> GavelCases(const std::string& folder) {
  std::vector<FidelityCase> cases = GavelSnapshotCases(folder);
  if (cases.empty()) {
    throw DataError("a Gavel reference folder holds a folder 'snapshots', '{}' does not", folder);
  }
  return cases;
}

ALLOT_REGISTER(PeerInfo, (PeerInfo{"gavel",
                                   "Gavel (OSDI 2020), decisions of its policies",
                                   "objectives of single decisions to 1e-8, relative",
                                   {},
                                   GavelCases}));

}  // namespace
}  // namespace allot
