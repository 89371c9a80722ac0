package io.isobardb.bench.model;

import com.dynatrace.hash4j.hashing.Hashing;
import io.isobardb.cli.console.UsageException;
import io.isobardb.tuner.model.LearntPopularity;
import io.isobardb.tuner.model.ReuseTimes;
import java.io.BufferedReader;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Locale;

/**
 * Keys in the order in which they were written, one a line, as an application or a trace has them.
 *
 * @param writes lines that are not empty
 * @param popularity what {@link ReuseTimes} learns from them
 */
record RecordedKeys(long writes, LearntPopularity popularity) {
  private static final int LEAST_WRITES = 1000;

  /** Beyond this, hardly any key is written a second time. */
  private static final double MOST_KEYS_PER_WRITE = 10;

  /**
   * Reads a file twice: to count its lines, and to learn from them.
   *
   * @throws UsageException if it has too few lines, or hardly a key is written again
   */
  static RecordedKeys read(Path file) throws IOException {
    if (!Files.isReadable(file) || Files.isDirectory(file)) {
      throw new UsageException("--keys-from: " + file + " is no file that can be read");
    }
    long writes = forEachHash(file, hash -> {});
    if (writes < LEAST_WRITES) {
      throw new UsageException(
          String.format(
              Locale.ROOT,
              "--keys-from needs %,d lines or more, and %s has %,d",
              LEAST_WRITES,
              file,
              writes));
    }
    // In the first window all keys seem to be new; the last line begins the third.
    ReuseTimes times = new ReuseTimes((writes - 1) / 2, ReuseTimes.MOST_BYTES);
    forEachHash(file, times::write);
    LearntPopularity popularity = times.popularity();
    if (!(popularity.keys() <= writes * MOST_KEYS_PER_WRITE)) {
      throw new UsageException(
          "--keys-from: hardly any key of "
              + (file + " is written a second time; the models are about keys that are"));
    }
    return new RecordedKeys(writes, popularity);
  }

  private interface HashConsumer {
    void accept(long hash);
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
