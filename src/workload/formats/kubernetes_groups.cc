#include "workload/formats/kubernetes_groups.h"

#include <map>
#include <set>
#include <unordered_map>

namespace allot {
namespace {

std::string NameKey(const std::string& name_space, const std::string& kind,
                    const std::string& name) {
  return name_space + "/" + kind + "/" + name;
}

std::string KeyOfPart(const KubePart& part) {
  return part.uid.empty() ? NameKey(part.name_space, part.kind, part.name) : part.uid;
}

// Follows owners and labels upwards.
class KubeOwners {
 public:
  explicit KubeOwners(const std::vector<const KubePart*>& parts) {
    for (const KubePart* part : parts) {
      if (part->set_kind == "Workload") pod_groups_.insert(part->name_space + "/" + part->set_name);
      if (part->kind == "Job") jobs_.emplace(KeyOfPart(*part), part);
    }
    for (const KubePart* part : parts) {
      if (part->kind != "Workload" || IsOfPods(*part)) continue;
      const std::string key = OwnerKey(*part);
      with_workload_.insert(key);
      if (part->owner_name.empty()) continue;
      above_[NameKey(part->name_space, part->owner_kind, part->owner_name)] = key;
      // A TrainJob makes a JobSet of its own name.
      if (part->owner_kind == "TrainJob") {
        above_[NameKey(part->name_space, "JobSet", part->owner_name)] = key;
      }
    }
  }

  std::string GroupOf(const KubePart& part) const {
    if (part.kind == "Workload") {
      return IsOfPods(part) ? NameKey(part.name_space, part.kind, part.name) : OwnerKey(part);
    }
    if (part.kind == "Job") return GroupOfJob(part);
    const auto job = jobs_.find(OwnerKey(part));
    if (job != jobs_.end()) return GroupOfJob(*job->second);
    return part.set_name.empty() ? OwnerKey(part) : SetKey(part);
  }

  // Of a Job: whether it is a part of what its group stands for.
  bool IsPartOfSet(const KubePart& job) const { return GroupOfJob(job) != KeyOfPart(job); }

 private:
  // Pods of a pod group are owned by nobody, and their Workload by all of them.
  bool IsOfPods(const KubePart& workload) const {
    return pod_groups_.contains(workload.name_space + "/" + workload.name);
  }
  // Of labels, which name the set but not its uid.
  std::string SetKey(const KubePart& part) const {
    const std::string name = NameKey(part.name_space, part.set_kind, part.set_name);
    const auto found = above_.find(name);
    return found == above_.end() ? name : found->second;
  }
  std::string GroupOfJob(const KubePart& job) const {
    std::string owner = OwnerKey(job);
    if (with_workload_.contains(owner)) return owner;
    const std::string name = NameKey(job.name_space, job.set_kind, job.set_name);
    if (!job.set_name.empty() && above_.contains(name)) return above_.at(name);
    // Without Kueue only JobSets are known to run as one.
    if (job.owner_kind == "JobSet") return owner;
    return job.set_kind == "JobSet" ? name : KeyOfPart(job);
  }
  static std::string OwnerKey(const KubePart& part) {
    if (part.owner_name.empty()) return KeyOfPart(part);
    return part.owner_uid.empty() ? NameKey(part.name_space, part.owner_kind, part.owner_name)
                                  : part.owner_uid;
  }

  std::set<std::string> pod_groups_;
  std::set<std::string> with_workload_;                    // keys of owners
  std::map<std::string, std::string> above_;               // by name: the key of a Workload's owner
  std::unordered_map<std::string, const KubePart*> jobs_;  // by their keys
};

}  // namespace

std::vector<const KubePart*> NewestStates(const std::deque<KubePart>& parts,
                                          std::vector<const KubePart*>* older) {
  std::unordered_map<std::string, std::size_t> place_of;
  std::vector<const KubePart*> newest;
  for (const KubePart& part : parts) {
    const auto [at, is_new] = place_of.emplace(part.kind + "/" + KeyOfPart(part), newest.size());
    if (is_new) {
      newest.push_back(&part);
      continue;
    }
    const KubePart*& known = newest[at->second];
    const bool later = IsAtLeastAsNew(part, *known);
    older->push_back(later ? known : &part);
    if (later) known = &part;
  }
  return newest;
}

std::vector<KubeGroup> GroupKubeParts(const std::vector<const KubePart*>& parts) {
  const KubeOwners owners(parts);
  std::unordered_map<std::string, std::size_t> place_of;
  std::vector<KubeGroup> groups;
  for (const KubePart* part : parts) {
    const auto [at, is_new] = place_of.emplace(owners.GroupOf(*part), groups.size());
    if (is_new) groups.emplace_back();
    KubeGroup& group = groups[at->second];
    if (part->kind == "Pod") {
      group.pods.push_back(part);
    } else if (part->kind == "Workload") {
      group.workloads.push_back(part);
    } else {
      group.jobs.push_back(part);
      group.set = group.set || owners.IsPartOfSet(*part);
    }
  }
  return groups;
}

}  // namespace allot
