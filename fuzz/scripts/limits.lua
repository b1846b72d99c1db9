-- A script that would go on for ever, and takes memory: it is stopped.
local texts = {}
while true do
    texts[#texts + 1] = string.rep(ARGV[1], 1000) .. #texts
end
