-- Gaps: pauses of the sweeps. Redis or all processes were away then, so no heartbeat could come either, and a lease
-- that ended meanwhile says nothing of its holder.

-- A holder that is alive is heard of this often in its lease.
local HEARTBEATS = 4

-- Notes the gap that ends now as { end, length }. A shorter one does not push out a longer one while that matters.
local function note_gap(length)
  local packed = redis.call('HGET', jobKey, 'gap')
  local noted = packed and cmsgpack.unpack(packed)
  if noted and noted[2] > length and now() < noted[1] + HEARTBEATS * noted[2] then return end
  redis.call('HSET', jobKey, 'gap', cmsgpack.pack({ now(), length }))
end

local function last_gap()
  local packed = redis.call('HGET', jobKey, 'gap')
  return packed and cmsgpack.unpack(packed)
end

-- Gives a lease that is over one whole length from the end of the gap, if its holder may have missed a heartbeat for
-- that gap. Once only until it is heard of again, or slow sweeps would put its end off for ever: half a millisecond
-- marks the lease. Returns true when it did.
local function put_off(gap, id, leaseUntil, leaseMs, intervalMs)
  if not gap or leaseUntil % 1 ~= 0 then return false end
  -- The sweeps stop up to an interval before and after what stopped them.
  if gap[2] - intervalMs <= leaseMs / HEARTBEATS or now() >= gap[1] + leaseMs then return false end
  redis.call('ZADD', leaseKey, int(gap[1] + leaseMs) .. '.5', id)
  return true
end
