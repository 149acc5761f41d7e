#pragma once
// Other names for the models of a trace: --model-map resnet50=ResNet-50,bert=BERT, or a CSV file
// with the columns theirs,ours.

#include <map>
#include <string>

#include "workload/workload.h"

namespace allot {

class ModelMap {
 public:
  // The path of a file that is there, else pairs. UsageError for what is neither; DataError with
  // the line for a file that breaks the form or names a model twice.
  static ModelMap Parse(const std::string& text);

  // Jobs whose model has a name in the map get the other one. UsageError for a pair, written on the
  // command line, that no job has; a file may have more names than a trace.
  void Apply(Workload* workload) const;

 private:
  std::map<std::string, std::string> ours_;  // by theirs
  bool from_file_ = false;
};

}  // namespace allot
