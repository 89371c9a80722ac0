package io.isobardb.lsm.schedule;

import io.isobardb.lsm.event.Observers;
import io.isobardb.lsm.io.Clock;
import io.isobardb.lsm.io.DataFile;
import io.isobardb.lsm.io.ForwardingStorage;
import io.isobardb.lsm.io.Storage;
import io.isobardb.lsm.observe.IoPurpose;
import io.isobardb.lsm.option.IoMode;
import io.isobardb.memory.page.Memory;
import java.io.IOException;
import java.util.Arrays;
import java.util.EnumMap;
import java.util.Map;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.LongAdder;
import org.jspecify.annotations.Nullable;

/**
 * Counts what is read and written, by purpose: of the log's and the manifest's files by their
 * names, of SSTables by the job that the calling thread steps. What no job does is the client's,
 * for {@link IoPurpose#QUERY} unless it comes by {@link #countedFor}.
 *
 * <p>Syncs, and what is stored to mapped memory, are not counted.
 *
 * <p>What the device itself does is told by {@link #device}: calls of files that the system does
 * not buffer. A write to a buffer reaches the device by the file's sync, which counts instead.
 *
 * <p>Thread rule: all methods may be called by any thread. A count costs an addition that threads
 * do not share unless they collide. That is little beside the system call it belongs to.
 */
public final class MeteredStorage extends ForwardingStorage implements Observers.IoCounters {
  private static final IoPurpose[] PURPOSES = IoPurpose.values();

  /** A sync of less tells what a sync takes, not what the device does. */
  private static final int LEAST_SYNCED = 256 << 10;

  /** Calls that are shorter never stood still. */
  private static final long LEAST_STOOD_NANOS = 5_000_000;

  /** A call that stood still took longer than so many quick ones of its size beyond that. */
  private static final int QUICK_CALLS = 16;

  /** The same for a sync: it writes in large calls, and many at once. */
  private static final int QUICK_SYNCS = 4;

  /** What {@link Clock#waitedNanos} said when the thread was last asked; below 0 if never. */
  private static final ThreadLocal<Long> WAITED = ThreadLocal.withInitial(() -> -1L);

  private final Storage storage;
  private final Clock clock;

  /** Tells when calls end, and how long their threads waited for processors. */
  private final Clock wholeClock;

  private final LongAdder[] read = adders();
  private final LongAdder[] written = adders();
  private final Flow readFlow = new Flow();
  private final Flow writeFlow = new Flow();
  private final LongAdder deviceBytes = new LongAdder();
  private final LongAdder deviceNanos = new LongAdder();
  private final SyncTimes syncs = new SyncTimes();
  private final PieceTimes times = new PieceTimes();
  private volatile IoLimits pieces = IoLimits.NONE;

  /** Bytes per second that quick calls do; 0 if unknown. */
  private volatile long quickBytes;

  private volatile @Nullable Deletions deletions;
  private volatile @Nullable PacedDeletions pacedDeletions;

  /**
   * Counts what goes to and comes from {@code storage}.
   *
   * @param clock tells how long that takes
   */
  public MeteredStorage(Storage storage, Clock clock) {
    super(storage);
    this.storage = storage;
    this.clock = storage.callClock(clock);
    this.wholeClock = clock;
  }

  private static LongAdder[] adders() {
    LongAdder[] adders = new LongAdder[PURPOSES.length];
    for (int i = 0; i < adders.length; i++) {
      adders[i] = new LongAdder();
    }
    return adders;
  }

  @Override
  public Map<IoPurpose, Long> bytesRead() {
    return sums(read);
  }

  @Override
  public Map<IoPurpose, Long> bytesWritten() {
    return sums(written);
  }

  /**
   * What the device did in a while.
   *
   * @param bytes read and written
   * @param nanos what these calls took together
   */
  record DeviceUse(long bytes, long nanos) {
    static final DeviceUse NONE = new DeviceUse(0, 0);

    /** What came since an earlier look. */
    DeviceUse since(DeviceUse before) {
      return new DeviceUse(bytes - before.bytes, nanos - before.nanos);
    }
  }

  /** What the device has done since the storage was made, as far as it was seen. */
  DeviceUse device() {
    return new DeviceUse(deviceBytes.sum(), deviceNanos.sum());
  }

  /** What syncs of buffers have done since the storage was made. */
  SyncTimes.Seen syncs() {
    return syncs.seen();
  }

  /** What was read from the device, and how long that stood still. */
  Flow.Seen readsSeen() {
    return readFlow.seen();
  }

  /** What was written to the device, and how long that stood still. */
  Flow.Seen writesSeen() {
    return writeFlow.seen();
  }

