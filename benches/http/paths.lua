-- Asks the paths of the file that PATHS names, one after the other, with the key in KEY. With FRESH each gets a
-- parameter of its own, which the service ignores, so that no response comes from the cache. SKIP paths are left out at
-- the beginning.
local paths = {}
for line in io.lines(os.getenv("PATHS")) do
  paths[#paths + 1] = line
end
local headers = { ["Authorization"] = "Bearer " .. os.getenv("KEY") }
local next_path = tonumber(os.getenv("SKIP") or 0)
local fresh = os.getenv("FRESH")
local started = os.time() .. "."

function request()
  next_path = next_path + 1
  local path = paths[(next_path - 1) % #paths + 1]
  if fresh then
    path = path .. (path:find("?", 1, true) and "&" or "?") .. "_=" .. started .. next_path
  end
  return wrk.format("GET", path, headers)
end

function done(summary, latency)
  io.write(string.format("RESULT %.1f %.3f %.3f %d %d\n", summary.requests / (summary.duration / 1e6),
    latency:percentile(50) / 1000, latency:percentile(99) / 1000, summary.errors.status, summary.requests))
end
