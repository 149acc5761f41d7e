#include "perf/catalogue.h"

#include <gtest/gtest.h>

#include <string>

#include "core/error.h"
#include "tests/unit/core/expect_error.h"

namespace allot {
namespace {

// The message of the DataError that this text causes.
std::string Refusal(const std::string& text) {
  return ErrorOf(ExitCode::kBadData, [&] { Catalogue::FromCsv(text, "c.csv"); });
}

std::string WithHeader(const std::string& rows) { return "profile,gpu_type,gpus,rate\n" + rows; }

TEST(EmbeddedCatalogue, HoldsBothSources) {
  EXPECT_EQ(Catalogue::Embedded().models().size(), 25U);
  EXPECT_EQ(Catalogue::Embedded().Get("resnet18:64")->name(), "resnet18:64");
  EXPECT_EQ(Catalogue::Embedded().Get("dl2-resnet50")->name(), "dl2-resnet50");
}

TEST(EmbeddedCatalogue, EveryProfileRunsAtEveryCountOnEveryMeasuredType) {
  for (const ModelPtr& model : Catalogue::Embedded().models()) {
    for (const char* type : {"v100", "p100", "k80", "gpu"}) {
      for (std::int16_t gpus = 1; gpus <= 64; ++gpus) {
        ASSERT_GT(model->Rate({gpus}, type), 0) << model->name() << " " << type << " " << gpus;
      }
    }
  }
}

TEST(EmbeddedCatalogue, KnowsItsTypes) {
  EXPECT_EQ(Catalogue::Embedded().gpu_types(), (std::vector<std::string>{"v100", "p100", "k80"}));
}

TEST(EmbeddedCatalogue, NoProfileSlowsDownFromOneToAllMeasuredGpus) {
  for (const ModelPtr& model : Catalogue::Embedded().models()) {
    EXPECT_GE(model->Rate({8}, "v100"), model->Rate({1}, "v100")) << model->name();
  }
}

TEST(EmbeddedCatalogue, ReferenceTypeIsTheV100) {
  const ModelPtr model = Catalogue::Embedded().Get("resnet50:64");
  EXPECT_EQ(model->Rate({4}, "gpu"), model->Rate({4}, "v100"));
  EXPECT_GT(model->Rate({4}, "v100"), 3 * model->Rate({4}, "k80"));
}

TEST(Catalogue, UnknownNameSuggestsTheNearest) {
  EXPECT_EQ(ErrorOf(ExitCode::kBadData, [&] { Catalogue::Embedded().Get("resnet50:65"); }),
            "unknown throughput profile 'resnet50:65' (did you mean 'resnet50:64'?)");
}

TEST(Catalogue, ReadsCarriageReturnsAndEmptyLines) {
  const Catalogue c =
      Catalogue::FromCsv("profile,gpu_type,gpus,rate\r\na,v100,1,2\r\n\r\n", "c.csv");
  EXPECT_EQ(c.Get("a")->Rate({1}, "v100"), 2);
}

TEST(Catalogue, AddRefusesANameTwice) {
  Catalogue c;
  c.Add(MakeConstantModel());
  EXPECT_THROW(c.Add(MakeConstantModel()), Error);
}

TEST(CatalogueCsv, WrongHeader) {
  EXPECT_EQ(Refusal("profile,gpus,rate\n"),
            "a catalogue starts with the header 'profile,gpu_type,gpus,rate', or with "
            "'profile,gpus' and a "
            "column for each GPU type, got 'profile,gpus,rate' "
            "(c.csv:1)");
}

TEST(CatalogueCsv, NoProfile) {
  EXPECT_EQ(Refusal(WithHeader("")), "a catalogue needs at least 1 profile, got 0 (c.csv)");
}

TEST(CatalogueCsv, MissingColumn) {
  EXPECT_EQ(Refusal(WithHeader("a,v100,1\n")),
            "a catalogue row has 4 columns (profile,gpu_type,gpus,rate), got 3 (c.csv:2)");
}

TEST(CatalogueCsv, EmptyName) {
  EXPECT_EQ(Refusal(WithHeader("a,,1,2\n")),
            "'profile' and 'gpu_type' must not be empty, got 'a' and '' (c.csv:2)");
}

TEST(CatalogueCsv, BadGpus) {
  EXPECT_EQ(Refusal(WithHeader("a,v100,0,2\n")),
            "'gpus' must be a whole number from 1 to 32767, got '0' (c.csv:2)");
  EXPECT_EQ(Refusal(WithHeader("a,v100,1.5,2\n")),
            "'gpus' must be a whole number from 1 to 32767, got '1.5' (c.csv:2)");
}

TEST(CatalogueCsv, BadRate) {
  for (const std::string rate : {"0", "-1", "nan", "inf", "x", ""}) {
    EXPECT_EQ(Refusal(WithHeader("a,v100,1," + rate + "\n")),
              "'rate' must be a number > 0, got '" + rate + "' (c.csv:2)");
  }
}

TEST(CatalogueCsv, RatesMayDifferByNodes) {
  const Catalogue c = Catalogue::FromCsv(
      "profile,gpu_type,gpus,nodes,rate\na,v100,1,1,10\na,v100,4,1,40\na,v100,4,2+,24\n"
      "b,v100,1,,5\n",
      "c.csv");
  EXPECT_EQ(c.Get("a")->SpansOn("v100"), (std::vector<Span>{{1, 1}, {2, Span::kAny}}));
  EXPECT_EQ(c.Get("b")->SpansOn("v100"), std::vector<Span>{Span{}});
}

TEST(CatalogueCsv, BadNodes) {
  EXPECT_EQ(Refusal("profile,gpu_type,gpus,nodes,rate\na,v100,1,0,10\n"),
            "'nodes': numbers of nodes are '1', '2+', '2-4' or 'any', got '0' (c.csv:2)");
}

TEST(CatalogueCsv, KindsAreNamed) {
  EXPECT_NO_THROW(
      Catalogue::FromCsv("profile,kind,gpu_type,gpus,rate\na,gpu-scaling,v100,1,10\n", "c.csv"));
  EXPECT_EQ(
      Refusal("profile,kind,gpu_type,gpus,rate\na,gpu-scalin,v100,1,10\n"),
      "unknown kind of throughput model 'gpu-scalin' (did you mean 'gpu-scaling'?) (c.csv:2)");
  EXPECT_EQ(Refusal("profile,kind,gpu_type,gpus\na,gpu-scaling,v100,1\n"),
            "profile 'a': the kind 'gpu-scaling' needs the column 'rate', the catalogue has none "
            "(c.csv:2)");
}

TEST(CatalogueCsv, AProfileIsOfOneSlownessClass) {
  const std::string header = "profile,gpu_type,gpus,rate,slowness_class\n";
  const auto catalogue = Catalogue::FromCsv(header + "a,v100,1,2,conv\nb,v100,1,2,\n", "c.csv");
  EXPECT_EQ(catalogue.SlownessClassOf("a"), "conv");
  EXPECT_EQ(catalogue.SlownessClassOf("b"), "");
  EXPECT_EQ(Refusal(header + "a,v100,1,2,conv\na,v100,2,4,rnn\n"),
            "a profile is of one slowness_class: 'a' is of 'conv' and of 'rnn' (c.csv:3)");
}

TEST(CatalogueCsv, CountsMustRise) {
  EXPECT_EQ(Refusal(WithHeader("a,v100,2,2\na,v100,2,3\n")),
            "'gpus' must rise within a GPU type, got 2 after 2 (c.csv:3)");
}

TEST(CatalogueCsv, TypeApart) {
  EXPECT_EQ(
      Refusal(WithHeader("a,v100,1,2\na,k80,1,1\na,v100,2,3\n")),
      "rows of a GPU type must stand together: 'v100' of profile 'a' appears again (c.csv:4)");
}

TEST(CatalogueCsv, ProfileApart) {
  EXPECT_EQ(Refusal(WithHeader("a,v100,1,2\nb,v100,1,1\na,k80,1,3\n")),
            "rows of a profile must stand together: 'a' appears again (c.csv:4)");
}

// ---- one column for each GPU type ----

constexpr const char* kByType = "profile,gpus,v100,h100\nsmall,1,10,30\nsmall,2,19,\nlarge,1,,8\n";

TEST(TypeColumns, AreTheSameAsRowsOfEachType) {
  const Catalogue by_type = Catalogue::FromCsv(kByType, "c.csv");
  const Catalogue by_row = Catalogue::FromCsv(
      WithHeader("small,v100,1,10\nsmall,v100,2,19\nsmall,h100,1,30\nlarge,h100,1,8\n"), "c.csv");
  EXPECT_EQ(by_type.gpu_types(), by_row.gpu_types());
  for (const char* profile : {"small", "large"}) {
    for (const char* type : {"v100", "h100", "gpu"}) {
      for (const int n : {1, 2, 4}) {
        const auto gpus = static_cast<std::int16_t>(n);
        EXPECT_EQ(by_type.Get(profile)->Rate({gpus}, type), by_row.Get(profile)->Rate({gpus}, type))
            << profile << " " << type << " " << gpus;
      }
    }
  }
}

TEST(TypeColumns, AnEmptyCellWasNotMeasured) {
  const ModelPtr large = Catalogue::FromCsv(kByType, "c.csv").Get("large");
  EXPECT_EQ(large->gpu_types(), std::vector<std::string>{"h100"});
  EXPECT_EQ(large->Rate({1}, "v100"), 0);
}

TEST(TypeColumns, KnowNodes) {
  const Catalogue c = Catalogue::FromCsv("profile,gpus,nodes,v100\na,4,1,40\na,4,2+,24\n", "c.csv");
  EXPECT_EQ(c.Get("a")->SpansOn("v100").size(), 2U);
}

TEST(TypeColumns, ABadCellIsNamedByLineAndColumn) {
  EXPECT_EQ(Refusal("profile,gpus,v100,k80\na,1,2,-3\n"),
            "'rate' must be a number > 0, got '-3' (c.csv:2, column 'k80')");
  EXPECT_EQ(Refusal("profile,gpus,v100,k80\na,1,2,fast\n"),
            "'rate' must be a number > 0, got 'fast' (c.csv:2, column 'k80')");
  EXPECT_EQ(Refusal("profile,gpus,v100,k80\na,1,nan,1\n"),
            "'rate' must be a number > 0, got 'nan' (c.csv:2, column 'v100')");
}

TEST(TypeColumns, ARowHasARate) {
  EXPECT_EQ(Refusal("profile,gpus,v100,k80\na,1,,\n"),
            "a row needs the rate of at least 1 GPU type (v100, k80), got none (c.csv:2)");
}

TEST(TypeColumns, AColumnStandsOnce) {
  EXPECT_EQ(Refusal("profile,gpus,v100,v100\na,1,1,1\n"),
            "columns of a catalogue have names, each once, got 'v100' (c.csv:1)");
}

}  // namespace
}  // namespace allot
