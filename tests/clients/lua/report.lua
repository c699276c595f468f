-- What every Lua program of tests/clients shares: its orders and its report.
-- The lines it writes are described in harness/session.py.

local M = {
  port = tonumber(os.getenv("CLIENTS_PORT")),
  is_weir = os.getenv("CLIENTS_SERVER") == "weir",
  is_durable = os.getenv("CLIENTS_DURABLE") == "1",
}

io.stdout:setvbuf("line")

local function shown(value)
  if type(value) ~= "table" then return tostring(value) end
  local parts = {}
  for index = 1, #value do parts[index] = shown(value[index]) end
  return "{" .. table.concat(parts, ", ") .. "}"
end

function M.say(line) print(line) end

function M.expect(got, wanted, what)
  if shown(got) == shown(wanted) then return end
  error(("%s %s, wanted %s"):format(what or "got", shown(got), shown(wanted)):sub(1, 600), 2)
end

function M.expect_between(low, got, high, what)
  if type(got) == "number" and low <= got and got <= high then return end
  error(("%s %s, wanted %s to %s"):format(what or "got", shown(got), low, high), 2)
end

-- What the library raises, with the server's words in it.
function M.expect_error(text, call)
  local ok, problem = pcall(call)
  if ok then error("no error, wanted one with " .. text, 2) end
  if not tostring(problem):find(text, 1, true) then
    error(("the error says %s, wanted %s"):format(tostring(problem), text), 2)
  end
end

-- A skip is a table with its reason.
function M.check(name, body)
  local ok, problem = pcall(body)
  if ok then
    print("ok " .. name)
  elseif type(problem) == "table" then
    print(("skip %s: %s"):format(name, problem.skip))
  else
    print(("not ok %s: %s"):format(name, tostring(problem):gsub("%s+", " ")))
  end
end

function M.need_weir()
  if not M.is_weir then error({ skip = "Redis has no CL.THROTTLE" }) end
end

function M.need_durable()
  if not M.is_durable then error({ skip = "the server keeps nothing over a restart" }) end
end

-- Has the server killed and started again; returns when it answers.
function M.restart_server()
  print("restart")
  if not io.read("*l") then error("the server did not come back") end
end

return M
