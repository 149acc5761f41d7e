-- Lies beside slurm.conf, which says JobSubmitPlugins=lua. Whatever a user submits waits in the
-- partition that only allot's daemon empties; users cannot move a job, or give it GPUs, themselves.
-- Root and the user that slurmctld runs as (SlurmUser: the daemon) may do everything.

local WAITING = "elastic"

local function slurm_user()
  for line in io.lines("/proc/self/status") do
    local uid = line:match("^Uid:%s+%d+%s+(%d+)")
    if uid then return tonumber(uid) end
  end
  return 0
end

local daemon = slurm_user()

local function trusted(uid)
  return uid == 0 or uid == daemon
end

-- What the daemon writes on the jobs that are workers.
local function forged(comment)
  return comment ~= nil and comment:match("^%s*elastic%-of:") ~= nil
end

-- Fields that are not named have Slurm's largest numbers but one; lists are nil.
local function named(value)
  return value ~= nil and value ~= 0xFE and value ~= 0xFFFE and value ~= 0xFFFFFFFE and value ~= 2^64 and value ~= -2
end

local SHARED = 1 -- --oversubscribe. Any other number asks for nodes: newer releases have new ones

-- "gres:gpu:2", "cpu=8,gres/gpu:2": newer releases write --cpus-per-task there, too.
local function has_gres(tres)
  return tres ~= nil and tres:find("gres", 1, true) ~= nil
end

-- What Slurm would give beside the GPUs that allot gives; why it is refused, or nil.
local function refused(job)
  if has_gres(job.tres_per_job) or has_gres(job.tres_per_task) or has_gres(job.tres_per_socket) then
    return "ask for GPUs by --gres=gpu:N or in the comment, not by --gpus, --gpus-per-task or --gpus-per-socket"
  end
  if named(job.shared) and job.shared ~= SHARED then return "allot gives GPUs, not whole nodes: submit without --exclusive" end
  if job.min_mem_per_node == 0 or job.min_mem_per_cpu == 0 then return "allot gives GPUs, not whole nodes: submit without --mem=0" end
  if job.req_nodes ~= nil then return "allot chooses the nodes: submit without --nodelist" end
  return nil
end

function slurm_job_submit(job, partitions, uid)
  if trusted(uid) then return slurm.SUCCESS end
  if forged(job.comment) then
    slurm.log_user("a comment that begins with elastic-of: is allot's")
    return slurm.ERROR
  end
  if job.partition ~= nil and job.partition ~= WAITING then
    slurm.log_user("partition %s is allot's: the job waits in %s", job.partition, WAITING)
  end
  job.partition = WAITING
  local why = refused(job)
  if why ~= nil then
    slurm.log_user("%s", why)
    return slurm.ERROR
  end
  return slurm.SUCCESS
end

-- What decides where and how large a job runs. A user may still change the rest of his own job: hold
-- and release it, its name, its time limit, its comment while it waits.
local DECIDED = { "partition", "req_nodes", "exc_nodes", "min_nodes", "max_nodes", "gres", "tres_per_node",
                  "tres_per_job", "tres_per_task", "tres_per_socket", "shared", "min_mem_per_node",
                  "min_mem_per_cpu", "features", "contiguous", "min_cpus", "max_cpus", "num_tasks",
                  "cpus_per_task", "pn_min_cpus", "reservation" }

function slurm_job_modify(job, record, partitions, uid)
  if trusted(uid) then return slurm.SUCCESS end
  if job.comment ~= nil and record.partition ~= WAITING then
    slurm.log_user("the comment of a job that was placed is allot's")
    return slurm.ERROR
  end
  if forged(job.comment) then
    slurm.log_user("a comment that begins with elastic-of: is allot's")
    return slurm.ERROR
  end
  for _, field in ipairs(DECIDED) do
    if named(job[field]) then
      slurm.log_user("'%s' of a job is decided by allot", field)
      return slurm.ERROR
    end
  end
  return slurm.SUCCESS
end

return slurm.SUCCESS
