// SPDX-License-Identifier: Apache-2.0
// Copyright the lockstep authors

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.FileTime;
import java.util.Collection;
import java.util.Comparator;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.CuratorFrameworkFactory;
import org.apache.curator.framework.recipes.leader.LeaderLatch;
import org.apache.curator.framework.recipes.leader.LeaderSelector;
import org.apache.curator.framework.recipes.leader.LeaderSelectorListenerAdapter;
import org.apache.curator.framework.recipes.leader.Participant;
import org.apache.curator.framework.recipes.locks.InterProcessLock;
import org.apache.curator.framework.recipes.locks.InterProcessMultiLock;
import org.apache.curator.framework.recipes.locks.InterProcessMutex;
import org.apache.curator.framework.recipes.locks.InterProcessReadWriteLock;
import org.apache.curator.framework.recipes.locks.InterProcessSemaphoreV2;
import org.apache.curator.framework.recipes.locks.Lease;
import org.apache.curator.framework.recipes.locks.Revoker;
import org.apache.curator.retry.RetryForever;

/** What contender.c does, with Curator's InterProcessMutex, InterProcessReadWriteLock, InterProcessSemaphoreV2,
 * InterProcessMultiLock, LeaderLatch and LeaderSelector. No writer stays as a reader: in Curator 5.4
 * it would be overtaken by a writer that waits. */
public final class CuratorContender {
    private static final int SESSION_MS = 2000;
    private static final int CAPACITY = 3;

    private final CuratorFramework client;
    private final String path;
    private final InterProcessMutex mutex;
    private final InterProcessReadWriteLock both;
    private final InterProcessSemaphoreV2 semaphore;

    private CuratorContender(String hosts, String path) {
        client = CuratorFrameworkFactory.newClient(hosts, SESSION_MS, SESSION_MS, new RetryForever(100));
        client.start();
        this.path = path;
        mutex = new InterProcessMutex(client, path);
        both = new InterProcessReadWriteLock(client, path);
        semaphore = new InterProcessSemaphoreV2(client, path, CAPACITY);
    }

    // ---- the room: a file that is there while a contender is inside, with its process id ----

    private static void addLine(Path file, String line) throws IOException {
        Files.write(file, (line + "\n").getBytes(StandardCharsets.UTF_8), StandardOpenOption.CREATE, StandardOpenOption.APPEND);
    }

    /** Alive, and no zombie. */
    private static boolean isAlive(String pid) {
        try {
            String stat = Files.readString(Path.of("/proc", pid, "stat"));
            return !stat.substring(stat.lastIndexOf(')')).startsWith(") Z");
        } catch (IOException gone) {
            return false;
        }
    }

    /** A contender that was killed inside has left the file. Linking set the file's ctime: since then it is inside. */
    private static void lookWhoIsInside(Path room, String name) throws IOException {
        Path busy = room.resolve("busy");
        String inside;
        FileTime since;
        try {
            since = (FileTime) Files.getAttribute(busy, "unix:ctime");
            inside = Files.readString(busy);
        } catch (NoSuchFileException gone) {
            return;
        }
        if (isAlive(inside)) {
            long ms = System.currentTimeMillis() - since.toMillis();
            addLine(room.resolve("overlaps"), name + " met " + inside + ", inside for " + ms + " ms");
        }
    }

    /** Makes the file with this process id that is linked to "busy". A reader of "busy" finds it whole: a contender that
     * is killed while it writes has not come in yet. */
    private static Path prepareEntry(Path room) throws IOException {
        String pid = Long.toString(ProcessHandle.current().pid());
        Path entry = room.resolve("entry-" + pid);
        if (!Files.exists(entry)) {
            Files.write(entry, pid.getBytes(StandardCharsets.UTF_8), StandardOpenOption.CREATE_NEW);
        }
        return entry;
    }

