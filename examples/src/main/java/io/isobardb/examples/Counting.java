package io.isobardb.examples;

import io.isobardb.lsm.Store;
import io.isobardb.lsm.recipe.Counters;
import io.isobardb.lsm.typed.KeyCodec;
import io.isobardb.lsm.typed.KeyRange;
import io.isobardb.lsm.typed.Pair;
import java.nio.file.Path;
import java.util.stream.IntStream;

/** Hits by day and page, counted by many threads without a lock, and summed up by range. */
public final class Counting {
  private Counting() {}

  /** The argument is the directory of the store. */
  public static void main(String[] args) {
    // begin
    try (Store store = Store.open(Path.of(args[0]))) {
      KeyCodec<Pair<Integer, String>> byDayAndPage =
          KeyCodec.pair(KeyCodec.ofInt(), KeyCodec.ofString());
      Counters<Pair<Integer, String>> hits = Counters.open(store, "hits", byDayAndPage);
      IntStream.range(0, 10_000)
          .parallel()
          .forEach(i -> hits.increment(new Pair<>(i % 3, "/page" + i % 10)));
      System.out.println("day 1: " + hits.sum(KeyRange.startingWith(1)));
      System.out.println("all: " + hits.sum(KeyRange.all()));
      System.out.println("page 7: " + hits.get(new Pair<>(0, "/page7")));
    }
    // end
  }
}
