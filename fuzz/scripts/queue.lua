-- Waiters stand in a list; the first one is told over a channel.
redis.call('rpush', KEYS[1], ARGV[1])
local first = redis.call('lrange', KEYS[1], 0, 1)
redis.call('publish', 'c', first[1])
return {#first, first, redis.call('lpop', KEYS[1])}
