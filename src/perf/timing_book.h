#pragma once
// What has been measured of the iteration times of jobs that train applications, by model: all jobs
// of a model fit theirs together, and a job begins with that fit. A job that is more than kDiffers
// faster or slower than others were on the same placement gets a fit of its own: to what it
// measured itself, and for the rest to what others had as of its own last new measurement, times
// how much slower it is (geometric mean). How far off fits were is learned too
// (perf/speed_prior.h). As perf/rate_book.h is for rates.

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "perf/speed_prior.h"
#include "perf/timing_fits.h"

namespace allot {

class TimingBook {
 public:
  // One job's part of it.
  struct Entry {
    std::vector<std::string> levels;   // SpeedPrior::LevelsOf
    std::shared_ptr<TimingFits> fits;  // of the model's jobs, or its own
    struct Seen {
      std::string gpu_type;
      std::int32_t nodes = 0;
      TimingObservation observation;
    };
    std::vector<Seen> own{};  // what it measured, each place once
    bool differs = false;     // from other jobs of the model
    double slower = 0;        // sum of ln of its times over theirs ...
    int compared = 0;         // ... so often
  };

  Entry Begin(const std::string& model, std::vector<std::string> levels);

  // DataError as TimingFits::Observe.
  void Observe(const std::string& model, std::string_view gpu_type, std::int32_t nodes,
               const TimingObservation& observation, Entry* entry);

  // Of the rate on so many GPUs; {0, 0} where they were measured.
  SpeedError ErrorAt(const Entry& entry, std::string_view gpu_type, bool several_nodes,
                     GpuCount gpus) const;

  static constexpr double kDiffers = 0.05;

 private:
  struct Gap {
    SpeedStep step = SpeedStep::kMore;
    double doublings = 0;  // 0: it was measured
  };
  static Gap GapTo(const TimingFits& fits, std::string_view gpu_type, bool several_nodes,
                   GpuCount gpus);
  void Own(const TimingFits& pooled, Entry* entry) const;

  std::map<std::string, std::shared_ptr<TimingFits>> pooled_;  // by model
  SpeedPrior prior_;
};

}  // namespace allot
