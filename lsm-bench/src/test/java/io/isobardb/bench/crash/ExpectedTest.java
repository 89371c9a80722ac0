package io.isobardb.bench.crash;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.isobardb.bench.crash.Expected.ExpectedTree;
import io.isobardb.bench.crash.Expected.Found;
import io.isobardb.lsm.TreeOptions;
import io.isobardb.lsm.simulation.ModelValue;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.TreeMap;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** What the model accepts, and that it refuses all else. */
class ExpectedTest {
  private static final byte[] A = {1};
  private static final byte[] B = {2};

  private final SplittableRandom random = new SplittableRandom(1);
  private final Expected expected = new Expected();
  private final ExpectedTree logged = expected.creating("logged", TreeOptions.defaults());
  private final ExpectedTree unlogged =
      expected.creating("unlogged", TreeOptions.builder().logged(false).build());
  private final ModelValue first = ModelValue.of(random, 20, 1);
  private final ModelValue second = ModelValue.of(random, 20, 2);

  /**
   * Writes 1 and 2 create trees, 3 is acknowledged, 4 is a batch, 5 and 6 go to an unlogged tree.
   */
  @BeforeEach
  void write() {
    expected.created(logged, true);
    expected.created(unlogged, true);
    logged.write(A, first, expected.begin());
    expected.acknowledge();
    long batch = expected.begin();
    logged.write(A, second, batch);
    logged.write(B, second, batch);
    unlogged.write(A, first, expected.begin());
    expected.checkpointing();
    expected.checkpointed();
    unlogged.write(A, second, expected.begin());
  }

  private static TreeMap<byte[], byte[]> entries(Object... keysAndValues) {
    TreeMap<byte[], byte[]> entries = new TreeMap<>(Arrays::compareUnsigned);
    for (int i = 0; i < keysAndValues.length; i += 2) {
      entries.put((byte[]) keysAndValues[i], ((ModelValue) keysAndValues[i + 1]).bytes());
    }
    return entries;
  }

  private Expected.Moments check(
      TreeMap<byte[], byte[]> inLogged, TreeMap<byte[], byte[]> inUnlogged) {
    return expected.check(Found.of(Map.of("logged", inLogged, "unlogged", inUnlogged)), false);
  }

  @Test
  void thePrefixAndTheCheckpointAreFound() {
    Expected.Moments found = check(entries(A, second, B, second), entries(A, first));
    assertEquals(5, found.checkpoint());
    assertTrue(found.latest() >= 4);
  }

  @Test
  void whatIsLostOrTornOrMadeUpOrNotAtTheCheckpointIsRefused() {
    TreeMap<byte[], byte[]> good = entries(A, second, B, second);
    TreeMap<byte[], byte[]> saved = entries(A, first);
    assertThrows(AssertionError.class, () -> check(entries(), saved));
    assertThrows(AssertionError.class, () -> check(entries(A, first), saved));
    assertThrows(AssertionError.class, () -> check(entries(A, second), saved));
    assertThrows(AssertionError.class, () -> check(entries(A, first, B, second), saved));
    assertThrows(
        AssertionError.class,
        () -> check(entries(A, second, B, second, new byte[] {3}, first), saved));
    assertThrows(
        AssertionError.class,
        () -> check(entries(A, second, B, ModelValue.of(random, 20, 9)), saved));
    assertThrows(AssertionError.class, () -> check(good, entries(A, second)));
    assertThrows(AssertionError.class, () -> check(good, entries()));
    assertThrows(
        AssertionError.class, () -> expected.check(Found.of(Map.of("logged", good)), false));
    assertThrows(
        AssertionError.class,
        () ->
            expected.check(
                Found.of(Map.of("logged", good, "unlogged", saved, "other", entries())), false));
  }

  @Test
  void theDeathOfTheProcessTakesNoWriteThatHasReturned() {
    TreeMap<byte[], byte[]> before = entries(A, second, B, second);
    TreeMap<byte[], byte[]> saved = entries(A, first);
    expected.returned();
    logged.write(A, first, expected.begin());
    TreeMap<byte[], byte[]> after = entries(A, first, B, second);
    for (TreeMap<byte[], byte[]> found : List.of(before, after)) {
      expected.check(Found.of(Map.of("logged", found, "unlogged", saved)), true);
    }
    expected.returned();
    expected.check(Found.of(Map.of("logged", after, "unlogged", saved)), true);
    assertThrows(
        AssertionError.class,
        () -> expected.check(Found.of(Map.of("logged", before, "unlogged", saved)), true));
    expected.check(Found.of(Map.of("logged", before, "unlogged", saved)), false);
  }

