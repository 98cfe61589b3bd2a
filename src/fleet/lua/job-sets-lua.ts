/** So many at a time, but no more than are left to complete. */
const JOB_PODS = `
local function jobPods(root, spec)
  local parallelism = count(root, joined(spec, { "parallelism" }), 1)
  return math.min(parallelism, count(root, joined(spec, { "completions" }), parallelism))
end
`;

export const JOB = `${JOB_PODS}
local function computed(obj, _, found)
  local template = object(at(obj, { "spec", "template" }))
  local name = text(at(template, { "metadata", "name" }))
  if name == "" then name = "main" end
  found[#found + 1] = {
    name = name,
    template = template,
    replicas = jobPods(obj, { "spec" }),
    count = { "spec", "parallelism" },
  }
end
`;

export const JOB_SET = `${JOB_PODS}
local function computed(obj, _, found)
  local jobs = { "spec", "replicatedJobs" }
  for index, item in ipairs(items(obj, jobs)) do
    local here = joined(jobs, { index })
    local number = joined(here, { "replicas" })
    local each = jobPods(obj, joined(here, { "template", "spec" }))
    found[#found + 1] = {
      name = named(item.name, "job", index),
      template = object(at(item, { "template", "spec", "template" })),
      replicas = product(number, count(obj, number, 1) * each),
      count = number,
      per = each,
    }
  end
end
`;

/** Of each group one leader and `size - 1` workers; without a template of its own the leader has the workers'. */
export const LEADER_WORKER_SET = `
local function computed(obj, _, found)
  local number, group = { "spec", "replicas" }, { "spec", "leaderWorkerTemplate" }
  local groups = count(obj, number, 1)
  local workers = math.max(count(obj, joined(group, { "size" }), 1) - 1, 0)
  local ofWorker = object(at(obj, joined(group, { "workerTemplate" })))
  local ofLeader = object(at(obj, joined(group, { "leaderTemplate" }))) or ofWorker
  found[#found + 1] = { name = "leader", template = ofLeader, replicas = groups, count = number, per = 1 }
  if workers == 0 then return end
  found[#found + 1] = {
    name = "worker",
    template = ofWorker,
    replicas = product(number, groups * workers),
    count = number,
    per = workers,
  }
end
`;
