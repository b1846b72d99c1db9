# SPDX-License-Identifier: Apache-2.0
# Copyright the lockstep authors

# What a former server grants is no claim beside that of its successor.
GROUP=coordredis
FILE=src/coordredis/key_holders.c
EDIT='s/struct share now = winner\(claim, true\), present/struct share now = winner(claim, false), present/'
EXPECT='^coordredis\.networks$'
