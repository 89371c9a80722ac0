package io.isobardb.lsm.simulation;

import io.isobardb.lsm.error.DiskFullException;
import io.isobardb.lsm.error.StoreLockedException;
import io.isobardb.lsm.io.DataFile;
import io.isobardb.lsm.io.DirectoryStorage;
import io.isobardb.lsm.io.Storage;
import io.isobardb.lsm.option.IoMode;
import io.isobardb.lsm.schedule.Awaited;
import io.isobardb.memory.page.Memory;
import java.io.IOException;
import java.nio.channels.ClosedChannelException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.NoSuchFileException;
import java.util.ArrayList;
import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.TreeMap;
import java.util.function.Consumer;
import java.util.zip.CRC32C;
import org.jspecify.annotations.Nullable;

/**
 * A disk in memory that forgets what was not synced.
 *
 * <p>At any moment {@link #crash} tells how the disk could look after power loss, and {@link #copy}
 * clones it as it is, unsynced state included. Operations are counted; a {@link FaultPlan} makes
 * chosen ones fail, and a capacity makes the disk full. A storage outlives the stores that use it:
 * after {@link #close} it can be locked and used again, as a directory can.
 *
 * <p>What is written is kept by the rules of POSIX and no more: data is durable after the file's
 * sync, a name after the directory's. A deleted file that is open stays readable; it is gone after
 * power loss.
 *
 * <p>Thread rule: any thread; one operation at a time.
 */
public final class SimulatedStorage implements Storage {
  private static final int STALE_BLOCKS = 64;

  private SimulatedClock clock;
  private final SimulatedDirectory directory;
  private final Set<SimulatedInode> open = Collections.newSetFromMap(new IdentityHashMap<>());
  private FaultPlan faults = FaultPlan.NONE;
  private @Nullable Consumer<SimulatedStorage> mutationHook;
  private long capacityBytes = Long.MAX_VALUE;
  private boolean supportsDirect = true;
  private boolean locked;
  private boolean lost;
  private int openFiles;
  private long operations;
  private long mutations;
  private long trace;

  /** An empty disk with a clock of its own. */
  public SimulatedStorage() {
    this(new SimulatedClock());
  }

  /** An empty disk; slow operations advance {@code clock}. */
  public SimulatedStorage(SimulatedClock clock) {
    this(clock, new SimulatedDirectory());
  }

  private SimulatedStorage(SimulatedClock clock, SimulatedDirectory directory) {
    this.clock = clock;
    this.directory = directory;
  }

  // The harness's side.

  /**
   * The disk as it could look after power loss now: a new storage, not locked, without open files,
   * faults or hook, where everything is durable. This one goes on unharmed.
   */
  public synchronized SimulatedStorage crash(SplittableRandom random, CrashMode mode) {
    captureMapped();
    long oldest = directory.oldestUnsynced(mutations);
    long moment = oldest + random.nextLong(mutations - oldest + 1);
    List<byte[]> stale = mode == CrashMode.RANDOM ? staleBlocks(random) : List.of();
    Map<String, SimulatedInode> survivors = new TreeMap<>();
    directory.crash(mode, moment, random).entrySet().stream()
        .sorted(Map.Entry.comparingByKey())
        .forEach(
            entry -> {
              SimulatedInode inode = entry.getValue();
              SimulatedContent content =
                  switch (mode) {
                    case ONLY_SYNCED -> inode.onlySynced();
                    case ALL -> inode.all();
                    case PREFIX -> inode.prefix(moment, random);
                    case RANDOM -> inode.random(random, stale);
                  };
              survivors.put(entry.getKey(), SimulatedInode.durable(content));
            });
    return successor(SimulatedDirectory.durable(survivors));
  }

  /** From now on a new clock counts, whose wall time goes on from that of the old one. */
  public synchronized SimulatedClock newClock() {
    SimulatedClock fresh = new SimulatedClock();
    fresh.jumpWall(clock.wallMillis() - fresh.wallMillis());
    clock = fresh;
    return fresh;
  }

  /**
   * The disk as it is, unsynced state included: a new storage, not locked, without open files,
   * faults or hook. This one goes on unharmed.
   */
  public synchronized SimulatedStorage copy() {
    captureMapped();
    return successor(directory.copy());
  }

  private SimulatedStorage successor(SimulatedDirectory names) {
    SimulatedStorage storage = new SimulatedStorage(clock, names);
    storage.capacityBytes = capacityBytes;
    storage.supportsDirect = supportsDirect;
    storage.mutations = mutations;
    return storage;
  }

