#pragma once
// What the numbers of FeatureEncoder are: one table for messages, the attributes of episode logs,
// `env.metadata` in Python and docs/features.md. A change of a feature is a change of its row, and
// of kFeatureVersion.

#include <string>
#include <vector>

namespace allot {

struct FeatureInfo {
  std::string name;     // of a machine: snake_case, each once in its table
  std::string unit;     // "1", "ln intervals": of the number as it stands
  std::string meaning;  // for people
  double low = 0;       // the number lies in [low, high]
  double high = 0;
};

const std::vector<FeatureInfo>& JobFeatureTable();      // kJobFeatures, in their order
const std::vector<FeatureInfo>& ClusterFeatureTable();  // kClusterFeatures
// kContextFeatures: mean and standard deviation of each of a job, then those of the cluster.
const std::vector<FeatureInfo>& ContextFeatureTable();

// Columns of the optional tensors of environments, in their order.
const std::vector<FeatureInfo>& ConfigurationColumnTable();  // features/configuration_tensor.h
const std::vector<FeatureInfo>& NodeColumnTable();           // features/graph_tensors.h

// As JSON, a list of objects with the members above.
std::string FeatureTableJson(const std::vector<FeatureInfo>& table);
// As a table of Markdown, a row each, for docs/features.md.
std::string FeatureTableMarkdown(const std::vector<FeatureInfo>& table);

}  // namespace allot
