#pragma once
// An application as a throughput model: at every placement its measured iteration times with the
// best batch for the epoch that it is in, or with a batch that is given. Work is progress.

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>
#include <vector>

#include "perf/application.h"
#include "perf/catalogue.h"
#include "perf/throughput_model.h"

namespace allot {

class ApplicationModel final : public ThroughputModel {
 public:
  // `fixed_batch`: total, as nearly as whole samples on each GPU allow; 0: chosen.
  explicit ApplicationModel(ApplicationPtr application, double fixed_batch = 0);

  const ApplicationPtr& application() const { return application_; }
  double fixed_batch() const { return fixed_batch_; }

  // The same application with a batch that is given. Kept as long as this model.
  ModelPtr WithBatch(double batch) const;
  // With its rate; rate 0 where it cannot train so. `statistics` null: those of the epoch.
  BatchChoice Choose(const RunShape& shape, std::int32_t epoch,
                     const GradientStatistics* statistics = nullptr) const;
  // With this choice of batch, in this epoch; 0 where that was not measured.
  double RateWith(const RunShape& shape, std::int32_t epoch, const BatchChoice& choice) const;

  const std::string& name() const override { return application_->name(); }
  const std::vector<UnitKind>& kinds() const override { return kinds_; }
  double Rate(const RunShape& shape, const TrainingState& state) const override;
  bool varies() const override { return true; }
  bool Offers(GpuCount, std::string_view) const override { return true; }
  double ConstantUntil(double done) const override;
  double total_work() const override { return application_->total_progress(); }
  // Belief tells one node and several apart; what is played is the placement itself.
  std::vector<Span> SpansOn(std::string_view gpu_type) const override;
  std::vector<std::string> gpu_types() const override;

 private:
  struct Candidate {
    BatchChoice choice;
    Seconds iteration = 0;
  };
  struct Candidates {
    std::vector<Candidate> all;
    std::vector<BatchChoice> best;  // by epoch, once it was asked for
    std::vector<char> known;        // whether it was
  };
  Candidates* CandidatesAt(const ApplicationOnType& type, const RunShape& shape) const;

  ApplicationPtr application_;
  double fixed_batch_;
  std::vector<UnitKind> kinds_{{"gpu", {1, 0}}};
  mutable std::mutex mutex_;  // of what follows; Candidates::all never changes
  mutable std::unordered_map<std::string, std::unique_ptr<Candidates>> candidates_;
  mutable std::map<double, ModelPtr> with_batch_;
};

// The model's application; null of other models.
const ApplicationModel* AsApplication(const ThroughputModel& model);

// Models of all, in order.
Catalogue ApplicationCatalogue(std::string_view pack, const std::string& path);

}  // namespace allot
