-- Patterns, formats and tables.
local words = {}
for word in string.gmatch('a b,c ' .. ARGV[1], '[^%s,]+') do
    words[#words + 1] = string.format('%5s|%d', word, #words)
end
table.sort(words, function(a, b) return a > b end)
return {table.concat(words, ' '), string.rep('x', 40), redis.sha1hex(ARGV[1])}
