#pragma once
// The inside of a daemon (live/port/live_cluster.h) on a FakeRuntime, with a journal in a folder of
// its own. A test adds nodes and jobs, and looks and decides by hand.

#include <gtest/gtest.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <memory>
#include <string>

#include "live/port/live_cluster.h"
#include "live/port/live_rules.h"
#include "rules/constrained_cluster.h"
#include "tests/unit/core/temp_folder.h"
#include "tests/unit/live/fake_runtime.h"

namespace allot {

class DaemonTest : public testing::Test {
 protected:
  DaemonTest() : runtime_(&time_) { spdlog::set_level(spdlog::level::off); }

  // As a daemon that begins; called again, as one that takes over after a kill -9.
  void Serve() {
    port_.reset();
    cluster_.reset();
    journal_.reset();
    journal_ = std::make_unique<Journal>(folder_ / "journal.jsonl");
    const auto past = journal_->TakePast();
    double origin = kUnknown;
    Seconds last = 0;
    for (const TimedRecord& one : past) {
      if (const auto* serve = std::get_if<record::Serve>(&one.record)) origin = serve->origin;
      last = std::max(last, one.at);
    }
    clock_ = std::make_unique<LiveClock>(origin, last, time_.source());
    cluster_ = std::make_unique<LiveCluster>(runtime_, journal_.get(), *clock_, options_, past);
    Constrain();
    if (past.empty()) journal_->Append({0, record::Serve{clock_->origin()}});
  }
  // Puts the rules before the cluster, as the daemon does.
  void Constrain() {
    port_ = std::make_unique<ConstrainedCluster>(*cluster_, *cluster_, cluster_->guarantees(),
                                                 ValidateLiveAllocation);
  }
  // A tenth of a second later.
  void Look() {
    runtime_.Wait(0.1);
    cluster_->PollRuntime();
  }
  const LiveJob& JobOf(const std::string& id) const {
    return *cluster_->state().job_table().Find(id);
  }

  FakeTime time_;
  FakeRuntime runtime_;
  LiveOptions options_;
  testing_support::TempFolder folder_;
  std::unique_ptr<Journal> journal_;
  std::unique_ptr<LiveClock> clock_;
  std::unique_ptr<LiveCluster> cluster_;
  std::unique_ptr<ConstrainedCluster> port_;  // what policies see of it
};

}  // namespace allot
