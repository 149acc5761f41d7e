#pragma once
// How jobs that communicate over the same uplinks of a topology slow each other down. With c_k the
// part of its time in which job k communicates and d_k the nodes' bandwidths that it needs of an
// uplink then, the factor on the communication of job j is
//   q_j = max over its uplinks of (d_j (1 - c_j) + sum over all k on it of c_k d_k) / capacity,
// at least 1: others count with the part of their time in which they communicate (docs/topology.md
// has the support). q changes only when jobs are placed, stop or end, so that rates are constant
// between such moments. Of one run; used by SimulatedCluster.

#include <cstdint>
#include <span>
#include <vector>

#include "cluster/topology.h"
#include "sim/simulated_jobs.h"
#include "workload/communication.h"

namespace allot {

// What a job needs of the uplink of a domain that has `inside` of its nodes, while it communicates:
// of a ring the bandwidth of one node, of all-to-all half of the smaller side.
double UplinkDemand(CommunicationPattern pattern, int inside, int nodes);

class NetworkLoad {
 public:
  // The topology outlives it. Jobs are numbered below `jobs`.
  NetworkLoad(const Topology& topology, std::size_t jobs);

  // From now on the job runs on these nodes, whatever it ran on. O(its nodes x levels + jobs on its
  // uplinks).
  void Place(JobIndex job, const Communication& communication, std::span<const NodeShare> shares);
  // From now on it runs nowhere.
  void Remove(JobIndex job);

  // The jobs whose congestion has changed since the last call, ascending; valid until the next
  // call. Sums are made anew, in the order of jobs, so that they do not depend on the past.
  std::span<const JobIndex> Update();
  double congestion(JobIndex job) const { return of_job_[At(job)].congestion; }
  // Whether its end changes the congestion of another job.
  bool SharesUplink(JobIndex job) const;

  // Of a simulation, whose scenario has the same topology: places the jobs that have begun to run
  // on something new, whose end is not known yet; where the job in a slot lies; and the first end
  // before `time` of a job that shares an uplink, else `time`.
  void PlaceStarted(const SimulatedJobs& jobs);
  PlaceFactors PlaceOf(const SimulatedJobs& jobs, std::size_t slot) const;
  Seconds FirstSharedEnd(const SimulatedJobs& jobs, Seconds time) const;

 private:
  struct Use {
    std::size_t uplink;
    double demand;
  };
  struct Member {
    JobIndex job;
    double load;  // c d
  };
  struct Uplink {
    double capacity = 0;
    double load = 0;
    std::vector<Member> members;  // ascending
    bool dirty = false;
  };
  struct OfJob {
    double share = 0;
    double congestion = 1;
    std::vector<Use> uses;
  };

  static std::size_t At(JobIndex job) { return static_cast<std::size_t>(job); }
  void Touch(std::size_t uplink);

  const Topology& topology_;
  std::vector<Uplink> uplinks_;
  std::vector<std::size_t> first_uplink_;  // by level
  std::vector<OfJob> of_job_;
  std::vector<std::size_t> dirty_;
  std::vector<JobIndex> changed_;
  std::vector<Topology::Domain> inside_;  // of the nodes of one job
};

}  // namespace allot
