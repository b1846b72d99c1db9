# SPDX-License-Identifier: Apache-2.0
# Copyright the lockstep authors

"""usage: cutter.py SERVER_PORT MIN_S MAX_S SEED

A proxy on a loopback port of its own, which it prints first. It carries bytes to and from the server's port and, after a time
drawn between MIN_S and MAX_S, cuts one of its connections, at any byte, or now and then all of them. When it is ended it prints
how many it has cut.
"""
import asyncio
import random
import signal
import sys

pairs = set()
cuts = 0


def cut(pair):
    global cuts
    cuts += 1
    for writer in pair:
        writer.transport.abort()


async def carry(reader, writer):
    try:
        while data := await reader.read(65536):
            writer.write(data)
            await writer.drain()
    except OSError:
        pass
    finally:
        writer.close()


async def serve(server_port, reader, writer):
    try:
        to_reader, to_writer = await asyncio.open_connection("127.0.0.1", server_port)
    except OSError:
        writer.transport.abort()
        return
    pair = (writer, to_writer)
    pairs.add(pair)
    await asyncio.gather(carry(reader, to_writer), carry(to_reader, writer))
    pairs.discard(pair)


async def cut_for_ever(min_s, max_s, rng):
    while True:
        await asyncio.sleep(rng.uniform(min_s, max_s))
        chosen = list(pairs) if rng.random() < 0.2 else rng.sample(list(pairs), min(1, len(pairs)))
        for pair in chosen:
            cut(pair)


async def main():
    server_port, min_s, max_s, seed = int(sys.argv[1]), float(sys.argv[2]), float(sys.argv[3]), int(sys.argv[4])
    ended = asyncio.Event()
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, ended.set)
    server = await asyncio.start_server(lambda r, w: serve(server_port, r, w), "127.0.0.1", 0)
    print(server.sockets[0].getsockname()[1], flush=True)
    cutter = asyncio.create_task(cut_for_ever(min_s, max_s, random.Random(seed)))
    await ended.wait()
    cutter.cancel()
    print(cuts, flush=True)


if __name__ == "__main__":
    if len(sys.argv) != 5:
        sys.exit(__doc__)
    asyncio.run(main())
