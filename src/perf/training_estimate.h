#pragma once
// What a live scheduler believes of one job whose batch follows its GPUs, from what the job's
// client library measures: iteration times (perf/timing_fits.h) and the noise scale of its
// gradient. The job's table is renewed from it (perf/goodput_rates.h), and its batch chosen by it.
// Its simulated counterpart is sim/goodput_belief.h; sources are those of perf/goodput_model.h.
//
// The unit of work is a sample at the initial batch M0: an iteration at M0 is M0 of them.
//
// More GPUs than kGrowth times the most that were measured are not trusted (Pollux, OSDI'21,
// section 4.1), nor more than can each have the least samples. On a type that was never measured, a
// job is as fast as on the first measured one, times the ratio of the rates that the layout came
// with (Sia, SOSP'23, section 3.3).

#include <string>
#include <string_view>
#include <vector>

#include "perf/configuration.h"
#include "perf/goodput_model.h"
#include "perf/throughput_model.h"
#include "perf/timing_fits.h"

namespace allot {

class TrainingEstimate {
 public:
  explicit TrainingEstimate(const BatchLimits& limits) : limits_(limits) {}

  const BatchLimits& limits() const { return limits_; }
  const TimingFits& fits() const { return fits_; }
  bool known() const { return !fits_.empty() && noise_ >= 0; }
  double noise() const { return noise_; }  // in samples; kUnknown: not measured
  GpuCount most_gpus() const { return fits_.most_gpus(); }
  std::size_t settings() const { return places_.size(); }  // placements and batches measured
  // Whether these iterations were measured before: another measurement of them says nothing.
  bool Knows(std::string_view gpu_type, std::int32_t nodes, GpuCount gpus,
             double local_batch) const;

  // True where the table is to be renewed. DataError as TimingFits::Observe.
  bool Observe(std::string_view gpu_type, std::int32_t nodes, const TimingObservation& observation);
  // Whether it differs from the one in use by more than kNoiseMoves. NaN: no.
  bool NoiseMoved(double noise) const;
  void SetNoise(double noise) { noise_ = noise; }

  // Rates and trusted units of a table that LayoutModel made, by the names of its GPU types; false,
  // and nothing changed, where no configuration would progress. O(candidates).
  bool Renew(const std::vector<std::string>& gpu_types, ConfigurationTable* table) const;

  // The best batch on these GPUs, or the present one where that is worth nearly as much (kWorth):
  // every change costs the learning rate's calm. Where one batch size alone was measured, twice
  // that: a fit of one cannot tell constant from growing time, and would never leave it.
  // local_batch 0: not known there.
  BatchChoice Choose(std::string_view gpu_type, std::int32_t nodes, GpuCount gpus,
                     const BatchChoice& present) const;

  static constexpr double kGrowth = 2;
  static constexpr double kNoiseMoves = 0.1;
  static constexpr double kWorth = 0.05;

 private:
  struct Place {
    std::string gpu_type;
    std::int32_t nodes = 0;
    GpuCount gpus = 0;
    double local_batch = 0;
    friend bool operator==(const Place&, const Place&) = default;
  };
  GradientStatistics statistics() const {
    return GradientStatistics::OfNoiseScale(noise_, limits_.initial);
  }
  BatchChoice Trial(std::string_view gpu_type, GpuCount gpus) const;
  void Project(const std::vector<std::string>& gpu_types, const ConfigurationTable& table,
               std::vector<double>* rates) const;
  UnitCounts Trusted(const ConfigurationTable& table) const;

  BatchLimits limits_;
  TimingFits fits_;
  std::vector<Place> places_;  // that were measured
  double noise_ = kUnknown;
};

// A profile that distinguishes one node and several, as goodput tables do; rates are the profile's,
// or its one-node rate.
ModelPtr LayoutModel(ModelPtr profile);

}  // namespace allot