    private static void enterRoom(Path room, String name, long token) throws IOException {
        Path busy = room.resolve("busy");
        Path entry = prepareEntry(room);
        try {
            Files.createLink(busy, entry);
        } catch (FileAlreadyExistsException somebody) {
            lookWhoIsInside(room, name);
            Path next = Files.createLink(room.resolve(entry.getFileName() + "-next"), entry);
            Files.move(next, busy, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
        }
        addLine(room.resolve("log"), name + " " + token);
    }

    // ---- what it does ----

    /** The first in the queue is the holder: this contender. */
    private long token() throws Exception {
        String own = mutex.getParticipantNodes().iterator().next();
        return client.checkExists().forPath(own).getCzxid();
    }

    private void contend(Path room, String name, int seconds) throws Exception {
        long end = System.nanoTime() + seconds * 1_000_000_000L;
        while (System.nanoTime() < end) {
            mutex.acquire();
            try {
                enterRoom(room, name, token());
                Thread.sleep(2);
                Files.deleteIfExists(room.resolve("busy"));
            } finally {
                mutex.release();
            }
        }
    }

    // ---- the same room with readers in it: a file for each of them, "reader-" and its process id ----

    private static void readOnce(InterProcessMutex readers, Path room, String name) throws Exception {
        Path file = room.resolve("reader-" + ProcessHandle.current().pid());
        readers.acquire();
        try {
            Files.write(file, new byte[0]);
            lookWhoIsInside(room, name);
            addLine(room.resolve("readers"), name);
            Thread.sleep(2);
            Files.deleteIfExists(file);
        } finally {
            readers.release();
        }
    }

    private void writeOnce(InterProcessMutex writers, Path room, String name) throws Exception {
        writers.acquire();
        try {
            String own = writers.getParticipantNodes().iterator().next();
            enterRoom(room, name, client.checkExists().forPath(own).getCzxid());
            try (DirectoryStream<Path> readers = Files.newDirectoryStream(room, "reader-*")) {
                for (Path reader : readers) {
                    if (isAlive(reader.getFileName().toString().substring("reader-".length()))) {
                        addLine(room.resolve("overlaps"), reader.getFileName().toString());
                    }
                }
            }
            Thread.sleep(2);
            Files.deleteIfExists(room.resolve("busy"));
        } finally {
            writers.release();
        }
    }

    private void share(Path room, String name, int seconds) throws Exception {
        Random random = new Random();
        long end = System.nanoTime() + seconds * 1_000_000_000L;
        while (System.nanoTime() < end) {
            if (random.nextInt(10) < 5) {
                readOnce(both.readLock(), room, name);
            } else {
                writeOnce(both.writeLock(), room, name);
            }
        }
    }

    /** One lease at a time: two that are taken one by one may wait for each other. */
    private void lease(Path room, String name, int seconds) throws Exception {
        Path file = room.resolve("lease-" + ProcessHandle.current().pid() + "-0");
        long end = System.nanoTime() + seconds * 1_000_000_000L;
        while (System.nanoTime() < end) {
            Lease lease = semaphore.acquire();
            try {
                Files.write(file, new byte[0]);
                int inside = 0;
                try (DirectoryStream<Path> leases = Files.newDirectoryStream(room, "lease-*")) {
                    for (Path one : leases) {
                        inside += isAlive(one.getFileName().toString().split("-")[1]) ? 1 : 0;
                    }
                }
                if (inside > CAPACITY) {
                    addLine(room.resolve("overlaps"), "leases");
                }
                addLine(room.resolve("readers"), name);
                Thread.sleep(2);
                Files.deleteIfExists(file);
            } finally {
                semaphore.returnLease(lease);
            }
        }
    }

    /** Both locks, or the second one alone. */
    private void several(Path room, String name, int seconds) throws Exception {
        InterProcessMutex first = new InterProcessMutex(client, path + "/x");
        InterProcessMutex second = new InterProcessMutex(client, path + "/y");
        InterProcessLock together = new InterProcessMultiLock(List.of(first, second));
        Random random = new Random();
        long end = System.nanoTime() + seconds * 1_000_000_000L;
        while (System.nanoTime() < end) {
            InterProcessLock lock = random.nextInt(3) == 0 ? second : together;
            lock.acquire();
            try {
                String own = second.getParticipantNodes().iterator().next();
                enterRoom(room, name, client.checkExists().forPath(own).getCzxid());
                Thread.sleep(2);
                Files.deleteIfExists(room.resolve("busy"));
            } finally {
                lock.release();
            }
        }
    }

    // ---- elections ----

    /** The number that the server has appended to a name. */
    private static String sequence(String name) {
        return name.substring(name.length() - 10);
    }

    /** The first of the candidates is the leader: this contender. */
    private long tokenOfLeader() throws Exception {
        String first = client.getChildren().forPath(path).stream().min(Comparator.comparing(CuratorContender::sequence)).get();
        return client.checkExists().forPath(path + "/" + first).getCzxid();
    }

    private void takeTerm(Path room, String name) throws Exception {
        enterRoom(room, name, tokenOfLeader());
        Thread.sleep(2);
        Files.deleteIfExists(room.resolve("busy"));
    }

    private void latch(Path room, String name, int seconds) throws Exception {
        long end = System.nanoTime() + seconds * 1_000_000_000L;
        while (System.nanoTime() < end) {
            try (LeaderLatch latch = new LeaderLatch(client, path, name)) {
                latch.start();
                latch.await();
                takeTerm(room, name);
            }
        }
    }

    private void selector(Path room, String name, int seconds) throws Exception {
        LeaderSelector selector = new LeaderSelector(client, path, new LeaderSelectorListenerAdapter() {
            @Override
            public void takeLeadership(CuratorFramework unused) throws Exception {
                takeTerm(room, name);
            }
        });
        selector.setId(name);
        selector.autoRequeue();
        selector.start();
        Thread.sleep(seconds * 1000L);
        closeAndWait(selector, name);
    }

    /** Its node is deleted by another thread. */
    private static void closeAndWait(LeaderSelector selector, String id) throws Exception {
        selector.close();
        while (selector.getParticipants().stream().anyMatch(candidate -> candidate.getId().equals(id))) {
            Thread.sleep(10);
        }
    }

    private void holdLatch() throws Exception {
        try (LeaderLatch latch = new LeaderLatch(client, path, "curator")) {
            latch.start();
            latch.await();
            System.out.println("leads");
            System.in.read();
        }
    }

    private void holdSelector() throws Exception {
        CountDownLatch over = new CountDownLatch(1);
        LeaderSelector selector = new LeaderSelector(client, path, new LeaderSelectorListenerAdapter() {
            @Override
            public void takeLeadership(CuratorFramework unused) throws Exception {
                System.out.println("leads");
                over.await();
            }
        });
        selector.setId("curator");
        selector.start();
        System.in.read();
        over.countDown();
        closeAndWait(selector, "curator");
    }

    /** The id of the leader, and in the next lines the ids of all candidates. */
    private static void print(Participant leader, Collection<Participant> candidates) {
        System.out.println(leader.getId());
        for (Participant candidate : candidates) {
            System.out.println(candidate.getId());
        }
    }

    private void who(boolean latches) throws Exception {
        if (latches) {
            LeaderLatch latch = new LeaderLatch(client, path);
            print(latch.getLeader(), latch.getParticipants());
        } else {
            LeaderSelector selector = new LeaderSelector(client, path, new LeaderSelectorListenerAdapter() {
                @Override
                public void takeLeadership(CuratorFramework unused) {
                    throw new IllegalStateException("nobody stands here");
                }
            });
            print(selector.getLeader(), selector.getParticipants());
        }
    }

    private void list() throws Exception {
        for (String node : mutex.getParticipantNodes()) {
            System.out.println(node.substring(node.lastIndexOf('/') + 1));
        }
    }

    /** Holds the lock until somebody asks for it. */
    private void yield() throws Exception {
        CountDownLatch asked = new CountDownLatch(1);
        mutex.makeRevocable(lock -> asked.countDown());
        mutex.acquire();
        System.out.println("held");
        asked.await();
        mutex.release();
        System.out.println("given back");
    }

    /** Asks the holder for the lock, and takes it. */
    private void ask() throws Exception {
        Revoker.attemptRevoke(client, mutex.getParticipantNodes().iterator().next());
        if (!mutex.acquire(20, TimeUnit.SECONDS)) {
            throw new IllegalStateException("the holder does not give it back");
        }
        System.out.println("got it");
        mutex.release();
    }

    private void contendFor(String mode, Path room, String name, int seconds) throws Exception {
        switch (mode) {
            case "share": share(room, name, seconds); break;
            case "lease": lease(room, name, seconds); break;
            case "several": several(room, name, seconds); break;
            case "latch": latch(room, name, seconds); break;
            case "selector": selector(room, name, seconds); break;
            default: contend(room, name, seconds);
        }
    }

    private void act(String mode) throws Exception {
        switch (mode) {
            case "yield": this.yield(); break;
            case "ask": ask(); break;
            case "hold-latch": holdLatch(); break;
            case "hold-selector": holdSelector(); break;
            case "who-latch": who(true); break;
            case "who-selector": who(false); break;
            default: list();
        }
    }

    public static void main(String[] args) throws Exception {
        boolean contends = args.length == 6 && List.of("contend", "share", "lease", "several", "latch", "selector").contains(args[2]);
        if (!contends && !(args.length == 3 && List.of("list", "yield", "ask", "hold-latch", "hold-selector", "who-latch",
            "who-selector").contains(args[2]))) {
            System.err.println("usage: CuratorContender HOSTS PATH contend|share|lease|several|latch|selector ROOM NAME SECONDS\n"
                + "       CuratorContender HOSTS PATH list|yield|ask|hold-latch|hold-selector|who-latch|who-selector");
            System.exit(2);
        }
        CuratorContender contender = new CuratorContender(args[0], args[1]);
        if (contends) {
            contender.contendFor(args[2], Path.of(args[3]), args[4], Integer.parseInt(args[5]));
        } else {
            contender.act(args[2]);
        }
        contender.client.close();
    }
}
