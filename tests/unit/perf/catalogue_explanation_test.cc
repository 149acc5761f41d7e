// What a table covers, and which jobs fit it.

#include "perf/catalogue_explanation.h"

#include <gtest/gtest.h>

namespace allot {
namespace {

const Catalogue& Table() {
  static const Catalogue catalogue = Catalogue::FromCsv(
      "profile,gpus,nodes,v100,k80\nsmall,1,,10,5\nsmall,4,1,38,\nsmall,4,2+,30,\nlarge,8,,70,\n",
      "c.csv");
  return catalogue;
}

Workload JobsOf(const std::vector<std::pair<std::string, GpuCount>>& jobs) {
  Workload workload;
  for (const auto& [profile, gpus] : jobs) {
    Job job;
    job.id = std::to_string(workload.jobs.size());
    job.gpus = gpus;
    job.duration = 100;
    if (!profile.empty()) job.model = workload.models.Intern(profile);
    workload.jobs.push_back(job);
  }
  workload.Finish();
  return workload;
}

TEST(CatalogueExplanation, TypesHaveTheirProfilesSizesAndNodes) {
  const CatalogueCoverage coverage = CoverageOf(Table());
  ASSERT_EQ(coverage.types.size(), 2U);
  EXPECT_EQ(coverage.types[0].profiles, (std::vector<std::string>{"small", "large"}));
  EXPECT_EQ(coverage.types[0].sizes, (std::vector<GpuCount>{1, 4, 8}));
  EXPECT_EQ(coverage.types[0].spans, (std::vector<std::string>{"any", "1", "2+"}));
  EXPECT_EQ(coverage.types[1].profiles, std::vector<std::string>{"small"});
  EXPECT_EQ(coverage.types[1].sizes, std::vector<GpuCount>{1});
}

TEST(CatalogueExplanation, AnUnmeasuredTypeHasNoSpeed) {
  const CatalogueCoverage coverage = CoverageOf(Table());
  EXPECT_EQ(coverage.profiles[0].speeds, (std::vector<double>{1, 0.5}));
  EXPECT_EQ(coverage.profiles[1].speeds, (std::vector<double>{1, 0}));
}

TEST(CatalogueExplanation, JobsAreFittedAtTheirSize) {
  CatalogueCoverage coverage = CoverageOf(Table());
  const JobFit fit =
      FitJobs(Table(), JobsOf({{"small", 1}, {"large", 8}, {"", 2}, {"huge", 1}}), &coverage);
  EXPECT_EQ(coverage.types[0].jobs, 2);
  EXPECT_EQ(coverage.types[1].jobs, 1);
  EXPECT_EQ(fit.without_profile, 1);
  EXPECT_EQ(fit.on_all, 1);
  EXPECT_EQ(fit.on_none, 1);
  EXPECT_NE(fit.example.find("'huge'"), std::string::npos) << fit.example;
}

TEST(CatalogueExplanation, EmbeddedProfilesWithoutTypesAreNamed) {
  const CatalogueCoverage coverage = CoverageOf(Catalogue::Embedded());
  EXPECT_EQ(coverage.without_types.size(), 6U) << "of DL2, measured on one kind of GPU";
  for (const TypeCoverage& type : coverage.types) {
    EXPECT_EQ(type.profiles.size(), 19U) << type.gpu_type;
  }
}

}  // namespace
}  // namespace allot
