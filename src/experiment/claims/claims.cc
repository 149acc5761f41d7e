#include "experiment/claims/claims.h"

namespace allot {

std::vector<ClaimFamily> Claims(const ClaimOptions& options) {
  std::vector<ClaimFamily> families;
  for (const ClaimsInfo& info : Registry<ClaimsInfo>::Global().entries()) {
    for (ClaimFamily& family : info.make(options)) families.push_back(std::move(family));
  }
  return families;
}

}  // namespace allot