  /** From now on calls stand still that take far longer than so many bytes per second allow. */
  void expect(long bytesPerSecond) {
    quickBytes = bytesPerSecond;
  }

  private void onDevice(Flow flow, long bytes, long nanos) {
    deviceBytes.add(bytes);
    deviceNanos.add(nanos);
    pass(flow, bytes, nanos, QUICK_CALLS);
  }

  /**
   * So much has passed in a call of the calling thread.
   *
   * @param quickCalls it stood still if it took longer than so many quick calls
   */
  private void pass(Flow flow, long bytes, long nanos, int quickCalls) {
    flow.add(bytes);
    long quick = quickBytes;
    if (nanos >= LEAST_STOOD_NANOS && quick > 0 && Stepping.current() != null) {
      long most = LEAST_STOOD_NANOS + (long) (quickCalls * 1e9 * bytes / quick);
      long waited = wholeClock.waitedNanos();
      long before = WAITED.get();
      WAITED.set(waited);
      // What the thread waited for processors since it was asked last: no less than in this call.
      long stood = before < 0 ? 0 : nanos - Math.max(0, waited - before);
      if (stood >= most) {
        flow.onStood(stood, wholeClock.nanos());
      }
    }
  }

  /** How long jobs' reads and writes take. */
  PieceTimes times() {
    return times;
  }

  /** Bytes read so far for one purpose. */
  public long bytesRead(IoPurpose purpose) {
    return read[purpose.ordinal()].sum();
  }

  private static Map<IoPurpose, Long> sums(LongAdder[] adders) {
    Map<IoPurpose, Long> sums = new EnumMap<>(IoPurpose.class);
    for (IoPurpose purpose : PURPOSES) {
      sums.put(purpose, adders[purpose.ordinal()].sum());
    }
    return sums;
  }

  /** What a file is for, whoever reads or writes it; null for SSTables. */
  private static @Nullable IoPurpose ofFile(String name) {
    if (name.endsWith(".sst")) {
      return null;
    }
    boolean log = name.endsWith(".log") || name.startsWith("RING");
    return log ? IoPurpose.LOG : IoPurpose.MANIFEST;
  }

  /** From now on reads and writes of jobs pass in such pieces at most. */
  void limitPieces(IoLimits limits) {
    pieces = limits;
  }

  /**
   * From now on SSTables are deleted by a job, in pieces, unless they are {@linkplain #deleteAtPace
   * deleted at a pace}.
   */
  public void deleteBy(Scheduler scheduler) throws IOException {
    deletions = new Deletions(storage, scheduler);
    if (pacedDeletions == null) {
      deleteDropped();
    }
  }

  /**
   * From now on SSTables and files of the log are deleted at a pace. So is what an earlier opening
   * has left of theirs.
   */
  public void deleteAtPace(Environment environment, PacedDeletions.Pace pace) throws IOException {
    pacedDeletions = new PacedDeletions(storage, environment, pace);
    deleteDropped();
  }

  /** Deletes what waited for its deletion when the store was closed last, or crashed. */
  private void deleteDropped() throws IOException {
    for (String name : storage.list()) {
      if (PacedDeletions.isDropped(name)) {
        delete(name);
      }
    }
  }

  private static boolean isPaced(String name) {
    return name.endsWith(".sst") || name.endsWith(".log") || PacedDeletions.isDropped(name);
  }

  @Override
  public void delete(String name) throws IOException {
    PacedDeletions paced = pacedDeletions;
    if (paced != null && isPaced(name)) {
      paced.delete(name);
      return;
    }
    Deletions later = deletions;
    if (later != null && (ofFile(name) == null || PacedDeletions.isDropped(name))) {
      later.delete(name);
    } else {
      storage.delete(name);
    }
  }

  private static IoPurpose purpose(Job.Priority priority) {
    return switch (priority) {
      case FLUSH -> IoPurpose.FLUSH;
      case GATHER, MERGE_L0 -> IoPurpose.MERGE_L0;
      case MERGE_MEMORY, MERGE_DEEP, IDLE -> IoPurpose.MERGE_DEEP;
    };
  }

  @Override
  protected DataFile wrap(DataFile file, IoMode mode) {
    return new MeteredFile(file, mode, IoPurpose.QUERY);
  }

  /** The same files; what a client reads and writes of SSTables that it opens here is for this. */
  public Storage countedFor(IoPurpose purpose) {
    return new ForwardingStorage(this) {
      @Override
      public DataFile create(String name, IoMode mode) throws IOException {
        return new MeteredFile(storage.create(name, mode), mode, purpose);
      }

      @Override
      public DataFile open(String name, IoMode mode) throws IOException {
        return new MeteredFile(storage.open(name, mode), mode, purpose);
      }

      @Override
      public Storage origin() {
        return MeteredStorage.this.origin();
      }

      @Override
      protected DataFile wrap(DataFile file, IoMode mode) {
        return file;
      }
    };
  }

