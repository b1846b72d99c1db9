-- Each type of a reply, and arrays in arrays.
return {1, 'text', false, true, {ok = 'fine'}, {err = 'MY error'}, {{{1.9, -7}}}, {}, nil, 'not seen'}
