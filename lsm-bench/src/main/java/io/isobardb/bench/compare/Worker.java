package io.isobardb.bench.compare;

import io.isobardb.bench.engine.Engine;
import io.isobardb.bench.engine.Session;
import java.util.SplittableRandom;
import java.util.concurrent.atomic.LongAdder;
import org.HdrHistogram.Histogram;
import org.apache.commons.rng.UniformRandomProvider;
import org.apache.commons.rng.sampling.distribution.RejectionInversionZipfSampler;
import org.apache.commons.rng.sampling.distribution.SharedStateDiscreteSampler;

/**
 * One thread's part of one phase: a fixed number of operations chosen by a seed. Used by its own
 * thread alone.
 *
 * <p>Every {@link #SAMPLE_EVERY}th operation is timed, since a look at the clock costs as much as a
 * small part of an operation; on the same occasions the deadline is checked. Every {@link
 * #CHECK_EVERY}th value read is compared with what it must be.
 */
final class Worker {
  private static final int SAMPLE_EVERY = 16;
  private static final int CHECK_EVERY = 64;
  private static final double ZIPF_EXPONENT = 0.99;
  private static final int ZIPF_TABLE_MAX = 1 << 22;

  private final CompareSpec spec;
  private final Dataset data;
  private final Session session;
  private final int thread;
  private final SplittableRandom random;
  private final Histogram latencies = new Histogram(3_600_000_000_000L, 3);
  private final byte[] readInto;
  private final byte[] scratch;
  private final boolean freshArrays;
  private byte[] key;
  private byte[] value;
  private int[] zipf = {};
  private long version;
  private long done;

  Worker(CompareSpec spec, Engine engine, int thread, long seed) {
    this.spec = spec;
    this.thread = thread;
    data = new Dataset(spec.keyBytes(), spec.valueBytes());
    session = engine.openSession();
    random = new SplittableRandom(seed);
    freshArrays = session.keepsArrays();
    key = new byte[data.keyBytes()];
    value = new byte[data.valueBytes()];
    readInto = new byte[data.valueBytes() + 16];
    scratch = new byte[data.valueBytes()];
    version = seed;
  }

  /** Does what the phase needs before the clock starts. */
  void prepare(Phase phase, long operations) {
    if (phase != Phase.ZIPF || zipf.length > 0) {
      return;
    }
    // Drawn beforehand: a draw costs as much as a tenth of a cached read.
    UniformRandomProvider source = random::nextLong;
    SharedStateDiscreteSampler sampler =
        RejectionInversionZipfSampler.of(source, Math.toIntExact(spec.records()), ZIPF_EXPONENT);
    zipf = new int[(int) Math.min(operations, ZIPF_TABLE_MAX)];
    for (int i = 0; i < zipf.length; i++) {
      zipf[i] = (int) below(Dataset.mix(sampler.sample()), spec.records());
    }
  }

  /**
   * Runs the phase: {@code operations} of them, or fewer if {@code deadlineNanos} of {@link
   * System#nanoTime} comes first.
   */
  void run(Phase phase, long operations, long deadlineNanos, LongAdder progress) {
    latencies.reset();
    done = 0;
    while (done < operations) {
      long start = System.nanoTime();
      one(phase, done++);
      long end = System.nanoTime();
      latencies.recordValue(end - start);
      if (end - deadlineNanos > 0) {
        break;
      }
      long untimed = Math.min(SAMPLE_EVERY - 1, operations - done);
      for (long i = 0; i < untimed; i++) {
        one(phase, done++);
      }
      progress.add(untimed + 1);
    }
  }

  private void one(Phase phase, long operation) {
    switch (phase) {
      case LOAD -> put(operation * spec.threads() + thread);
      case READ -> read(uniform(), operation);
      case ZIPF -> read(zipf[(int) (operation % zipf.length)], operation);
      case UPDATE -> put(uniform());
      case MIXED -> {
        long record = uniform();
        if ((Dataset.mix(record ^ operation) & 1) == 0) {
          read(record, operation);
        } else {
          put(record);
        }
      }
      case SCAN -> scan(uniform());
      case ABSENT -> absent(spec.records() + uniform());
    }
  }

  private long uniform() {
    return below(random.nextLong(), spec.records());
  }

  private static long below(long bits, long bound) {
    return Math.multiplyHigh(bits >>> 1, bound << 1);
  }

  private void put(long record) {
    if (freshArrays) {
      key = new byte[data.keyBytes()];
      value = new byte[data.valueBytes()];
    }
    data.key(record, key);
    data.value(record, version++, value);
    session.put(0, key, value);
  }

  private void read(long record, long operation) {
    data.key(record, key);
    int length = session.get(0, key, readInto);
    if (length != data.valueBytes()) {
      throw new IllegalStateException(
          length == Session.ABSENT
              ? "record " + record + " was loaded and is not there"
              : "record " + record + " has a value of " + length + " bytes");
    }
    if (operation % CHECK_EVERY == 0) {
      data.check(record, readInto, length, scratch);
    }
  }

  private void absent(long record) {
    data.key(record, key);
    if (session.get(0, key, readInto) != Session.ABSENT) {
      throw new IllegalStateException("record " + record + " was never loaded and is there");
    }
  }

  private void scan(long record) {
    data.key(record, key);
    int[] seen = {0};
    session.scan(
        0,
        key,
        Phase.SCAN_ENTRIES,
        (entryKey, keyLength, entryValue, valueLength) -> {
          long entryRecord = data.record(entryKey);
          if (seen[0]++ % CHECK_EVERY == 0 && entryRecord >= 0) {
            data.check(entryRecord, entryValue, valueLength, scratch);
          }
        });
    if (seen[0] == 0) {
      throw new IllegalStateException("a scan from record " + record + " found nothing");
    }
  }

  /** Operations done by the last {@link #run}. */
  long done() {
    return done;
  }

  /** Nanoseconds of the operations timed in the last {@link #run}. */
  Histogram latencies() {
    return latencies;
  }

  void close() {
    session.close();
  }
}
