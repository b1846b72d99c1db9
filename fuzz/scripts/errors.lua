-- Errors that are caught, and one that is not.
local ok, why = pcall(redis.call, 'incr', KEYS[1])
local reply = redis.pcall('hget', KEYS[1], 'field')
redis.call('set', KEYS[1], tostring(ok) .. type(why) .. type(reply))
error({err = 'END ' .. ARGV[1]})
