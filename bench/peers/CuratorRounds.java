/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.io.PrintWriter;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.CuratorFrameworkFactory;
import org.apache.curator.framework.recipes.leader.LeaderLatch;
import org.apache.curator.framework.recipes.leader.LeaderSelector;
import org.apache.curator.framework.recipes.leader.LeaderSelectorListenerAdapter;
import org.apache.curator.framework.recipes.locks.InterProcessLock;
import org.apache.curator.framework.recipes.locks.InterProcessMultiLock;
import org.apache.curator.framework.recipes.locks.InterProcessMutex;
import org.apache.curator.framework.recipes.locks.InterProcessReadWriteLock;
import org.apache.curator.framework.recipes.locks.InterProcessSemaphoreV2;
import org.apache.curator.framework.recipes.locks.Lease;
import org.apache.curator.retry.RetryNTimes;

/** Curator's side of `./dev bench lock`, by the protocol of bench/lock/rounds.h, with the kinds of bench/lock/ours.c:
 * InterProcessMutex, InterProcessReadWriteLock, InterProcessSemaphoreV2, InterProcessMultiLock, LeaderLatch and LeaderSelector. */
public final class CuratorRounds {
    private static final int HOLDS_MAX = 1 << 18;
    private static final int LEASES = 3;

    /** A lock of any kind. */
    private interface Taken {
        void acquire() throws Exception;

        void release() throws Exception;
    }

    private static final class Exclusive implements Taken {
        private final InterProcessLock lock;

        Exclusive(InterProcessLock lock) {
            this.lock = lock;
        }

        @Override
        public void acquire() throws Exception {
            lock.acquire();
        }

        @Override
        public void release() throws Exception {
            lock.release();
        }
    }

    private static final class Leased implements Taken {
        private final InterProcessSemaphoreV2 semaphore;
        private Lease lease;

        Leased(CuratorFramework client, String path, int leases) {
            semaphore = new InterProcessSemaphoreV2(client, path, leases);
        }

        @Override
        public void acquire() throws Exception {
            lease = semaphore.acquire();
        }

        @Override
        public void release() {
            semaphore.returnLease(lease);
        }
    }

    /** A latch that is closed cannot be started again. */
    private static final class Latched implements Taken {
        private final CuratorFramework client;
        private final String path;
        private LeaderLatch latch;

        Latched(CuratorFramework client, String path) {
            this.client = client;
            this.path = path;
        }

        @Override
        public void acquire() throws Exception {
            latch = new LeaderLatch(client, path);
            latch.start();
            latch.await();
        }

        @Override
        public void release() throws Exception {
            latch.close();
        }
    }

    /** The selector's thread leads from acquire() to release(). */
    private static final class Selected implements Taken {
        private final Semaphore leads = new Semaphore(0);
        private final Semaphore over = new Semaphore(0);
        private final LeaderSelector selector;
        private boolean queued = true; // by start()

        Selected(CuratorFramework client, String path) {
            selector = new LeaderSelector(client, path, new LeaderSelectorListenerAdapter() {
                @Override
                public void takeLeadership(CuratorFramework unused) throws Exception {
                    leads.release();
                    over.acquire();
                }
            });
            selector.start();
        }

        /** It is not queued again before its node is deleted. Whoever is queued twice leads when nobody has asked. */
        @Override
        public void acquire() throws Exception {
            while (!queued) {
                queued = selector.requeue();
                TimeUnit.MICROSECONDS.sleep(queued ? 0 : 100);
            }
            leads.acquire();
            queued = false;
        }

        @Override
        public void release() {
            over.release();
        }
    }

    /** One contender: a client, and so a session, of its own. */
    private static final class Contender {
        private final CuratorFramework client;
        private final Taken lock;
        private final long[] granted = new long[HOLDS_MAX];
        private final long[] released = new long[HOLDS_MAX];
        private int count;
        private long begunNs;
        private long endedNs;
        private Exception error;

        private static Taken lockOf(CuratorFramework client, String kind, boolean first) {
            String path = "/bench/curator-" + kind;
            switch (kind) {
                case "mutex": return new Exclusive(new InterProcessMutex(client, path));
                case "read": return new Exclusive(new InterProcessReadWriteLock(client, path).readLock());
                case "write": return new Exclusive(new InterProcessReadWriteLock(client, path).writeLock());
                case "mixed": return mixed(client, path, first);
                case "lease": return new Leased(client, path, 1);
                case "leases": return new Leased(client, path, LEASES);
                case "several": return new Exclusive(new InterProcessMultiLock(client, List.of(path + "/0", path + "/1")));
                case "latch": return new Latched(client, path);
                case "selector": return new Selected(client, path);
                default: throw new IllegalArgumentException(kind);
            }
        }

        private static Taken mixed(CuratorFramework client, String path, boolean first) {
            InterProcessReadWriteLock both = new InterProcessReadWriteLock(client, path);
            return new Exclusive(first ? both.writeLock() : both.readLock());
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
            System.err.println("usage: CuratorRounds HOST:PORT CONTENDERS [mutex | read | write | mixed | lease | leases | several | latch | selector]");
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
