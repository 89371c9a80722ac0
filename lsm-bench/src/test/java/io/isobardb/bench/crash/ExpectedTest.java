package io.isobardb.bench.crash;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.isobardb.bench.crash.Expected.ExpectedTree;
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

  /** Write 1 is acknowledged, 2 is a batch, 3 and 4 go to an unlogged tree. */
  @BeforeEach
  void write() {
    expected.created(logged);
    expected.created(unlogged);
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
    return expected.check(Map.of("logged", inLogged, "unlogged", inUnlogged), false);
  }

  @Test
  void thePrefixAndTheCheckpointAreFound() {
    Expected.Moments found = check(entries(A, second, B, second), entries(A, first));
    assertEquals(3, found.checkpoint());
    assertTrue(found.latest() >= 2);
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
    assertThrows(AssertionError.class, () -> expected.check(Map.of("logged", good), false));
    assertThrows(
        AssertionError.class,
        () -> expected.check(Map.of("logged", good, "unlogged", saved, "other", entries()), false));
  }

  @Test
  void theDeathOfTheProcessTakesNoWriteThatHasReturned() {
    TreeMap<byte[], byte[]> before = entries(A, second, B, second);
    TreeMap<byte[], byte[]> saved = entries(A, first);
    expected.returned();
    logged.write(A, first, expected.begin());
    TreeMap<byte[], byte[]> after = entries(A, first, B, second);
    for (TreeMap<byte[], byte[]> found : List.of(before, after)) {
      expected.check(Map.of("logged", found, "unlogged", saved), true);
    }
    expected.returned();
    expected.check(Map.of("logged", after, "unlogged", saved), true);
    assertThrows(
        AssertionError.class,
        () -> expected.check(Map.of("logged", before, "unlogged", saved), true));
    expected.check(Map.of("logged", before, "unlogged", saved), false);
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
    expected.check(Map.of("unlogged", saved), false);
    check(entries(A, second, B, second), saved);
    expected.dropped(logged);
    expected.check(Map.of("unlogged", saved), false);
    assertThrows(AssertionError.class, () -> check(entries(A, second, B, second), saved));
  }
}