  /** Takes over what was stored in mapped memory. */
  private void captureMapped() {
    for (SimulatedInode inode : open) {
      inode.capture(Math.max(0, mutations - 1));
    }
  }

  /** Old blocks of other files, which may show up where a file system forgot to zero. */
  private List<byte[]> staleBlocks(SplittableRandom random) {
    List<byte[]> stale = new ArrayList<>();
    for (SimulatedInode inode : directory.visible().values()) {
      SimulatedContent content = inode.visible();
      for (int i = 0; i < 4 && content.blockCount() > 0 && stale.size() < STALE_BLOCKS; i++) {
        stale.add(content.block(random.nextInt(content.blockCount())));
      }
    }
    return stale;
  }

  /** From now on, {@code plan} decides what fails. */
  public synchronized void faults(FaultPlan plan) {
    faults = plan;
  }

  /**
   * From now on, {@code hook} is called before each mutating operation, with this storage locked:
   * it may copy or crash it, and ask {@link #mutations}, but not change it.
   */
  public synchronized void onMutation(Consumer<SimulatedStorage> hook) {
    mutationHook = hook;
  }

  /** From now on, writes that need more blocks than fit into this fail. */
  public synchronized void capacityBytes(long bytes) {
    capacityBytes = bytes;
  }

  /** From now on another process has the directory: no sync succeeds, and {@link #ensureHeld}. */
  public synchronized void loseLock() {
    lost = true;
  }

  /** What {@link #supportsDirect()} says from now on; without it, direct opens fail. */
  public synchronized void supportsDirect(boolean supported) {
    supportsDirect = supported;
  }

  /** Bytes that files take, in whole blocks; a deleted file counts while it is open. */
  public synchronized long usedBytes() {
    long blocks = 0;
    for (SimulatedInode inode : directory.visible().values()) {
      blocks += inode.visible().allocatedBlocks();
    }
    for (SimulatedInode inode : open) {
      if (!directory.visible().containsValue(inode)) {
        blocks += inode.visible().allocatedBlocks();
      }
    }
    return blocks * SimulatedContent.BLOCK;
  }

  /** Files opened and not closed. */
  public synchronized int openFiles() {
    return openFiles;
  }

  /** Operations begun so far, which is the number of the next one. */
  public synchronized long operations() {
    return operations;
  }

  /** Mutating operations begun so far, which is the number of the next one. */
  public synchronized long mutations() {
    return mutations;
  }

  /** A hash over all operations so far, with what they wrote; equal for equal runs. */
  public synchronized long traceHash() {
    return trace;
  }

  // The store's side.

  @Override
  public String path() {
    return "simulated";
  }

  @Override
  public synchronized boolean supportsDirect() {
    return supportsDirect;
  }

  @Override
  public synchronized DataFile create(String name, IoMode mode) throws IOException {
    checkName(name);
    succeed(begin(Operation.CREATE, name, mode.ordinal(), 0), Operation.CREATE, name);
    checkMode(name, mode);
    if (directory.visible().containsKey(name)) {
      throw new FileAlreadyExistsException(name);
    }
    SimulatedInode inode = new SimulatedInode();
    directory.change(mutations - 1, inode, null, name);
    return new SimulatedFile(name, inode, mode);
  }

  @Override
  public synchronized DataFile open(String name, IoMode mode) throws IOException {
    checkName(name);
    succeed(begin(Operation.OPEN, name, mode.ordinal(), 0), Operation.OPEN, name);
    checkMode(name, mode);
    SimulatedInode inode = directory.visible().get(name);
    if (inode == null) {
      throw new NoSuchFileException(name);
    }
    return new SimulatedFile(name, inode, mode);
  }

  private void checkMode(String name, IoMode mode) throws IOException {
    if (mode == IoMode.DIRECT && !supportsDirect) {
      throw new IOException("direct I/O is not supported: " + name);
    }
  }

  private static void checkName(String name) {
    boolean dots = name.equals(".") || name.equals("..");
    if (name.isEmpty() || dots || name.indexOf('/') >= 0 || DirectoryStorage.hidden(name)) {
      throw new IllegalArgumentException("not a plain file name: " + name);
    }
  }

  @Override
  public synchronized List<String> list() throws IOException {
    succeed(begin(Operation.LIST, "", 0, 0), Operation.LIST, "");
    return new ArrayList<>(directory.visible().keySet());
  }

  @Override
  public synchronized boolean exists(String name) throws IOException {
    succeed(begin(Operation.EXISTS, name, 0, 0), Operation.EXISTS, name);
    return directory.visible().containsKey(name);
  }

