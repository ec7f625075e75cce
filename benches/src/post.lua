-- Posts a keyword that nobody posted before: prefix of the run, number of the thread, count.
local threads = 0

function setup(thread)
  thread:set("number", threads)
  threads = threads + 1
end

function init(args)
  prefix = args[1]
  count = 0
  wrk.method = "POST"
  wrk.headers["Content-Type"] = "application/json"
end

function request()
  count = count + 1
  local body = string.format(
    '{"keyword":"%s keyword %d of thread %d","searchVolume":%d,"keywordDifficulty":%d,"intent":"informational"}',
    prefix, count, number, count % 5000, count % 101)
  return wrk.format(nil, nil, nil, body)
end
