-- Repeats one request: the tool call in CALL, or else the path in PATH_ASKED with a parameter that the service ignores,
-- so that the response is computed each time, as that of a tool is, and never comes from the cache.
local headers = { ["Authorization"] = "Bearer " .. os.getenv("KEY") }
local call = os.getenv("CALL")
local message
local path
local count = 0

function init()
  if call then
    headers["Content-Type"] = "application/json"
    headers["Accept"] = "application/json, text/event-stream"
    message = wrk.format("POST", "/api/mcp", headers, call)
  else
    path = os.getenv("PATH_ASKED")
    path = path .. (path:find("?", 1, true) and "&" or "?") .. "_=" .. os.time() .. "."
  end
end

function request()
  if message then
    return message
  end
  count = count + 1
  return wrk.format("GET", path .. count, headers)
end

function done(summary)
  io.write(string.format("RESULT %d %d %d\n", summary.requests, summary.errors.status, summary.bytes))
end
