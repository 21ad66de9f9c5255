-- For wrk: requests of a thousand users in turn, made before the first is sent.
local requests, next_user = {}, 0

function init()
  for user = 0, 999 do
    requests[user] = wrk.format('GET', '/', { ['x-user'] = string.format('user-%07d', user) })
  end
end

function request()
  next_user = (next_user + 1) % 1000
  return requests[next_user]
end
