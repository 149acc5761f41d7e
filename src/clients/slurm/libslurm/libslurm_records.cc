#include "clients/slurm/libslurm/libslurm_records.h"

#include <fmt/format.h>
#include <pwd.h>
#include <slurm/slurmdb.h>

#include <algorithm>
#include <cstdlib>
#include <string_view>
#include <utility>
#include <vector>

#include "clients/slurm/job_facts.h"
#include "clients/slurm/resources.h"
#include "core/strings.h"

// Exported by libslurm, declared by none of its headers.
extern "C" {
const char* slurm_job_state_string(std::uint32_t state);
const char* slurm_job_reason_string(enum job_state_reason reason);
}

namespace allot {
namespace {

std::string Text(const char* text) { return text == nullptr ? "" : text; }

std::string UserName(std::uint32_t id) {
  char buffer[4096];
  passwd entry{};
  passwd* found = nullptr;
  getpwuid_r(id, &entry, buffer, sizeof buffer, &found);
  return found == nullptr ? std::to_string(id) : found->pw_name;
}

template <typename State>
struct FlagOf {
  std::uint32_t flag;  // of slurm.h
  State state;
};

constexpr FlagOf<SlurmJobState> kJobFlags[] = {
    {JOB_COMPLETING, SlurmJobState::kCompleting},
    {JOB_REQUEUE, SlurmJobState::kRequeued},
    {JOB_REQUEUE_HOLD, SlurmJobState::kRequeuedOnHold},
    {JOB_REQUEUE_FED, SlurmJobState::kRequeuedByFederation},
    {JOB_SPECIAL_EXIT, SlurmJobState::kSpecialExit},
    {JOB_RESV_DEL_HOLD, SlurmJobState::kReservationDeleted}};

constexpr FlagOf<SlurmNodeFlag> kNodeFlags[] = {
    {NODE_STATE_DRAIN, SlurmNodeFlag::kDrain},
    {NODE_STATE_FAIL, SlurmNodeFlag::kFail},
    {NODE_STATE_MAINT, SlurmNodeFlag::kMaintenance},
    {NODE_STATE_NO_RESPOND, SlurmNodeFlag::kNotResponding},
    {NODE_STATE_POWERED_DOWN, SlurmNodeFlag::kPoweredDown},
    {NODE_STATE_POWERING_DOWN, SlurmNodeFlag::kPoweringDown},
    {NODE_STATE_REBOOT_ISSUED, SlurmNodeFlag::kRebootIssued},
    {NODE_STATE_INVALID_REG, SlurmNodeFlag::kInvalidRegistration}};

constexpr FlagOf<SlurmNodeFlag> kNodeStates[] = {{NODE_STATE_UNKNOWN, SlurmNodeFlag::kUndetermined},
                                                 {NODE_STATE_DOWN, SlurmNodeFlag::kDown},
                                                 {NODE_STATE_IDLE, SlurmNodeFlag::kIdle},
                                                 {NODE_STATE_ALLOCATED, SlurmNodeFlag::kAllocated},
                                                 {NODE_STATE_ERROR, SlurmNodeFlag::kError},
                                                 {NODE_STATE_MIXED, SlurmNodeFlag::kMixed},
                                                 {NODE_STATE_FUTURE, SlurmNodeFlag::kFuture}};

std::vector<std::string> HostsOf(const char* list) {
  std::vector<std::string> hosts;
  const auto all = slurm_hostlist_create(list);  // hostlist_t, from 23.11 on a pointer to one
  while (char* host = slurm_hostlist_shift(all)) {
    hosts.emplace_back(host);
    std::free(host);
  }
  slurm_hostlist_destroy(all);
  return hosts;
}

SlurmJobStates StatesOf(const slurm_job_info_t& job) {
  SlurmJobStates states;
  const char* base = slurm_job_state_string(job.job_state & JOB_STATE_BASE);
  if (const auto known = ParseSlurmJobState(base)) states.Add(*known);
  for (const auto& one : kJobFlags) {
    if ((job.job_state & one.flag) != 0) states.Add(one.state);
  }
  return states;
}

SlurmNodeState StateOf(const node_info_t& node) {
  SlurmNodeState state;
  for (const auto& one : kNodeStates) {
    if ((node.node_state & NODE_STATE_BASE) == one.flag) state.Add(one.state);
  }
  for (const auto& one : kNodeFlags) {
    if ((node.node_state & one.flag) != 0) state.Add(one.state);
  }
  return state;
}

std::string_view View(const char* text) { return text == nullptr ? "" : text; }

SlurmJobFacts FactsOf(const slurm_job_info_t& job) {
  SlurmJobFacts facts;
  facts.states = StatesOf(job);
  facts.exit_code = job.exit_code >> 8;
  facts.exit_signal = job.exit_code & 0x7f;
  facts.reason = View(slurm_job_reason_string(static_cast<job_state_reason>(job.state_reason)));
  facts.dependency = View(job.dependency);
  facts.priority = job.priority;
  facts.tasks = View(job.array_task_str);
  facts.asked_otherwise = {View(job.tres_per_job), View(job.tres_per_task),
                           View(job.tres_per_socket)};
  if (job.nodes == nullptr || *job.nodes == '\0') return facts;
  facts.hosts = HostsOf(job.nodes);
  facts.whole_nodes = job.shared == JOB_SHARED_NONE;
  for (std::uint32_t n = 0; n < job.gres_detail_cnt; ++n) {
    facts.gres.push_back(Text(job.gres_detail_str[n]));
  }
  return facts;
}

// That jobs have on it. A node without a select plugin's record has none.
int CpusInUse(const node_info_t& node) {
  std::uint16_t used = 0;
  if (node.select_nodeinfo == nullptr) return 0;
  slurm_get_select_nodeinfo(node.select_nodeinfo, SELECT_NODEDATA_SUBCNT,
                            static_cast<node_states>(NODE_STATE_ALLOCATED), &used);
  return used;
}

std::uint64_t MemoryInUse(const node_info_t& node) {
  std::uint64_t used = 0;
  if (node.select_nodeinfo == nullptr) return 0;
  slurm_get_select_nodeinfo(node.select_nodeinfo, SELECT_NODEDATA_MEM_ALLOC,
                            static_cast<node_states>(NODE_STATE_ALLOCATED), &used);
  return used;
}

template <typename List>
void ForEach(List list, const auto& read) {
  if (list == nullptr) return;
  const auto all = slurm_list_iterator_create(list);
  while (void* one = slurm_list_next(all)) read(one);
  slurm_list_iterator_destroy(all);
}

template <typename List>
bool HasDefaultMemory(std::uint64_t by_cpu_or_node, List job_defaults) {
  bool by_gpu = false;
  ForEach(job_defaults, [&](void* item) {
    const auto& one = *static_cast<job_defaults_t*>(item);
    by_gpu = by_gpu || one.type == JOB_DEF_MEM_PER_GPU;
  });
  const std::uint64_t memory = by_cpu_or_node & ~kMemoryPerCpu;
  const bool unlimited = memory == 0 || by_cpu_or_node == NO_VAL64 || by_cpu_or_node == INFINITE64;
  return by_gpu || !unlimited;
}

SlurmMemory MemoryOf(const slurm_conf_t& configuration) {
  if ((configuration.select_type_param & CR_MEMORY) == 0) return SlurmMemory::kNotCounted;
  return HasDefaultMemory(configuration.def_mem_per_cpu, configuration.job_defaults_list)
             ? SlurmMemory::kByDefault
             : SlurmMemory::kWholeByNone;
}

}  // namespace

const std::string& UserNames::Of(std::uint32_t id) {
  const auto [known, is_new] = known_.try_emplace(id);
  if (is_new) known->second = UserName(id);
  return known->second;
}

SlurmJob ReadSlurmJob(const slurm_job_info_t& job, UserNames* users) {
  SlurmJob result;
  result.id = job.job_id;
  result.user_id = job.user_id;
  result.group_id = job.group_id;
  result.user = job.user_name != nullptr ? job.user_name : users->Of(job.user_id);
  result.name = Text(job.name);
  result.partition = Text(job.partition);
  result.comment = Text(job.comment);
  result.admin_comment = Text(job.admin_comment);
  result.gpus = Text(job.tres_per_node);
  result.tres = Text(job.tres_req_str);
  result.nodes = Text(job.nodes);
  result.work_dir = Text(job.work_dir);
  result.account = Text(job.account);
  result.qos = Text(job.qos);
  result.array = job.array_job_id;
  if (job.array_task_id != NO_VAL) result.task = job.array_task_id;
  result.at_most = job.array_max_tasks;
  result.part = job.het_job_id != 0;
  result.in_reservation = job.resv_name != nullptr;
  // Nodes for itself, its user or its group: GPUs beside those that allot gives. Newer releases
  // have more such numbers.
  result.exclusive = job.shared != JOB_SHARED_OK && job.shared != NO_VAL16;
  result.submit = job.submit_time;
  result.deadline = job.deadline;
  result.time_limit = job.time_limit;
  result.nodes_asked = std::max(1U, job.num_nodes);
  result.constraint = Text(job.features);
  if (job.exc_nodes != nullptr) result.excluded_nodes = HostsOf(job.exc_nodes);
  result.cpus = std::max(1U, job.num_cpus);
  result.cpus_per_node = std::max<std::uint32_t>(1, job.pn_min_cpus);
  result.cpus_per_task = job.cpus_per_task;
  result.memory = job.pn_min_memory;
  result.memory_held = TresMemory(Text(job.tres_alloc_str));
  result.requeue = job.requeue != 0;
  result.nice = static_cast<double>(job.nice) - static_cast<double>(NICE_OFFSET);
  result.priority = job.priority;
  ReadJobFacts(FactsOf(job), &result);
  // Of a job that waits Slurm says when it may begin, and says something else all the time.
  if (result.state == SlurmState::kRunning) result.start = job.start_time;
  return result;
}

SlurmNode ReadSlurmNode(const node_info_t& node) {
  SlurmNode result;
  result.name = node.name;
  result.gres = Text(node.gres);
  for (const std::string_view name : Split(Text(node.partitions), ',')) {
    result.partitions.emplace_back(name);
  }
  const std::string features = Text(node.features_act);
  for (const std::string_view name : Split(features, ',')) {
    if (!name.empty()) result.features.emplace_back(name);
  }
  result.cpus = node.cpus;
  result.cpus_in_use = CpusInUse(node);
  result.memory_mib = node.real_memory;
  result.memory_in_use = MemoryInUse(node);
  result.state = StateOf(node);
  return result;
}

SlurmReservation ReadSlurmReservation(const reserve_info_t& reservation) {
  SlurmReservation result;
  result.begin = reservation.start_time;
  result.end = reservation.end_time;
  if (reservation.node_list != nullptr) result.nodes = HostsOf(reservation.node_list);
  result.cpus = static_cast<int>(TresCpus(Text(reservation.tres_str)));
  result.gpus = GpusOfTres(Text(reservation.tres_str));
  return result;
}

SlurmLimits ReadSlurmLimits(const assoc_mgr_info_msg_t& message) {
  SlurmLimits limits;
  std::uint32_t gpus = 0;
  while (gpus < message.tres_cnt && Text(message.tres_names[gpus]) != "gres/gpu") ++gpus;
  if (gpus == message.tres_cnt) return limits;  // AccountingStorageTRES names none
  const auto limit = [gpus](const std::uint64_t* of) {
    return of == nullptr ? std::nullopt : GpuLimitOf(of[gpus]);
  };
  ForEach(message.assoc_list, [&](void* item) {
    const auto& one = *static_cast<slurmdb_assoc_rec_t*>(item);
    limits.associations.push_back({.account = Text(one.acct),
                                   .user = Text(one.user),
                                   .partition = Text(one.partition),
                                   .parent = Text(one.parent_acct),
                                   .together = limit(one.grp_tres_ctld),
                                   .a_job = limit(one.max_tres_ctld)});
  });
  ForEach(message.qos_list, [&](void* item) {
    const auto& one = *static_cast<slurmdb_qos_rec_t*>(item);
    limits.qos.push_back({.name = Text(one.name),
                          .together = limit(one.grp_tres_ctld),
                          .a_user = limit(one.max_tres_pu_ctld),
                          .an_account = limit(one.max_tres_pa_ctld),
                          .a_job = limit(one.max_tres_pj_ctld)});
  });
  return limits;
}

void ReadSlurmSettings(const slurm_conf_t& configuration, const partition_info_msg_t& partitions,
                       SlurmSettings* settings) {
  // Of the headers: the library loads by a name that is of its release.
  constexpr long kLibrary = SLURM_VERSION_NUMBER;
  settings->version = Text(configuration.version);
  settings->library = fmt::format("{}.{:02}.{}", SLURM_VERSION_MAJOR(kLibrary),
                                  SLURM_VERSION_MINOR(kLibrary), SLURM_VERSION_MICRO(kLibrary));
  settings->api = "libslurm";
  if (configuration.control_cnt > 0) settings->address = Text(configuration.control_addr[0]);
  settings->user_id = configuration.slurm_user_id;
  settings->user = Text(configuration.slurm_user_name);
  settings->scheduler = Text(configuration.schedtype);
  settings->scheduler_parameters = Text(configuration.sched_params);
  settings->select = Text(configuration.select_type);
  settings->job_submit = Text(configuration.job_submit_plugins);
  settings->accounting = Text(configuration.accounting_storage_type);
  settings->state_folder = Text(configuration.state_save_location);
  settings->priority = Text(configuration.priority_type);
  for (const std::uint32_t weight :
       {configuration.priority_weight_age, configuration.priority_weight_assoc,
        configuration.priority_weight_fs, configuration.priority_weight_js,
        configuration.priority_weight_part, configuration.priority_weight_qos}) {
    settings->priority_weights += weight;
  }
  settings->requeue = configuration.job_requeue != 0;
  settings->appends_output = configuration.job_file_append != 0;
  settings->kill_wait = configuration.kill_wait;
  constexpr std::uint16_t kLimits = 2;  // ACCOUNTING_ENFORCE_LIMITS, which no header declares
  settings->enforces_limits = (configuration.accounting_storage_enforce & kLimits) != 0;
  settings->memory = MemoryOf(configuration);
  for (std::uint32_t i = 0; i < partitions.record_count; ++i) {
    const partition_info_t& one = partitions.partition_array[i];
    const bool of_its_own = settings->memory != SlurmMemory::kNotCounted &&
                            HasDefaultMemory(one.def_mem_per_cpu, one.job_defaults_list);
    settings->partitions.push_back({Text(one.name), (one.state_up & PARTITION_SCHED) != 0,
                                    of_its_own ? SlurmMemory::kByDefault : settings->memory});
  }
}

}  // namespace allot
