#pragma once
// Other names for the models and the GPU types of a trace: --model-map
// resnet50=ResNet-50,bert=BERT,
// --type-map 'Tesla P40=t4', or a CSV file with the columns theirs,ours.

#include <map>
#include <string>

#include "workload/workload.h"

namespace allot {

class NameMap {
 public:
  // The path of a file that is there, else pairs. UsageError, naming the option ("model-map"), for
  // what is neither; DataError with the line for a file that breaks the form or gives a name twice.
  static NameMap Parse(const std::string& option, const std::string& text);

  // Jobs whose model has a name in the map get the other one. UsageError for a pair, written on the
  // command line, that no job has; a file may have more names than a trace.
  void RenameModels(Workload* workload) const;
  // Likewise for each GPU type that jobs accept or that their durations were measured on. The map's
  // names mean types of the trace as FindGpuTypes says: "v100" also "Tesla V100-SXM2-32GB". A job
  // with a type that gets no name ("p40=") accepts any type.
  void RenameGpuTypes(Workload* workload) const;

 private:
  std::string option_;
  std::map<std::string, std::string> ours_;  // by theirs
  bool from_file_ = false;
};

}  // namespace allot
