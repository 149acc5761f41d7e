#pragma once
// What a policy reads of the rates of its tables. Where nobody else looks at them either, a cluster
// need not keep the others up to date: those of jobs that learn while they train change often.

namespace allot {

enum class RatesRead {
  kNone,     // no rate, nor what follows from rates (hulls, references, the order of types)
  kTrusted,  // of configurations within ConfigurationTable::trusted
  kAll,
};

}  // namespace allot
