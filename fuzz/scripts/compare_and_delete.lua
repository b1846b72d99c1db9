-- A lock is given back by its owner alone.
if redis.call('get', KEYS[1]) == ARGV[1] then
    return redis.call('del', KEYS[1])
end
redis.call('set', KEYS[1], ARGV[1])
return 0