  @Override
  public synchronized void rename(String from, String to) throws IOException {
    checkName(to);
    Fault fault = begin(Operation.RENAME, from, to.hashCode(), 0);
    succeed(fault, Operation.RENAME, from);
    SimulatedInode inode = directory.visible().get(from);
    if (inode == null) {
      throw new NoSuchFileException(from);
    }
    if (!from.equals(to)) {
      directory.change(mutations - 1, inode, from, to);
    }
  }

  @Override
  public synchronized void delete(String name) throws IOException {
    succeed(begin(Operation.DELETE, name, 0, 0), Operation.DELETE, name);
    SimulatedInode inode = directory.visible().get(name);
    if (inode != null) {
      directory.change(mutations - 1, inode, name, null);
    }
  }

  @Override
  public synchronized void syncDirectory() throws IOException {
    succeed(begin(Operation.SYNC_DIRECTORY, "", 0, 0), Operation.SYNC_DIRECTORY, "");
    directory.sync();
  }

  @Override
  public int descriptorsHeld() {
    return openFiles();
  }

  @Override
  public synchronized long usableBytes() throws IOException {
    succeed(begin(Operation.USABLE_BYTES, "", 0, 0), Operation.USABLE_BYTES, "");
    return Math.max(0, capacityBytes - usedBytes());
  }

  @Override
  public synchronized void lock() throws IOException {
    succeed(begin(Operation.LOCK, "", 0, 0), Operation.LOCK, "");
    if (locked) {
      throw new StoreLockedException("the simulated storage is locked by another store");
    }
    locked = true;
  }

  @Override
  public synchronized @Nullable String lockToRead() throws IOException {
    lock();
    return null;
  }

  @Override
  public synchronized void ensureHeld() throws IOException {
    if (lost) {
      throw new IOException("simulated: the lock was lost");
    }
  }

  @Override
  public synchronized void close() {
    locked = false;
  }

  /** Counts, traces and times an operation, and asks whether it is to fail. */
  private Fault begin(Operation operation, String file, long a, long b) {
    if (operation.mutating()) {
      Consumer<SimulatedStorage> hook = mutationHook;
      if (hook != null) {
        captureMapped();
        // It may open other stores.
        Awaited.apart(() -> hook.accept(this));
      }
      mutations++;
    }
    Fault fault = faults.faultOf(operation, file, operations);
    operations++;
    mix(operation.ordinal());
    mix(file.hashCode());
    mix(a);
    mix(b);
    mix(fault.kind().ordinal());
    clock.advance(fault.nanos());
    if (fault.kind() == Fault.Kind.INTERRUPTED) {
      Thread.currentThread().interrupt();
    }
    return fault;
  }

  private void mix(long value) {
    long z = (trace ^ value) * 0x9E3779B97F4A7C15L + 0xD1B54A32D192ED03L;
    trace = z ^ (z >>> 29);
  }

  private static void succeed(Fault fault, Operation operation, String file) throws IOException {
    if (fault.kind().fails()) {
      throw failure(fault, operation, file);
    }
  }

  /** The exception of a fault; thrown right here if it is unchecked. */
  private static IOException failure(Fault fault, Operation operation, String file) {
    boolean full =
        fault.kind() == Fault.Kind.ENOSPC || fault.kind() == Fault.Kind.SHORT_THEN_ENOSPC;
    boolean allocates =
        operation == Operation.CREATE
            || operation == Operation.WRITE
            || operation == Operation.RENAME;
    if (full && allocates) {
      throw new DiskFullException("simulated: no space left: " + operation + " " + file);
    }
    return new IOException("simulated: input/output error: " + operation + " " + file);
  }

  /** How many of {@code length} bytes at {@code offset} still fit on the disk. */
  private int fitting(SimulatedInode inode, long offset, int length) {
    if (capacityBytes == Long.MAX_VALUE) {
      return length;
    }
    long free = (capacityBytes - usedBytes()) / SimulatedContent.BLOCK;
    int block = (int) (offset / SimulatedContent.BLOCK);
    for (; block * (long) SimulatedContent.BLOCK < offset + length; block++) {
      if (inode.visible().block(block) == SimulatedContent.HOLE && --free < 0) {
        return (int) Math.max(0, block * (long) SimulatedContent.BLOCK - offset);
      }
    }
    return length;
  }

  /** An open file. */
  private final class SimulatedFile implements DataFile {
    private final String name;
    private final SimulatedInode inode;
    private final IoMode mode;
    private boolean closed;

