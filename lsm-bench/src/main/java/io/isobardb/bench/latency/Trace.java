package io.isobardb.bench.latency;

import io.isobardb.cli.console.Numbers;
import io.isobardb.cli.console.TimeSpan;
import io.isobardb.cli.console.UsageException;
import java.io.IOException;
import java.nio.charset.MalformedInputException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;

/**
 * How many requests arrive when: spans one after the other, from the first again after the last.
 * Immutable.
 *
 * @param spans one at least, and one of them with requests
 */
record Trace(List<Span> spans) {
  /** A tenth of the production workload's peaks are long. */
  private static final int LONG_PEAKS_OF = 10;

  /** Peaks have so many times the requests of valleys. */
  static final double PEAK_TO_VALLEY = 100;

  Trace {
    spans = List.copyOf(spans);
    if (spans.stream().noneMatch(span -> span.rate() > 0 && span.seconds() > 0)) {
      throw new UsageException("a trace without any request");
    }
  }

  /** Always as many. */
  static Trace steady(double rate) {
    return new Trace(List.of(Span.of(1, rate)));
  }

  /** Two rates in turn. */
  static Trace peaks(double seconds, double rate, double valleySeconds, double valleyRate) {
    return new Trace(List.of(Span.of(seconds, rate), Span.of(valleySeconds, valleyRate)));
  }

  /**
   * Like a production workload that SILK's authors describe: nine of ten peaks last 10 to 20 s, the
   * others 100 to 400 s, and valleys between them 5 to 20 s. A valley has a hundredth of the
   * requests of a peak.
   *
   * @param rate of a peak, per second
   * @param seconds that are needed
   */
  static Trace production(double rate, double seconds, long seed) {
    SplittableRandom random = new SplittableRandom(seed);
    List<Span> spans = new ArrayList<>();
    for (double at = 0; at < seconds; ) {
      double peak =
          random.nextInt(LONG_PEAKS_OF) == 0
              ? 100 + random.nextDouble() * 300
              : 10 + random.nextDouble() * 10;
      double valley = 5 + random.nextDouble() * 15;
      spans.add(Span.of(peak, rate));
      spans.add(Span.of(valley, rate / PEAK_TO_VALLEY));
      at += peak + valley;
    }
    return new Trace(spans);
  }

  /** Bursts as fast as the engine can, of these lengths in turn, each with a pause behind it. */
  static Trace bursts(List<TimeSpan> bursts, List<TimeSpan> pauses) {
    List<Span> spans = new ArrayList<>();
    for (int i = 0; i < Math.max(bursts.size(), pauses.size()); i++) {
      spans.add(Span.full(bursts.get(i % bursts.size()).millis() / 1e3));
      spans.add(Span.of(pauses.get(i % pauses.size()).millis() / 1e3, 0));
    }
    return new Trace(spans);
  }

  /** Bursts of 10 s as fast as the engine can, with pauses of 20 s, or a part of both. */
  static Trace bursts(double part) {
    return bursts(
        List.of(new TimeSpan((long) (10_000 * part))),
        List.of(new TimeSpan((long) (20_000 * part))));
  }

  /** Bursts of so many requests, with pauses of these lengths in turn. */
  static Trace bursts(long requests, List<TimeSpan> pauses) {
    List<Span> spans = new ArrayList<>();
    for (TimeSpan pause : pauses) {
      spans.add(Span.count(requests));
      spans.add(Span.of(pause.millis() / 1e3, 0));
    }
    return new Trace(spans);
  }

  /**
   * A recorded trace: each line has a length of time and a rate, such as {@code 10s 20000}; {@code
   * max} is as fast as the engine can. Empty lines and those that begin with # are passed over.
   */
  static Trace read(Path file) throws IOException {
    List<Span> spans = new ArrayList<>();
    List<String> lines;
    if (Files.isDirectory(file)) {
      throw new UsageException("--load-file: " + file + " is a directory; give a file");
    }
    try {
      lines = Files.readAllLines(file, StandardCharsets.UTF_8);
    } catch (NoSuchFileException e) {
      throw new UsageException("--load-file: there is no " + file, e);
    } catch (MalformedInputException e) {
      throw new UsageException("--load-file: " + file + " is no text", e);
    }
    for (int i = 0; i < lines.size(); i++) {
      String line = lines.get(i).strip();
      if (!line.isEmpty() && !line.startsWith("#")) {
        spans.add(span(line, file + ", line " + (i + 1)));
      }
    }
    if (spans.stream().noneMatch(span -> span.rate() > 0)) {
      throw new UsageException("--load-file: " + file + " has no span with requests");
    }
    return new Trace(spans);
  }

  private static Span span(String line, String where) {
    String[] words = line.split("[\\s,]+");
    try {
      if (words.length == 2) {
        TimeSpan length = TimeSpan.parse(words[0]);
        boolean full = words[1].equals("max");
        double rate = full ? Double.POSITIVE_INFINITY : Numbers.parseDouble(words[1]);
        if (length.millis() > 0 && rate >= 0) {
          return Span.of(length.millis() / 1e3, rate);
        }
      }
    } catch (UsageException e) {
      throw new UsageException("--load-file: " + where + ": " + e.getMessage(), e);
    }
    throw new UsageException(
        "--load-file: " + where + ": '" + line + "' is not a length and a rate, such as 10s 20000");
  }
}