  @Test
  void aWriteThatWasRefusedMustNotBeThere() {
    TreeMap<byte[], byte[]> before = entries(A, second, B, second);
    TreeMap<byte[], byte[]> after = entries(A, first, B, second);
    TreeMap<byte[], byte[]> saved = entries(A, first);
    expected.returned();
    expected.refused();
    check(before, saved);
    logged.write(A, first, expected.begin());
    check(after, saved);
    expected.refused();
    check(before, saved);
    assertThrows(AssertionError.class, () -> check(after, saved));
  }

  @Test
  void aTreeThatIsBeingDroppedMayBeThereOrNotAndOneThatWasDroppedMayNot() {
    TreeMap<byte[], byte[]> saved = entries(A, first);
    expected.dropping(logged);
    expected.check(Found.of(Map.of("unlogged", saved)), false);
    check(entries(A, second, B, second), saved);
    expected.dropped(logged, true);
    expected.check(Found.of(Map.of("unlogged", saved)), false);
    assertThrows(AssertionError.class, () -> check(entries(A, second, B, second), saved));
  }

  @Test
  void aTreeMayBeMissingAfterACrashIfAllThatCameBehindItsCreationIs() {
    TreeMap<byte[], byte[]> before = entries(A, second, B, second);
    TreeMap<byte[], byte[]> after = entries(A, first, B, second);
    TreeMap<byte[], byte[]> saved = entries(A, first);
    expected.created(expected.creating("late", TreeOptions.defaults()), false);
    logged.write(A, first, expected.begin());
    Found without = Found.of(Map.of("logged", before, "unlogged", saved));
    expected.check(without, false);
    assertThrows(AssertionError.class, () -> expected.check(without, true));
    assertThrows(AssertionError.class, () -> check(after, saved));
    expected.check(Found.of(Map.of("logged", before, "unlogged", saved, "late", entries())), false);
    expected.acknowledge();
    assertThrows(AssertionError.class, () -> expected.check(without, false));
  }

  @Test
  void aTreeThatWasDroppedMayBeBackIfAllThatCameBehindItsDropIsGone() {
    TreeMap<byte[], byte[]> saved = entries(A, first);
    ExpectedTree other = expected.creating("other", TreeOptions.defaults());
    expected.created(other, true);
    expected.dropping(logged);
    expected.dropped(logged, false);
    TreeMap<byte[], byte[]> back = entries(A, second, B, second);
    other.write(A, first, expected.begin());
    Map<String, TreeMap<byte[], byte[]>> before =
        Map.of("logged", back, "unlogged", saved, "other", entries());
    expected.check(Found.of(before), false);
    assertThrows(AssertionError.class, () -> expected.check(Found.of(before), true));
    expected.check(Found.of(Map.of("unlogged", saved, "other", entries(A, first))), false);
    assertThrows(
        AssertionError.class,
        () ->
            expected.check(
                Found.of(Map.of("logged", back, "unlogged", saved, "other", entries(A, first))),
                false));
  }

  @Test
  void whatExpiresIsThereBeforeThatAndGoneAfterwards() {
    logged.write(B, first, expected.begin(), 100);
    expected.acknowledge();
    TreeMap<byte[], byte[]> there = entries(A, second, B, first);
    TreeMap<byte[], byte[]> gone = entries(A, second);
    TreeMap<byte[], byte[]> saved = entries(A, first);
    check(there, saved, 98, 99);
    check(there, saved, 99, 100);
    check(gone, saved, 99, 100);
    check(gone, saved, 100, 200);
    assertThrows(AssertionError.class, () -> check(gone, saved, 98, 99));
    assertThrows(AssertionError.class, () -> check(there, saved, 100, 200));
  }

  private void check(
      TreeMap<byte[], byte[]> inLogged, TreeMap<byte[], byte[]> inUnlogged, long from, long to) {
    expected.check(new Found(Map.of("logged", inLogged, "unlogged", inUnlogged), from, to), false);
  }

  @Test
  void allTreesMustStandAtOneMomentIfAsked() {
    TreeMap<byte[], byte[]> batch = entries(A, second, B, second);
    Found atFive = Found.of(Map.of("logged", batch, "unlogged", entries(A, first)));
    expected.checkOneMoment(atFive, 4, 6);
    assertThrows(AssertionError.class, () -> expected.checkOneMoment(atFive, 6, 6));
    logged.write(A, first, expected.begin());
    Found mixed =
        Found.of(Map.of("logged", entries(A, first, B, second), "unlogged", entries(A, first)));
    assertThrows(AssertionError.class, () -> expected.checkOneMoment(mixed, 4, 7));
  }
}
