#pragma once
// What a job measures of itself, as an application's tables (docs/goodput.md) that `--catalogue`
// reads: for simulating a program before it is run at scale. Where the environment has
// ALLOT_PROFILE=FOLDER/APP, rank 0 of a job that adapts its batch (ElasticWorker) adds to
//   FOLDER/parameters.csv         the application's limits, if they are not there
//   FOLDER/APP/placements.csv     times of each placement and batch of one worker, once measured
//   FOLDER/APP/validation.csv     the curve of the job's batch, when its work is done: in epochs of
//                                 equal progress, ALLOT_PROFILE_EPOCHS of them (10)
// ALLOT_PROFILE_BATCH=N trains with N samples all the time, whatever the daemon says: a curve is of
// one batch. What a file has already stays; several jobs may write into one folder. A curve of
// which this worker has not seen every step is not written.

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "elastic/gradient_noise.h"
#include "elastic/training_meter.h"
#include "elastic/worker_batch.h"

namespace allot {

class ProfileFolder {
 public:
  // Nullopt where the environment does not ask for it. UsageError for a number that is none.
  static std::optional<ProfileFolder> OfEnvironment();
  // `epochs` of the job's work, on GPUs of this type ("gpu": of any).
  ProfileFolder(std::filesystem::path application, std::string gpu_type, std::int32_t epochs,
                std::int64_t batch);

  std::int64_t batch() const { return batch_; }  // 0: as the daemon says

  // An epoch of members begins; `node_of`: any number that tells each member's node.
  void Joined(const std::vector<float>& node_of);
  void Timed(const BatchRange& range, const WorkerBatch& batch, const StepSeconds& seconds);
  // After a step of `batch` that was worth `worth` samples at M0; `work` are done of `total`.
  void Step(const BatchRange& range, std::int64_t batch, double worth, double work, double total,
            const GradientNoise& noise);

 private:
  void WriteParameters(const BatchRange& range, double total) const;
  void WriteCurve() const;

  std::filesystem::path application_;
  std::string gpu_type_;
  std::int32_t epochs_;
  std::int64_t batch_;
  std::string placement_;
  std::vector<std::string> written_;  // keys of times
  std::int64_t curve_batch_ = 0;      // 0: not begun, -1: broken
  double iterations_ = 0;
  std::vector<std::string> curve_;
};

}  // namespace allot