    SimulatedFile(String name, SimulatedInode inode, IoMode mode) {
      this.name = name;
      this.inode = inode;
      this.mode = mode;
      inode.handles++;
      open.add(inode);
      openFiles++;
    }

    @Override
    public String name() {
      return name;
    }

    @Override
    public int read(long offset, Memory target, int targetOffset, int length) throws IOException {
      synchronized (SimulatedStorage.this) {
        check(offset, length);
        Fault fault = begin(Operation.READ, name, offset, length);
        succeed(fault, Operation.READ, name);
        inode.capture(Math.max(0, mutations - 1));
        int part = fault.kind() == Fault.Kind.SHORT_READ ? partOf(length) : length;
        return inode.visible().read(offset, target, targetOffset, part);
      }
    }

    @Override
    public void write(long offset, Memory source, int sourceOffset, int length) throws IOException {
      writeAll(offset, new Memory[] {source}, new int[] {sourceOffset}, 1, length);
    }

    @Override
    public void writeAll(long offset, Memory[] sources, int[] sourceOffsets, int count, int length)
        throws IOException {
      synchronized (SimulatedStorage.this) {
        check(offset, length);
        Fault fault = begin(Operation.WRITE, name, offset, (long) count * length);
        long limit = (long) count * length;
        if (fault.kind() == Fault.Kind.EIO || fault.kind() == Fault.Kind.ENOSPC) {
          limit = 0;
        } else if (fault.kind().fails()) {
          limit = new SplittableRandom(trace).nextLong(Math.max(1, limit));
        }
        for (int i = 0; i < count; i++) {
          long from = (long) i * length;
          int part = (int) Math.max(0, Math.min(length, limit - from));
          int fits = fitting(inode, offset + from, part);
          CRC32C checksum = new CRC32C();
          sources[i].update(checksum, sourceOffsets[i], fits);
          mix(checksum.getValue());
          inode.write(mutations - 1, offset + from, sources[i], sourceOffsets[i], fits);
          if (fits < part) {
            throw new DiskFullException("simulated: no space left: " + name);
          }
        }
        succeed(fault, Operation.WRITE, name);
      }
    }

    @Override
    public Memory map(long offset, int length) throws IOException {
      synchronized (SimulatedStorage.this) {
        check(offset, length);
        succeed(begin(Operation.MAP, name, offset, length), Operation.MAP, name);
        return inode.map(offset, length);
      }
    }

    @Override
    public void sync() throws IOException {
      synchronized (SimulatedStorage.this) {
        check(0, 0);
        Fault fault = begin(Operation.SYNC, name, 0, 0);
        inode.capture(mutations - 1);
        if (fault.kind().fails()) {
          inode.failSync();
          throw failure(fault, Operation.SYNC, name);
        }
        inode.sync();
        ensureHeld();
      }
    }

    @Override
    public boolean holdsDescriptor() {
      return true;
    }

    @Override
    public long size() throws IOException {
      synchronized (SimulatedStorage.this) {
        check(0, 0);
        succeed(begin(Operation.SIZE, name, 0, 0), Operation.SIZE, name);
        return inode.visible().size();
      }
    }

    @Override
    public void truncate(long size) throws IOException {
      synchronized (SimulatedStorage.this) {
        check(0, 0);
        if (size < 0) {
          throw new IllegalArgumentException("size " + size);
        }
        succeed(begin(Operation.TRUNCATE, name, size, 0), Operation.TRUNCATE, name);
        inode.truncate(mutations - 1, size);
      }
    }

    @Override
    public void close() throws IOException {
      synchronized (SimulatedStorage.this) {
        if (closed) {
          return;
        }
        closed = true;
        openFiles--;
        if (--inode.handles == 0) {
          inode.unmap(Math.max(0, mutations - 1));
          open.remove(inode);
        }
        succeed(begin(Operation.CLOSE, name, 0, 0), Operation.CLOSE, name);
      }
    }

    /** Less than all, in whole blocks if it is direct. */
    private int partOf(int length) {
      int part = new SplittableRandom(trace).nextInt(Math.max(1, length));
      return mode == IoMode.DIRECT ? part - part % BLOCK : part;
    }

    private void check(long offset, int length) throws ClosedChannelException {
      if (closed) {
        throw new ClosedChannelException();
      }
      if (offset < 0 || length < 0) {
        throw new IllegalArgumentException("offset " + offset + ", length " + length);
      }
      if (mode == IoMode.DIRECT && (offset % BLOCK != 0 || length % BLOCK != 0)) {
        throw new IllegalArgumentException(
            "misaligned direct I/O on " + name + ": offset " + offset + ", length " + length);
      }
    }
  }
}
