package io.isobardb.bench.phases;

import io.isobardb.bench.drive.Dataset;
import io.isobardb.bench.drive.Shape;
import io.isobardb.lsm.Cursor;
import io.isobardb.lsm.CursorOptions;
import io.isobardb.lsm.Store;
import io.isobardb.lsm.StoreOptions;
import io.isobardb.lsm.Tree;
import io.isobardb.lsm.TreeOptions;
import io.isobardb.lsm.observe.StoreListener;
import io.isobardb.lsm.observe.StoreStats;
import io.isobardb.lsm.schedule.Environment;
import io.isobardb.lsm.simulation.Inside;
import io.isobardb.lsm.simulation.SimulatedClock;
import io.isobardb.lsm.simulation.SimulatedScheduler;
import io.isobardb.lsm.simulation.SimulatedStorage;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;
import org.apache.commons.rng.sampling.distribution.RejectionInversionZipfSampler;
import org.apache.commons.rng.sampling.distribution.SharedStateDiscreteSampler;

/**
 * A store with one tree on a simulated disk, with a simulated clock, that is used in phases. Equal
 * seeds count equal pages on any machine. Used by one thread.
 */
final class PhasedStore implements AutoCloseable {
  /** Steps of background work after each operation: several times what a write costs. */
  private static final int STEPS = 2;

  private static final double ZIPF_EXPONENT = 0.99;

  /** Records that were never put begin here. */
  private static final long ABSENT = 1L << 40;

  private final SimulatedScheduler scheduler;
  private final Store store;
  private final Tree tree;
  private final Dataset data = new Dataset(Shape.KEY_BYTES, Shape.VALUE_BYTES);
  private final SplittableRandom random;
  private final List<Outcome.Decision> decisions = new ArrayList<>();
  private final boolean isZipf;
  private final byte[] key = new byte[Shape.KEY_BYTES];
  private final byte[] value = new byte[Shape.VALUE_BYTES];
  private final int pageBytes;
  private SharedStateDiscreteSampler zipf;
  private long records;
  private long version;
  private long done;

  /**
   * Pages so far, since the store was opened.
   *
   * @param written by flushes and merges
   * @param mergeRead read from disk by merges
   * @param read from disk by lookups and scans
   */
  record Pages(double written, double mergeRead, double read) {
    static final Pages NONE = new Pages(0, 0, 0);

    double all() {
      return written + mergeRead + read;
    }

    Pages minus(Pages before) {
      return new Pages(written - before.written, mergeRead - before.mergeRead, read - before.read);
    }

    Pages plus(Pages others) {
      return new Pages(written + others.written, mergeRead + others.mergeRead, read + others.read);
    }
  }

  /** An empty store. */
  PhasedStore(StoreOptions options, TreeOptions treeOptions, boolean isZipf, long seed) {
    SimulatedClock clock = new SimulatedClock();
    this.random = new SplittableRandom(seed);
    this.scheduler = new SimulatedScheduler(clock, random.nextLong());
    this.store =
        Inside.open(
            new Environment(
                new SimulatedStorage(clock), clock, scheduler, new SplittableRandom(seed)),
            options);
    this.isZipf = isZipf;
    this.pageBytes = options.pageSize();
    this.zipf = sampler(1);
    store.addListener(
        new StoreListener() {
          @Override
          public void onShaped(Shape event) {
            decisions.add(new Outcome.Decision(done, event));
          }
        });
    this.tree = store.openTree("t", treeOptions);
  }

  private SharedStateDiscreteSampler sampler(long keys) {
    return RejectionInversionZipfSampler.of(random::nextLong, Math.toIntExact(keys), ZIPF_EXPONENT);
  }

  /** Puts so many records in the order of their keys, and merges what there is to merge. */
  void load(long count) {
    long[][] keys = new long[Math.toIntExact(count)][];
    for (int i = 0; i < keys.length; i++) {
      data.key(i, key);
      keys[i] = new long[] {ByteBuffer.wrap(key).getLong(), i};
    }
    Arrays.sort(keys, (a, b) -> Long.compareUnsigned(a[0], b[0]));
    for (long[] record : keys) {
      put(record[1]);
    }
    records = count;
    zipf = sampler(count);
    settle();
  }

  /** Flushes, and merges what there is to merge. */
  void settle() {
    store.flush();
    scheduler.runUntilIdle();
  }

  /** Does so many operations. */
  void run(Mix mix, long operations) {
    for (long i = 0; i < operations; i++) {
      one(mix);
      done++;
      background();
    }
  }

  /** What was read and written so far. */
  Pages pages() {
    StoreStats now = store.stats();
    return new Pages(
        (double) (now.flushBytesWritten() + now.mergeBytesWritten()) / pageBytes,
        now.cache().mergeMisses(),
        now.cache().queryMisses());
  }

  /** The runs that the tree has now. */
  String runs() {
    return tree.runs().toString();
  }

  /** Operations so far, but for those that loaded it. */
  long done() {
    return done;
  }

  /** What was decided so far. */
  List<Outcome.Decision> decisions() {
    return List.copyOf(decisions);
  }

  private void one(Mix mix) {
    int drawn = random.nextInt(100) - mix.inserts();
    if (drawn < 0) {
      put(records++);
      return;
    }
    drawn -= mix.updates();
    if (drawn < 0) {
      put(record(mix.written()));
      return;
    }
    drawn -= mix.deletes();
    if (drawn < 0) {
      data.key(record(mix.written()), key);
      tree.delete(key);
      return;
    }
    drawn -= mix.absent();
    boolean isAbsent = drawn < 0;
    data.key(isAbsent ? ABSENT + random.nextLong(ABSENT) : record(mix.read()), key);
    if (isAbsent || drawn < mix.gets()) {
      tree.get(key);
    } else {
      if (!mix.scanned().equals(Mix.Part.WHOLE)) {
        keyOf(mix.scanned());
      }
      scan(mix.length());
    }
  }

  /** A key within a part of the keys in their order, which lie evenly; none that was put. */
  private void keyOf(Mix.Part part) {
    double share = (part.from() + random.nextDouble() * (part.to() - part.from())) / 100;
    Arrays.fill(key, (byte) 0);
    ByteBuffer.wrap(key).putLong((long) (share * (1L << 53)) << 11);
  }

  private void scan(int entries) {
    try (Cursor cursor = tree.cursor(CursorOptions.all().from(key.clone()))) {
      boolean more = cursor.first();
      for (int i = 1; i < entries && more; i++) {
        more = cursor.next();
      }
    }
  }

  /** A record that was put, of a part of them. */
  private long record(Mix.Part part) {
    long first = records * part.from() / 100;
    long count = Math.max(1, records * (part.to() - part.from()) / 100);
    long bits = isZipf ? Dataset.mix(zipf.sample()) : random.nextLong();
    return first + Math.multiplyHigh(bits >>> 1, count << 1);
  }

  private void put(long record) {
    data.key(record, key);
    data.value(record, version++, value);
    tree.put(key, value);
  }

  private void background() {
    for (int i = 0; i < STEPS && scheduler.runOne(); i++) {}
  }

  @Override
  public void close() {
    store.close();
  }
}
