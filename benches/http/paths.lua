-- Asks the paths of the file that PATHS names, one after the other, with the key that KEY holds.
local paths = {}
for line in io.lines(os.getenv("PATHS")) do
  paths[#paths + 1] = line
end
local headers = { ["Authorization"] = "Bearer " .. os.getenv("KEY") }
local next_path = 0

function request()
  next_path = next_path % #paths + 1
  return wrk.format("GET", paths[next_path], headers)
end

function done(summary, latency)
  io.write(string.format("RESULT %.1f %.3f %.3f %d\n", summary.requests / (summary.duration / 1e6),
    latency:percentile(50) / 1000, latency:percentile(99) / 1000, summary.errors.status))
end
