#include "workload/write_csv.h"

#include <cmath>
#include <sstream>

#include "core/rng.h"
#include "trace_testing.h"

namespace allot {
namespace {

std::string Written(const Workload& workload) {
  std::ostringstream out;
  WriteAllotCsv(workload, out);
  return out.str();
}

// Any legal job: awkward texts, all magnitudes, each optional field present or not.
Workload Generated(std::uint64_t seed) {
  static const std::string pieces[] = {"a", ",", "\"", "\n", "\r\n", " ", "é", "'", ";", "\r"};
  Rng rng(seed, "write-csv-test");
  const auto text = [&] {
    std::string result;
    for (std::uint64_t i = rng.Below(6); i > 0; --i) result += pieces[rng.Below(std::size(pieces))];
    return result;
  };
  const auto magnitude = [&] { return std::exp(rng.Uniform(-20, 20)); };
  const auto sometimes = [&] { return rng.Below(2) == 0; };
  Workload workload;
  for (std::uint64_t i = 1 + rng.Below(20); i > 0; --i) {
    Job job;
    job.id = text() + std::to_string(i);
    job.submit = sometimes() ? 0 : magnitude();
    job.gpus = 1 + static_cast<GpuCount>(rng.Below(64));
    job.duration = magnitude();
    if (sometimes())
      job.min_gpus = 1 + static_cast<GpuCount>(rng.Below(static_cast<std::uint64_t>(job.gpus)));
    if (sometimes()) job.max_gpus = job.gpus + static_cast<GpuCount>(rng.Below(64));
    if (sometimes()) job.work = magnitude();
    if (sometimes()) job.priority = rng.Normal();
    if (sometimes()) job.deadline = job.submit + magnitude() + 1;
    job.outcome = static_cast<Outcome>(rng.Below(4));
    job.model = workload.models.Intern(text());
    job.tenant = workload.tenants.Intern(text());
    job.user = workload.users.Intern(text());
    job.group = workload.groups.Intern(text());
    job.account = workload.accounts.InternSmall(text());
    job.qos = workload.qos.InternSmall(text());
    if (sometimes()) job.user_estimate = magnitude();
    if (sometimes()) job.recorded_wait = magnitude();
    workload.jobs.push_back(job);
  }
  workload.Finish();
  return workload;
}

TEST(WriteAllotCsv, ReadsBackAsEqualJobs) {
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    SCOPED_TRACE(seed);
    const Workload written = Generated(seed);
    const Workload read = ReadText("allot", Written(written));
    ASSERT_EQ(read.jobs.size(), written.jobs.size());
    for (std::size_t i = 0; i < read.jobs.size(); ++i) {
      const Job &a = written.jobs[i], &b = read.jobs[i];
      EXPECT_EQ(a.id, b.id);
      EXPECT_EQ(a.submit, b.submit);
      EXPECT_EQ(a.gpus, b.gpus);
      EXPECT_EQ(a.duration, b.duration);
      EXPECT_EQ(a.min_gpus, b.min_gpus);
      EXPECT_EQ(a.max_gpus, b.max_gpus);
      EXPECT_EQ(a.work, b.work);
      EXPECT_EQ(a.priority, b.priority);
      EXPECT_EQ(a.deadline, b.deadline);
      EXPECT_EQ(a.outcome, b.outcome);
      EXPECT_EQ(written.models[a.model], read.models[b.model]);
      EXPECT_EQ(written.tenants[a.tenant], read.tenants[b.tenant]);
      EXPECT_EQ(written.users[a.user], read.users[b.user]);
      EXPECT_EQ(written.groups[a.group], read.groups[b.group]);
      EXPECT_EQ(written.ChargeOf(a).account, read.ChargeOf(b).account);
      EXPECT_EQ(written.ChargeOf(a).qos, read.ChargeOf(b).qos);
      EXPECT_EQ(a.user_estimate, b.user_estimate);
      EXPECT_EQ(a.recorded_wait, b.recorded_wait);
    }
  }
}

TEST(WriteAllotCsv, LeavesOutColumnsThatNobodyNeeds) {
  const std::string text = "job_id,submit_s,gpus,duration_s\na,0,1,9.5\n";
  EXPECT_EQ(Written(ReadText("allot", text)), text);
}

TEST(WriteAllotCsv, KeepsJobsThatHadNotEnded) {
  const std::string text =
      "job_id,submit_s,gpus,duration_s,recorded_wait_s,outcome\n"
      "a,0,1,100,0,passed\nb,10,2,50,20,running\nc,30,4,0,,pending\n";
  const Workload workload = ReadText("allot", text);
  ASSERT_EQ(workload.jobs.size(), 3u);
  EXPECT_EQ(workload.recorded_until, 100);
  EXPECT_GE(workload.jobs[1].duration, 70);
  EXPECT_EQ(workload.RecordedRunTime(workload.jobs[1]), 70);
  const Workload again = ReadText("allot", Written(workload));
  EXPECT_EQ(again.recorded_until, workload.recorded_until);
  for (std::size_t j = 0; j < 3; ++j) {
    EXPECT_EQ(again.jobs[j].outcome, workload.jobs[j].outcome);
    EXPECT_EQ(again.jobs[j].duration, workload.jobs[j].duration);
  }
}

}  // namespace
}  // namespace allot
