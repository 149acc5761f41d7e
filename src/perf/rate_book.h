#pragma once
// What has been measured of the speeds of jobs, by model. A job begins with the latest fit of its
// model, or with the prior, and corrects its own fit while it runs. Used by the daemon (JobTable)
// and by the simulator's belief "measured".

#include <map>
#include <string>
#include <vector>

#include "perf/catalogue.h"
#include "perf/rate_fit.h"

namespace allot {

class RateBook {
 public:
  // Profiles of one kind of unit are the priors of models of their name; all other models begin
  // with MakePriorModel. An empty catalogue: all do.
  explicit RateBook(const Catalogue& catalogue);

  const ModelPtr& PriorOf(const std::string& model) const;
  // Whether the prior is a profile of the catalogue.
  bool HasProfile(const std::string& model) const { return PriorOf(model) != unknown_; }
  // Every prior, that of unknown models too: what tables of unmeasured jobs are made from.
  const Catalogue& priors() const { return priors_; }

  // The fit that a job of this model begins with.
  RateFit Begin(const std::string& model) const;
  // Adds to a job's fit what was measured over `seconds` of undisturbed work. True where a measured
  // rate has moved so far since the job's table was made that it must be renewed; jobs of the model
  // to come then begin with this fit.
  bool Measure(const std::string& model, GpuCount gpus, const std::string& type, Span span,
               double rate, Seconds seconds, RateFit* fit);
  // As last measured; the prior where it never was.
  ModelPtr ModelOf(const std::string& model) const;

  static constexpr double kTableMoves = 0.05;       // of a measured rate, before a table is renewed
  static constexpr Seconds kShortestStretch = 2.0;  // of undisturbed work that is a measurement

 private:
  ModelPtr unknown_;
  Catalogue priors_;
  std::map<std::string, RateFit> latest_;
};

}  // namespace allot
