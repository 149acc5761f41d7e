#pragma once
// How many GPUs services are believed to need, so that the others may be lent to jobs. A lender
// sees the load up to now and predicts it; what it lends and guarantees follows (sim/lending.h).
//
// A new one is a file in sim/lenders/ that registers a LenderInfo, for --lend.

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/params.h"
#include "core/registry.h"
#include "sim/service_load.h"

namespace allot {

// Immutable; thread-safe.
class Lender {
 public:
  virtual ~Lender() = default;

  // GPUs that services will need at most at `now` + `ahead`, as believed at `now`: those beyond are
  // lent.
  virtual double NeedToLend(Seconds now, Seconds ahead) const = 0;
  // The same where it may be wrong more often: policies are shown the rest as guaranteed.
  virtual double NeedToGuarantee(Seconds now, Seconds ahead) const = 0;
};

struct LenderInfo {
  std::string id;
  std::string summary;
  std::vector<ParamSpec> params;
  // The load outlives the lender, which reads of it what is known at `now`. UsageError for values
  // that it does not accept, or for a load of which too little is known before time 0.
  std::function<std::unique_ptr<Lender>(const Params&, const ServiceLoad&)> make;
};

// "level:quantile=0.99". UsageError with did-you-mean, or naming the range.
std::unique_ptr<Lender> MakeLender(std::string_view spec, const ServiceLoad& load);

}  // namespace allot
