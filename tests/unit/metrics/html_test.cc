#include "metrics/html.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace allot {
namespace {

TEST(EscapeHtml, LeavesNoMarkup) {
  EXPECT_EQ(EscapeHtml("<b a=\"1\" c='2'>&"), "&lt;b a=&quot;1&quot; c=&#39;2&#39;&gt;&amp;");
}

TEST(JsonForScript, CannotCloseTheScriptAndMeansTheSame) {
  const nlohmann::ordered_json json = {{"name", "</script><!--&"}};
  const std::string text = JsonForScript(json);
  EXPECT_EQ(text, R"({"name":"\u003c/script\u003e\u003c!--\u0026"})");
  EXPECT_EQ(nlohmann::ordered_json::parse(text), json);
}

TEST(JsonForScript, ReplacesInvalidUtf8) {
  EXPECT_EQ(JsonForScript(nlohmann::ordered_json("\xff")), "\"\xEF\xBF\xBD\"");
}

TEST(FillSlots, DoesNotLookIntoValues) {
  EXPECT_EQ(FillSlots("<{{a}}|{{b}}>", {{"a", "{{b}}"}, {"b", "2"}}), "<{{b}}|2>");
}

TEST(FillSlots, ASlotWithoutValueIsOurMistake) {
  EXPECT_THROW(FillSlots("{{a}}", {}), std::logic_error);
}

}  // namespace
}  // namespace allot
