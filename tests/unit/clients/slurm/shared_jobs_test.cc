#include "clients/slurm/shared_jobs.h"

#include <gtest/gtest.h>

namespace allot {
namespace {

SlurmJob Job(std::uint32_t id, const std::string& comment) {
  SlurmJob job;
  job.id = id;
  job.comment = comment;
  return job;
}

TEST(SharedJobs, OnlyWhatChangedIsANewRecord) {
  SharedJobs first({});
  for (const std::uint32_t id : {7U, 3U, 5U}) first.Add(Job(id, "a"));
  const SlurmJobs before = first.Take();
  SharedJobs second(before);
  second.Add(Job(3, "a"));
  second.Add(Job(5, "other"));
  second.Add(Job(9, "a"));
  const SlurmJobs now = second.Take();
  ASSERT_EQ(now.size(), 3U);
  EXPECT_EQ(now[0], before[1]);
  EXPECT_NE(now[1], before[2]);
  EXPECT_EQ(now[1]->comment, "other");
  EXPECT_EQ(now[2]->id, 9U);
}

}  // namespace
}  // namespace allot
