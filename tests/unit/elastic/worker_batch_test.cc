#include "elastic/worker_batch.h"

#include <gtest/gtest.h>

#include "core/error.h"

namespace allot {
namespace {

TEST(WorkerBatch, TheTotalStaysAboutTheSameOverAnyNumberOfWorkers) {
  const BatchRange range{64, 1024, 4, 128};
  EXPECT_EQ(SplitOver(range, 1, 64), (WorkerBatch{1, 64, 0}));
  EXPECT_EQ(SplitOver(range, 3, 64), (WorkerBatch{3, 22, 0})) << "whole samples, rounded up";
  EXPECT_EQ(SplitOver(range, 2, 1000), (WorkerBatch{2, 125, 3})) << "500 in passes of 128";
  EXPECT_EQ(SplitOver(range, 2, 1000).total(), 1000);
  EXPECT_EQ(SplitOver(range, 32, 64), (WorkerBatch{32, 4, 0})) << "a pass has its least";
}

TEST(WorkerBatch, RangesThatCannotBeAreRefused) {
  EXPECT_NO_THROW((BatchRange{64, 64, 1, 1}.Check()));
  EXPECT_THROW((BatchRange{0, 64, 1, 64}.Check()), Error);
  EXPECT_THROW((BatchRange{64, 32, 1, 64}.Check()), Error);
  EXPECT_THROW((BatchRange{64, 128, 0, 64}.Check()), Error);
  EXPECT_THROW((BatchRange{64, 128, 8, 4}.Check()), Error);
  EXPECT_THROW((BatchRange{64, BatchRange::kMost + 1, 1, 64}.Check()), Error);
}

TEST(WorkerBatch, WhatAProgramCannotDoIsNotFeasible) {
  const BatchRange range{64, 1024, 4, 128};
  EXPECT_TRUE(Feasible(range, {2, 128, 3}));
  EXPECT_FALSE(Feasible(range, {2, 129, 0})) << "more than a pass holds";
  EXPECT_FALSE(Feasible(range, {2, 0, 0}));
  EXPECT_FALSE(Feasible(range, {0, 64, 0}));
  EXPECT_FALSE(Feasible(range, {2, 64, -1}));
  EXPECT_FALSE(Feasible(range, {2, 64, 1 << 24}));
}

}  // namespace
}  // namespace allot
