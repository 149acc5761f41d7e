#include "workload/name_map.h"

#include "trace_testing.h"

namespace allot {
namespace {

Workload TwoModels() {
  return ReadText("allot",
                  "job_id,submit_s,gpus,duration_s,model\na,0,1,5,resnet\nb,0,1,5,bert\n"
                  "c,0,1,5,\n");
}

TEST(NameMap, RenamesModels) {
  Workload workload = TwoModels();
  NameMap::Parse("model-map", "resnet=ResNet-50,bert=ResNet-50").RenameModels(&workload);
  EXPECT_EQ(workload.models.names(), (std::vector<std::string>{"ResNet-50"}));
  EXPECT_EQ(workload.jobs[1].model, 0);
  EXPECT_EQ(workload.jobs[2].model, -1);
}

TEST(NameMap, ReadsAFileThatMayHaveMore) {
  const TempFile file("names.csv", "theirs,ours\nbert,BERT\ngpt,GPT\n");
  Workload workload = TwoModels();
  NameMap::Parse("model-map", file.path()).RenameModels(&workload);
  EXPECT_EQ(workload.models[workload.jobs[1].model], "BERT");
  EXPECT_EQ(workload.models[workload.jobs[0].model], "resnet");
}

TEST(NameMap, RefusesWhatDoesNotFit) {
  ExpectError(ExitCode::kUsage, {"THEIRS=OURS", "'resnet'"},
              [] { NameMap::Parse("model-map", "resnet"); });
  ExpectError(ExitCode::kUsage, {"'a' twice"}, [] { NameMap::Parse("model-map", "a=b,a=c"); });
  Workload workload = TwoModels();
  ExpectError(ExitCode::kUsage, {"no job has the model 'resnt'", "did you mean 'resnet'"},
              [&] { NameMap::Parse("model-map", "resnt=x").RenameModels(&workload); });
  const TempFile file("names.csv", "theirs,ours\nbert,BERT\nbert,GPT\n");
  ExpectError(ExitCode::kBadData, {"stands once", "'bert'", "names.csv:3"},
              [&] { NameMap::Parse("model-map", file.path()); });
}

Workload ThreeTypes() {
  return ReadText("allot",
                  "job_id,submit_s,gpus,duration_s,gpu_types\na,0,1,5,Tesla P40\n"
                  "b,0,1,5,tesla_v100|p40\nc,0,1,5,k80\n");
}

TEST(NameMap, RenamesGpuTypesWhateverTheirSpelling) {
  Workload workload = ThreeTypes();
  NameMap::Parse("type-map", "P40=t4,TESLA K80=").RenameGpuTypes(&workload);
  EXPECT_EQ(workload.gpu_types[workload.jobs[0].gpu_types], "t4");
  EXPECT_EQ(workload.gpu_types[workload.jobs[1].gpu_types], "tesla_v100|t4");
  EXPECT_EQ(workload.jobs[2].gpu_types, -1) << "any type";
}

TEST(NameMap, PrefersTheExactTypeAndRefusesUnknownOnes) {
  Workload workload = ThreeTypes();
  NameMap::Parse("type-map", "p40=a,Tesla P40=b").RenameGpuTypes(&workload);
  EXPECT_EQ(workload.gpu_types[workload.jobs[0].gpu_types], "b");
  EXPECT_EQ(workload.gpu_types[workload.jobs[1].gpu_types], "tesla_v100|a");
  ExpectError(ExitCode::kUsage, {"--type-map", "no job names the GPU type 'h100'"},
              [&] { NameMap::Parse("type-map", "h100=a100").RenameGpuTypes(&workload); });
}

}  // namespace
}  // namespace allot
