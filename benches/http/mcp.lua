-- Asks one question all the time: as a tool call where CALL holds its message, else by the path PATH.
local headers = { ["Authorization"] = "Bearer " .. os.getenv("KEY") }
local call = os.getenv("CALL")
local message

function init()
  if call then
    headers["Content-Type"] = "application/json"
    headers["Accept"] = "application/json, text/event-stream"
    message = wrk.format("POST", "/api/mcp", headers, call)
  else
    message = wrk.format("GET", os.getenv("PATH_ASKED"), headers)
  end
end

function request()
  return message
end

function done(summary)
  io.write(string.format("RESULT %d %d %d\n", summary.requests, summary.errors.status, summary.bytes))
end
