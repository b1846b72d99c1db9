# SPDX-License-Identifier: Apache-2.0
# Copyright the lockstep authors

# What a campaign has reached over time; ./dev fuzz --plot sets map, situations, out and name.
set terminal svg size 760,420 font 'sans-serif,12' background rgb 'white'
set output out
set title name noenhanced
set xlabel 'minutes'
set ylabel 'reached'
set yrange [0:*]
set key bottom right
set grid
plot map using 1:2 with steps lw 2 title 'places in the map of the main instance', \
     situations using 1:2 with steps lw 2 title 'abstract situations, of all instances'
