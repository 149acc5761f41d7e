#include "workload/model_map.h"

#include "trace_testing.h"

namespace allot {
namespace {

Workload TwoModels() {
  return ReadText("allot",
                  "job_id,submit_s,gpus,duration_s,model\na,0,1,5,resnet\nb,0,1,5,bert\n"
                  "c,0,1,5,\n");
}

TEST(ModelMap, RenamesModels) {
  Workload workload = TwoModels();
  ModelMap::Parse("resnet=ResNet-50,bert=ResNet-50").Apply(&workload);
  EXPECT_EQ(workload.models.names(), (std::vector<std::string>{"ResNet-50"}));
  EXPECT_EQ(workload.jobs[1].model, 0);
  EXPECT_EQ(workload.jobs[2].model, -1);
}

TEST(ModelMap, ReadsAFileThatMayHaveMore) {
  const TempFile file("names.csv", "theirs,ours\nbert,BERT\ngpt,GPT\n");
  Workload workload = TwoModels();
  ModelMap::Parse(file.path()).Apply(&workload);
  EXPECT_EQ(workload.models[workload.jobs[1].model], "BERT");
  EXPECT_EQ(workload.models[workload.jobs[0].model], "resnet");
}

TEST(ModelMap, RefusesWhatDoesNotFit) {
  ExpectError([] { ModelMap::Parse("resnet"); }, ExitCode::kUsage, {"THEIRS=OURS", "'resnet'"});
  ExpectError([] { ModelMap::Parse("a=b,a=c"); }, ExitCode::kUsage, {"'a' twice"});
  Workload workload = TwoModels();
  ExpectError([&] { ModelMap::Parse("resnt=x").Apply(&workload); }, ExitCode::kUsage,
              {"no job has the model 'resnt'", "did you mean 'resnet'"});
  const TempFile file("names.csv", "theirs,ours\nbert,BERT\nbert,GPT\n");
  ExpectError([&] { ModelMap::Parse(file.path()); }, ExitCode::kBadData,
              {"stands once", "'bert'", "names.csv:3"});
}

}  // namespace
}  // namespace allot
