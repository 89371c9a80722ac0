package io.isobardb.lsm.model;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.SplittableRandom;

/**
 * A random list of what a {@link StoreHistory} does, each a line of text that makes sense wherever
 * it stands, so that a list stays one whatever is taken out of it but the first line.
 *
 * <pre>
 * store N      a disk, options and a first tree, drawn from the number N
 * KIND N B     an operation, its details drawn from N, then up to B steps of background work
 * </pre>
 */
final class HistoryScript {
  /** What is done; of each thousand operations, so many. */
  enum Kind {
    WRITE(280),
    BATCH(40),
    BURST(40),
    READ(220),
    CURSOR(40),
    MOVE(240),
    SNAPSHOT(30),
    END(30),
    MAINTAIN(30),
    CREATE(7),
    DROP(3),
    REOPEN(5),
    CHECK(5),
    TIME(10),
    RANGE(20);

    final int share;

    Kind(int share) {
      this.share = share;
    }
  }

  /** A line, read. */
  record Line(Kind kind, long number, int background) {
    static Line of(String text) {
      String[] words = text.split(" ");
      Kind kind = Kind.valueOf(words[0].toUpperCase(Locale.ROOT));
      return new Line(kind, Long.parseLong(words[1]), Integer.parseInt(words[2]));
    }
  }

  private static final int NUMBERS = 1_000_000;

  private HistoryScript() {}

  static List<String> random(long seed, int count) {
    SplittableRandom random = new SplittableRandom(seed);
    List<String> lines = new ArrayList<>();
    lines.add("store " + seed);
    for (int i = 0; i < count; i++) {
      String kind = kind(random.nextInt(1000)).name().toLowerCase(Locale.ROOT);
      int background = random.nextInt(3) == 0 ? 0 : random.nextInt(6);
      lines.add(kind + " " + random.nextInt(NUMBERS) + " " + background);
    }
    return lines;
  }

  private static Kind kind(int dice) {
    int rest = dice;
    for (Kind kind : Kind.values()) {
      rest -= kind.share;
      if (rest < 0) {
        return kind;
      }
    }
    throw new IllegalArgumentException("no kind for " + dice);
  }

  /** The number of the first line. */
  static long store(List<String> lines) {
    return Long.parseLong(lines.get(0).substring("store ".length()));
  }
}
