-- A free lock gets an owner and a lease, and its counter one more.
if redis.call('exists', KEYS[1]) == 0 then
    redis.call('hset', KEYS[1], 'owner', ARGV[1], 'depth', 1)
    redis.call('pexpire', KEYS[1], 1000)
    return redis.call('incr', KEYS[1] .. ':fence')
end
return {redis.call('hget', KEYS[1], 'owner'), redis.call('pttl', KEYS[1])}
