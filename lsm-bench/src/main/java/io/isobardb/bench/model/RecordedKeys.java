package io.isobardb.bench.model;

import com.dynatrace.hash4j.hashing.Hashing;
import io.isobardb.bench.record.RecordedRun;
import io.isobardb.cli.console.UsageException;
import io.isobardb.lsm.store.RecordingLayout;
import io.isobardb.tuner.model.LearntPopularity;
import io.isobardb.tuner.model.Popularity;
import io.isobardb.tuner.model.ReuseTimes;
import java.io.BufferedReader;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Locale;

/**
 * Keys in the order in which they were written: one a line, as an application or a trace has them,
 * or as a recording of a store has them.
 *
 * @param writes lines that are not empty, or about how many writes a recording stands for
 * @param popularity what {@link ReuseTimes} learns from them
 */
record RecordedKeys(long writes, Popularity popularity) {
  private static final int LEAST_WRITES = 1000;

  /** Keeps equal keys of two trees apart. */
  private static final long TREE = 0x9E3779B97F4A7C15L;

  /** Beyond this, hardly any key is written a second time. */
  private static final double MOST_KEYS_PER_WRITE = 10;

  /**
   * Reads a file: a recording, or lines, twice: to count them, and to learn from them.
   *
   * @throws UsageException if it has too few writes, or hardly a key is written again
   */
  static RecordedKeys read(Path file) throws IOException {
    if (!Files.isReadable(file) || Files.isDirectory(file)) {
      throw new UsageException("--keys-from: " + file + " is no file that can be read");
    }
    if (RecordedRun.isRecording(file)) {
      RecordedRun run = RecordedRun.read("--keys-from", file);
      return of(file, consumer -> forEachHash(run, consumer), run.begin().oneKeyIn());
    }
    return of(file, consumer -> forEachHash(file, consumer), 1);
  }

  /** Hashes of written keys, in their order. */
  private interface Writes {
    /** How many there are; {@code consumer} gets each. */
    long forEach(HashConsumer consumer) throws IOException;
  }

  private static RecordedKeys of(Path file, Writes hashes, int oneKeyIn) throws IOException {
    long writes = hashes.forEach(hash -> {});
    if (writes < LEAST_WRITES) {
      throw new UsageException(
          String.format(
              Locale.ROOT,
              "--keys-from needs %,d writes or more, and %s has %,d",
              LEAST_WRITES,
              file,
              writes));
    }
    // In the first window all keys seem to be new; the last line begins the third.
    ReuseTimes times = new ReuseTimes((writes - 1) / 2, ReuseTimes.MOST_BYTES);
    hashes.forEach(times::write);
    LearntPopularity popularity = times.popularity();
    if (!(popularity.keys() <= writes * MOST_KEYS_PER_WRITE)) {
      throw new UsageException(
          "--keys-from: hardly any key of "
              + (file + " is written a second time; the models are about keys that are"));
    }
    return oneKeyIn == 1
        ? new RecordedKeys(writes, popularity)
        : new RecordedKeys(writes * oneKeyIn, new SampledPopularity(popularity, oneKeyIn));
  }

  private interface HashConsumer {
    void accept(long hash);
  }

  private static long forEachHash(RecordedRun run, HashConsumer consumer) {
    long count = 0;
    for (int i = 0; i < run.count(); i++) {
      switch (run.kind(i)) {
        case RecordingLayout.PUT, RecordingLayout.DELETE, RecordingLayout.MERGE -> {
          consumer.accept(run.hash(i) + run.tree(i) * TREE);
          count++;
        }
        default -> {
          // It writes no key.
        }
      }
    }
    return count;
  }

  private static long forEachHash(Path file, HashConsumer consumer) throws IOException {
    long count = 0;
    // One character per byte: any encoding will do, if only equal keys are equal bytes.
    try (BufferedReader lines = Files.newBufferedReader(file, StandardCharsets.ISO_8859_1)) {
      for (String line = lines.readLine(); line != null; line = lines.readLine()) {
        if (!line.isEmpty()) {
          consumer.accept(Hashing.xxh3_64().hashCharsToLong(line));
          count++;
        }
      }
    }
    return count;
  }
}
