#pragma once
// Writes what a job measures of itself as an application's tables (docs/goodput.md), which
// `--catalogue` reads, so that a program can be simulated before it runs at scale. If the
// environment has ALLOT_PROFILE=FOLDER/APP, rank 0 of a job that adapts its batch (ElasticWorker)
// adds to
//   FOLDER/parameters.csv         the application's limits, if they are not there
//   FOLDER/APP/placements.csv     times of each placement and batch of one worker, once measured
//   FOLDER/APP/validation.csv     the curve of the job's batch, when its work is done: in
//                                 ALLOT_PROFILE_EPOCHS (10) epochs of equal progress
// ALLOT_PROFILE_BATCH=N trains with N samples all the time, whatever the daemon chooses, because a
// curve belongs to one batch. Existing rows of a file stay; several jobs of a user may write into
// one folder.
// A curve is written only by a worker that has seen every step.

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
  // Nullopt unless the environment asks for it. UsageError for a malformed number.
  static std::optional<ProfileFolder> FromEnvironment();
  // The curve has `epochs` epochs of the job's work. `gpu_type` is "gpu" where types do not matter.
  ProfileFolder(std::filesystem::path application, std::string gpu_type, std::int32_t epochs,
                std::int64_t batch);

  std::int64_t batch() const { return batch_; }  // 0: the daemon chooses

  // An epoch of members begins. Members with equal numbers in `node_of` share a node.
  void BeginEpoch(const std::vector<float>& node_of);
  void AddTimes(const BatchRange& range, const WorkerBatch& batch, const StepSeconds& seconds);
  // Adds a step of `batch` that was worth `worth` samples at M0; `work` of `total` is done.
  void AddStep(const BatchRange& range, std::int64_t batch, double worth, double work, double total,
               const GradientNoise& noise);

 private:
  void WriteParameters(const BatchRange& range, double total) const;
  void WriteCurve() const;

  std::filesystem::path application_;
  std::string gpu_type_;
  std::int32_t epochs_;
  std::int64_t batch_;
  std::string placement_;
  std::vector<std::string> written_;  // keys of the rows of times
  std::int64_t curve_batch_ = 0;      // 0: not begun, -1: a step was missed
  double iterations_ = 0;
  std::vector<std::string> curve_;
};

}  // namespace allot
