// Gittins index on attained GPU time, learned by size class in the run and from a history
// (Tiresias-G: Gu et al., NSDI'19). With estimates: `ordering=gittins-given-estimate`.

#include "stages/staged_policy.h"
#include "workload/history.h"

namespace allot {
namespace {

ALLOT_REGISTER(
    PolicyInfo,
    WithSource("Gittins, J. R. Stat. Soc. B 1979; Gu et al., Tiresias, NSDI 2019",
               StagedPolicyInfo(
                   "gittins", "largest Gittins index of attained GPU time first",
                   {.ordering = "gittins"},
                   {FileParam({"history", "",
                               "TRACE@DATE: run times of jobs submitted before the date are known"},
                              FilesOfHistory),
                    {"prior", "", "weight of the prior (LAS), in jobs (1)"}})));

}  // namespace
}  // namespace allot
