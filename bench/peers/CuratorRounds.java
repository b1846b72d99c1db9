/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.io.PrintWriter;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.TimeUnit;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.CuratorFrameworkFactory;
import org.apache.curator.framework.recipes.locks.InterProcessLock;
import org.apache.curator.framework.recipes.locks.InterProcessMutex;
import org.apache.curator.framework.recipes.locks.InterProcessReadWriteLock;
import org.apache.curator.retry.RetryNTimes;

/** Curator's side of `./dev bench lock`, by the protocol of bench/lock/rounds.h: InterProcessMutex, or
 * InterProcessReadWriteLock with the kinds of bench/lock/ours.c. */
public final class CuratorRounds {
    private static final int HOLDS_MAX = 1 << 18;

    /** One contender: a client, and so a session, of its own. */
    private static final class Contender {
        private final CuratorFramework client;
        private final InterProcessLock lock;
        private final long[] granted = new long[HOLDS_MAX];
        private final long[] released = new long[HOLDS_MAX];
        private int count;
        private long begunNs;
        private long endedNs;
        private Exception error;

        private static InterProcessLock lockOf(CuratorFramework client, String kind, boolean first) {
            if (kind.equals("mutex")) {
                return new InterProcessMutex(client, "/bench/curator");
            }
            InterProcessReadWriteLock both = new InterProcessReadWriteLock(client, "/bench/curator-" + kind);
            boolean writes = kind.equals("write") || (kind.equals("mixed") && first);
            return writes ? both.writeLock() : both.readLock();
        }

        Contender(String hosts, String kind, boolean first) throws Exception {
            client = CuratorFrameworkFactory.newClient(hosts, 30000, 20000, new RetryNTimes(3, 100));
            client.start();
            if (!client.blockUntilConnected(20, TimeUnit.SECONDS)) {
                throw new IllegalStateException("no connection");
            }
            lock = lockOf(client, kind, first);
            lock.acquire();
            lock.release();
        }

        private void contend(CyclicBarrier start, long lengthNs) {
            count = 0;
            error = null;
            try {
                start.await();
                begunNs = System.nanoTime();
                do {
                    lock.acquire();
                    granted[count] = System.nanoTime();
                    released[count] = System.nanoTime();
                    lock.release();
                    count++;
                    endedNs = System.nanoTime();
                } while (endedNs - begunNs < lengthNs && count < HOLDS_MAX);
            } catch (Exception e) {
                error = e;
            }
        }
    }

    private static void run(List<Contender> contenders, long lengthNs) throws Exception {
        CyclicBarrier start = new CyclicBarrier(contenders.size());
        List<Thread> threads = new ArrayList<>();
        for (Contender contender : contenders) {
            Thread thread = new Thread(() -> contender.contend(start, lengthNs));
            thread.start();
            threads.add(thread);
        }
        for (Thread thread : threads) {
            thread.join();
        }
        for (Contender contender : contenders) {
            if (contender.error != null) {
                throw contender.error;
            }
        }
    }

    private static void writeHolds(List<Contender> contenders, String path) throws Exception {
        try (PrintWriter file = new PrintWriter(path)) {
            for (Contender contender : contenders) {
                for (int i = 0; i < contender.count; i++) {
                    file.println(contender.granted[i] + " " + contender.released[i]);
                }
            }
        }
    }

    private static void tell(List<Contender> contenders) {
        long begunNs = Long.MAX_VALUE;
        long endedNs = Long.MIN_VALUE;
        long locks = 0;
        for (Contender contender : contenders) {
            begunNs = Math.min(begunNs, contender.begunNs);
            endedNs = Math.max(endedNs, contender.endedNs);
            locks += contender.count;
        }
        System.out.println(locks + " " + (endedNs - begunNs));
    }

    public static void main(String[] args) throws Exception {
        if (args.length != 2 && args.length != 3) {
            System.err.println("usage: CuratorRounds HOST:PORT CONTENDERS [mutex | read | write | mixed]");
            System.exit(2);
        }
        List<Contender> contenders = new ArrayList<>();
        for (int i = 0; i < Integer.parseInt(args[1]); i++) {
            contenders.add(new Contender(args[0], args.length == 3 ? args[2] : "mutex", i == 0));
        }
        System.out.println("ready");
        BufferedReader input = new BufferedReader(new InputStreamReader(System.in));
        for (String line = input.readLine(); line != null && !line.equals("quit"); line = input.readLine()) {
            String[] words = line.split(" ");
            List<Contender> part = contenders.subList(0, Integer.parseInt(words[0]));
            run(part, Long.parseLong(words[1]) * 1000000);
            writeHolds(part, words[2]);
            tell(part);
        }
        for (Contender contender : contenders) {
            contender.client.close();
        }
        System.exit(0);
    }
}
