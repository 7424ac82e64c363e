-- Load on a gateway: the request in the file REQUEST, again and again. If NEW_EVERY is set, one of so
-- many requests is one that nobody has asked before: its word NUMBER is replaced by a number.

local file = io.open(os.getenv("REQUEST"))
local body = file:read("*a")
file:close()
local new_every = tonumber(os.getenv("NEW_EVERY"))
local count, threads = 0, 0

wrk.method = "POST"
wrk.headers["Content-Type"] = "application/json"
wrk.headers["Authorization"] = "Bearer " .. os.getenv("TOKEN")
wrk.body = body

function setup(thread)
   threads = threads + 1
   thread:set("thread_number", threads)
end

if new_every then
   request = function()
      count = count + 1
      if count % new_every > 0 then return wrk.format() end
      local number = string.format("%d.%d.%d", os.time(), thread_number, count)
      return wrk.format(nil, nil, nil, (body:gsub("NUMBER", number)))
   end
end

function done(summary)
   local errors = summary.errors
   local failed = errors.connect + errors.read + errors.write + errors.status + errors.timeout
   print(string.format("bench: %d requests, %d us, %d failed", summary.requests, summary.duration, failed))
end