  @Override
  public boolean link(Storage from, String name) throws IOException {
    return storage.link(from, name);
  }

  @Override
  public Storage origin() {
    return storage.origin();
  }

  private final class MeteredFile extends ForwardingFile {
    private final @Nullable IoPurpose fixed;
    private final IoPurpose byClients;

    private final boolean buffered;

    /** Written to a buffer since the file was synced. */
    private final AtomicLong unsynced = new AtomicLong();

    MeteredFile(DataFile file, IoMode mode, IoPurpose byClients) {
      super(file);
      this.fixed = ofFile(file.name());
      this.buffered = mode != IoMode.DIRECT;
      this.byClients = byClients;
    }

    private void count(@Nullable Stepping step, LongAdder[] adders, long bytes) {
      IoPurpose purpose = fixed;
      if (purpose == null) {
        purpose = step == null ? byClients : purpose(step.job());
      }
      adders[purpose.ordinal()].add(bytes);
      if (step != null && adders == read) {
        step.countRead(bytes);
      } else if (step != null) {
        step.countWritten(bytes);
      }
    }

    private void time(int bytes, long nanos) {
      if (buffered) {
        times.addBuffered(bytes, nanos);
      } else {
        times.add(bytes, nanos);
      }
    }

    private void onRead(long bytes, long nanos) {
      if (!buffered) {
        onDevice(readFlow, bytes, nanos);
      }
    }

    private void onWritten(long bytes, long nanos) {
      if (buffered) {
        unsynced.addAndGet(bytes);
      } else {
        onDevice(writeFlow, bytes, nanos);
      }
    }

    @Override
    public int read(long offset, Memory target, int targetOffset, int length) throws IOException {
      Stepping step = Stepping.current();
      int all =
          step == null
              ? readAtOnce(offset, target, targetOffset, length)
              : readInPieces(step, offset, target, targetOffset, length);
      count(step, read, all);
      return all;
    }

    private int readAtOnce(long offset, Memory target, int targetOffset, int length)
        throws IOException {
      long began = clock.nanos();
      int bytes = super.read(offset, target, targetOffset, length);
      onRead(bytes, clock.nanos() - began);
      return bytes;
    }

    private int readInPieces(
        Stepping step, long offset, Memory target, int targetOffset, int length)
        throws IOException {
      int most = pieces.pieceBytes(step.job());
      int all = 0;
      boolean more = true;
      while (more && all < length) {
        int piece = Math.min(length - all, most);
        long began = clock.nanos();
        int bytes = super.read(offset + all, target, targetOffset + all, piece);
        long nanos = clock.nanos() - began;
        time(bytes, nanos);
        onRead(bytes, nanos);
        all += bytes;
        more = bytes == piece;
      }
      return all;
    }

    @Override
    public void write(long offset, Memory source, int sourceOffset, int length) throws IOException {
      long began = clock.nanos();
      super.write(offset, source, sourceOffset, length);
      onWritten(length, clock.nanos() - began);
      count(Stepping.current(), written, length);
    }

    @Override
    public void writeAll(long offset, Memory[] sources, int[] sourceOffsets, int count, int length)
        throws IOException {
      Stepping step = Stepping.current();
      int most = step == null ? count : Math.max(1, pieces.pieceBytes(step.job()) / length);
      for (int from = 0; from < count; from += most) {
        int to = Math.min(count, from + most);
        boolean whole = to - from == count;
        long began = clock.nanos();
        super.writeAll(
            offset + (long) from * length,
            whole ? sources : Arrays.copyOfRange(sources, from, to),
            whole ? sourceOffsets : Arrays.copyOfRange(sourceOffsets, from, to),
            to - from,
            length);
        long nanos = clock.nanos() - began;
        if (step != null) {
          time((to - from) * length, nanos);
        }
        onWritten((long) (to - from) * length, nanos);
      }
      count(step, written, (long) count * length);
    }

    @Override
    public void sync() throws IOException {
      long bytes = unsynced.getAndSet(0);
      if (bytes < LEAST_SYNCED) {
        super.sync();
        return;
      }
      if (Stepping.current() != null) {
        // Asking takes less than a sync does, and what the thread waited for before is not this.
        WAITED.set(wholeClock.waitedNanos());
      }
      long written = 0;
      long began = clock.nanos();
      syncs.begin(began);
      try {
        super.sync();
        written = bytes;
      } finally {
        long ended = clock.nanos();
        syncs.end(ended, written);
        pass(writeFlow, written, ended - began, QUICK_SYNCS);
      }
    }
  }
}
