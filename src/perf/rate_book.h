#pragma once
// What has been measured of the speeds of jobs, by model and owner. A job begins with the latest
// fit of its owner's jobs of its model, or with the prior, and corrects its own fit while it runs:
// what somebody's program tells decides about nobody else. Used by the daemon (JobTable), whose
// owners are users, and by the simulator's belief "measured", which knows no liars: all is one's.

#include <map>
#include <string>
#include <utility>

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

  RateFit Prior(const std::string& model) const { return RateFit(PriorOf(model)); }
  // The fit that a job of this model begins with.
  RateFit Begin(const std::string& model, const std::string& owner = "") const;
  // Adds to a job's fit what was measured over `seconds` of undisturbed work. True where a measured
  // rate has moved so far since the job's table was made that it must be renewed; the owner's jobs
  // of the model to come then begin with this fit.
  bool Measure(const std::string& model, GpuCount gpus, const std::string& type, Span span,
               double rate, Seconds seconds, RateFit* fit, const std::string& owner = "");

  // By owner and model: the fits that jobs to come begin with.
  const std::map<std::pair<std::string, std::string>, RateFit>& latest() const { return latest_; }
  void Learn(const std::string& model, const std::string& owner, RateFit fit) {
    latest_.insert_or_assign({owner, model}, std::move(fit));
  }

  static constexpr double kTableMoves = 0.05;       // of a measured rate, before a table is renewed
  static constexpr Seconds kShortestStretch = 2.0;  // of undisturbed work that is a measurement

 private:
  ModelPtr unknown_;
  Catalogue priors_;
  std::map<std::pair<std::string, std::string>, RateFit> latest_;  // by owner and model
};

}  // namespace allot
