// What the numbers of observations are, for allot.features.

#include <nanobind/stl/string.h>

#include "bindings/binding.h"
#include "features/encoder.h"
#include "features/feature_table.h"

namespace allot {
namespace {

ALLOT_REGISTER(BindingInfo,
               (BindingInfo{"features", "names, units, meaning and bounds of features",
                            [](nb::module_& module) {
                              module.attr("feature_version") = kFeatureVersion;
                              module.def(
                                  "job_features",
                                  [] { return FeatureTableJson(JobFeatureTable()); },
                                  "The features of a job as JSON.");
                              module.def(
                                  "context_features",
                                  [] { return FeatureTableJson(ContextFeatureTable()); },
                                  "The features of a decision as JSON.");
                            }}));

}  // namespace
}  // namespace allot
