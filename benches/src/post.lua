-- Posts a keyword that nobody posted before: prefix of the run, number of the thread, count.
local threads = 0

function setup(thread)
  thread:set("number", threads)
  threads = threads + 1
end

function init(args)
  prefix = args[1]
  keyed = args[2] == "keyed"
  count = 0
  wrk.method = "POST"
  wrk.headers["Content-Type"] = "application/json"
end

function request()
  count = count + 1
  local body = string.format(
    '{"keyword":"%s keyword %d of thread %d","searchVolume":%d,"keywordDifficulty":%d,"intent":"informational"}',
    prefix, count, number, count % 5000, count % 101)
  if keyed then
    wrk.headers["Idempotency-Key"] = string.format("%s-%d-%d", prefix:gsub(" ", "-"), number, count)
  end
  return wrk.format(nil, nil, nil, body)
end
