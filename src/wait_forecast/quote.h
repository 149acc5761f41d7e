#pragma once
// Makes quotes (live/status/quote.h) by the futures of wait forecasts: the job, and each job that
// is similar to it, is put into the same futures, alone. Used by 'allot quote' and by the daemon.

#include <cstdint>
#include <string>

#include "live/status/quote.h"
#include "wait_forecast/forecast_calibration.h"
#include "wait_forecast/wait_forecaster.h"

namespace allot {

// What a quote is made from. References must outlive the call only.
struct QuoteBasis {
  const WaitForecaster& forecaster;
  const WaitForecaster::Moment& moment;
  const LengthModel& lengths;
  Policy& policy;
  const ClusterSpec& cluster;            // with nodes that are away today; types as the moment's
  const OperatorRules* rules = nullptr;  // null: none
  bool by_limits = false;                // policies and futures go by time limits
  std::string user{};                    // who would submit the job; empty: not known
  std::string account{};                 // likewise
  std::int64_t* rows_shown = nullptr;    // gets StartForecasts::rows_shown; null: not wanted
};

// UsageError naming rule and values: fewer than one GPU, more GPUs than the types that the job
// accepts have, a type that the cluster does not have, a limit that is not > 0.
Quote MakeQuote(const QuoteRequest& request, const QuoteBasis& basis,
                const ForecastCalibration& calibration = {});

}  // namespace allot
