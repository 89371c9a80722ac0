package io.isobardb.lsm.tuning;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static java.util.Objects.requireNonNull;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.isobardb.lsm.Cursor;
import io.isobardb.lsm.CursorOptions;
import io.isobardb.lsm.Store;
import io.isobardb.lsm.StoreOptions;
import io.isobardb.lsm.Tree;
import io.isobardb.lsm.TreeOptions;
import io.isobardb.lsm.experiment.ExperimentalOptions;
import io.isobardb.lsm.observe.StoreListener;
import io.isobardb.lsm.option.Levels;
import io.isobardb.lsm.option.Runs;
import io.isobardb.lsm.policy.Adaptation;
import io.isobardb.lsm.simulation.Inside;
import io.isobardb.lsm.simulation.SimulatedWorld;
import io.isobardb.lsm.state.WriteSample;
import io.isobardb.lsm.version.L0Limits;
import io.isobardb.lsm.version.L0Rules;
import io.isobardb.tuner.shape.ShapeDecision;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;
import java.util.logging.Handler;
import java.util.logging.Level;
import java.util.logging.LogRecord;
import java.util.logging.Logger;
import java.util.logging.StreamHandler;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Trees that get other runs, in whole, simulated stores. {@code -Disobar.seed=S} sets the seed. */
@Tag("any-jdk")
class ShapeServiceTest {
  private static final long SEED = Long.getLong("isobar.seed", 1);
  private static final int RECORDS = 8_000;
  private static final int VALUE_BYTES = 1_000;

  /** Windows have 2,048 operations. */
  private static final int WINDOW = 2_048;

  private final SimulatedWorld world = new SimulatedWorld(SEED);
  private final SplittableRandom random = new SplittableRandom(SEED);
  private final List<StoreListener.Shape> told = new ArrayList<>();

  private static StoreOptions.Builder builder(Adaptation adaptation) {
    StoreOptions.Builder builder =
        StoreOptions.builder()
            .memoryBudget(4 << 20)
            .writeMemory(128 << 10)
            .pageSize(4096)
            .logLimit(2 << 20)
            .memoryTuner(false);
    return ExperimentalOptions.set(builder, e -> e.adaptation(adaptation));
  }

  private Store open(Adaptation adaptation) {
    return open(builder(adaptation).build());
  }

  private Store open(StoreOptions options) {
    Store store = world.open(options);
    store.addListener(
        new StoreListener() {
          @Override
          public void onShaped(Shape event) {
            told.add(event);
          }
        });
    return store;
  }

  private static byte[] key(int record) {
    return String.format("user%08d", record).getBytes(US_ASCII);
  }

  private void put(Tree tree, int record) {
    byte[] value = new byte[VALUE_BYTES];
    Arrays.fill(value, (byte) record);
    tree.put(key(record), value);
    world.background(6);
  }

  /** Puts all records, in an order of which L0 has much to merge: what it delivers tells sizes. */
  private void load(Tree tree) {
    for (int i = 0; i < RECORDS; i++) {
      put(tree, (int) (i * 4_999L % RECORDS));
    }
  }

  private void write(Tree tree, int operations) {
    for (int i = 0; i < operations; i++) {
      put(tree, random.nextInt(RECORDS));
    }
  }

  private void scan(Tree tree, int operations) {
    for (int i = 0; i < operations; i++) {
      int from = random.nextInt(RECORDS);
      try (Cursor cursor = tree.cursor(CursorOptions.all().from(key(from)))) {
        boolean more = cursor.first();
        for (int j = 0; j < 10 && more; j++) {
          assertEquals((byte) (from + j), cursor.value()[0]);
          more = cursor.next();
        }
      }
      world.background(4);
    }
  }

  private List<ShapeDecision> recorded() throws IOException {
    return world.storage().exists(TunerFile.NAME)
        ? TunerFile.parseShapes(world.text(TunerFile.NAME))
        : List.of();
  }

  @Test
  void whatIsWrittenGetsMoreRunsAndWhatIsScannedFewer() throws IOException {
    try (Store store = open(Adaptation.ON)) {
      Tree tree = store.openTree("t");
      load(tree);
      write(tree, 11 * WINDOW);
      assertFalse(tree.runs().isLeveled(), told.toString());
      assertTrue(tree.options().runs().isLeveled(), "it is not what somebody has set");
      scan(tree, 15 * WINDOW);
      assertEquals(Runs.leveled(), tree.runs(), told.toString());
      assertEquals(List.of(), Inside.handle(tree).states().current().version().tiers());
      for (StoreListener.Shape event : told) {
        assertEquals("t", event.tree());
        assertTrue(event.window() > 0 && !event.reason().isEmpty(), event.toString());
      }
      assertEquals(
          told.stream().map(it -> it.window() + it.action() + it.to()).toList(),
          recorded().stream().map(it -> it.window() + it.action().name() + it.to()).toList());
    }
    world.checkClosed();
  }

  @Test
  void whatWasDecidedHoldsAfterReopening() {
    String runs;
    try (Store store = open(Adaptation.ON)) {
      Tree tree = store.openTree("t");
      load(tree);
      write(tree, 11 * WINDOW);
      runs = tree.runs().toString();
    }
    assertFalse(runs.equals("LEVELED"), told.toString());
    long last = told.get(told.size() - 1).window();
    told.clear();
    try (Store store = open(Adaptation.ON)) {
      Tree tree = store.openTree("t");
      assertEquals(runs, tree.runs().toString());
      scan(tree, 15 * WINDOW);
      assertTrue(told.get(0).window() > last, told.toString());
    }
    try (Store store = open(Adaptation.OFF)) {
      assertEquals("LEVELED", store.openTree("t").runs().toString());
    }
  }

  @Test
  void observingTellsAndChangesNothing() {
    try (Store store = open(Adaptation.OBSERVE)) {
      Tree tree = store.openTree("t");
      load(tree);
      write(tree, 11 * WINDOW);
      assertEquals(Runs.leveled(), tree.runs());
      assertEquals("WOULD_CHANGE", told.get(0).action());
      assertEquals("LEVELED", told.get(0).from());
      int decisions = told.size();
      write(tree, 2 * WINDOW);
      assertEquals(decisions, told.size(), told.toString());
    }
    told.clear();
    // What would have been is not what is.
    try (Store store = open(Adaptation.ON)) {
      assertEquals(Runs.leveled(), store.openTree("t").runs());
    }
  }

  /** The look of the first decision takes so long. */
  private void takeLook(Store store, long nanos) {
    store.addListener(
        new StoreListener() {
          @Override
          public void onShaped(Shape event) {
            if (told.size() == 1) {
              world.clock().advance(nanos);
            }
          }
        });
  }

  @Test
  void itRestsForAsLongAsALookAllows() {
    long look = 1_000_000_000;
    try (Store store = open(Adaptation.ON)) {
      takeLook(store, look);
      Tree tree = store.openTree("t");
      load(tree);
      write(tree, 11 * WINDOW);
      assertEquals(1, told.size(), told.toString());
      scan(tree, 15 * WINDOW);
      assertEquals(1, told.size(), told.toString());
      world.pass(99 * look);
      scan(tree, 15 * WINDOW);
      assertEquals(Runs.leveled(), tree.runs(), told.toString());
    }
  }

  /** The process was stopped, say: the look itself took no such time. */
  @Test
  void aLookThatTookAnHourIsNotFollowedByDaysOfRest() {
    try (Store store = open(Adaptation.ON)) {
      takeLook(store, 3_600_000_000_000L);
      Tree tree = store.openTree("t");
      load(tree);
      write(tree, 11 * WINDOW);
      assertEquals(1, told.size(), told.toString());
      world.pass(600_000_000_000L);
      scan(tree, 15 * WINDOW);
      assertEquals(Runs.leveled(), tree.runs(), told.toString());
    }
  }

  @Test
  void nothingWaitsForATreeThatWasEmptiedAndIsUsed() {
    try (Store store = open(Adaptation.ON)) {
      Tree first = store.openTree("t");
      load(first);
      for (int i = 0; told.isEmpty() && i < 11 * WINDOW; i++) {
        write(first, 1);
      }
      first.deleteRange(null, null);
      store.flush();
      store.awaitQuiet();
      Tree second = store.openTree("u");
      load(second);
      for (int i = 0; i < 14 * WINDOW; i++) {
        write(second, 1);
        first.get(key(i));
      }
      assertEquals(
          List.of("CHANGE", "UNJUDGED"),
          told.stream().limit(2).map(StoreListener.Shape::action).toList(),
          told.toString());
    }
  }

  /** By what is learnt of its writes there is no end to its keys. */
  @Test
  void aTreeWhoseKeysAreNeverWrittenAgainEndsNothing() {
    List<Throwable> failures = new ArrayList<>();
    Handler handler =
        new StreamHandler() {
          @Override
          public void publish(LogRecord record) {
            failures.add(record.getThrown());
          }
        };
    Logger logger = Logger.getLogger(ShapeService.class.getName());
    Level level = logger.getLevel();
    logger.setLevel(Level.WARNING);
    logger.addHandler(handler);
    try (Store store = open(builder(Adaptation.ON).levels(Levels.optimised()).build())) {
      Tree queue = store.openTree("t");
      for (int i = 0; i < 40_000; i++) {
        put(queue, i);
        if (i >= RECORDS && i % 1_000 == 0) {
          queue.deleteRange(null, key(i - RECORDS));
        }
      }
      WriteSample sample = requireNonNull(Inside.handle(queue).counts().sample());
      double keys = requireNonNull(sample.popularity(1 << 30)).keys();
      assertEquals(Double.POSITIVE_INFINITY, keys);
    } finally {
      logger.removeHandler(handler);
      logger.setLevel(level);
    }
    assertEquals(List.of(), failures);
  }

  @Test
  void nothingWaitsForATreeThatIsNotUsedAnyMore() {
    try (Store store = open(Adaptation.ON)) {
      Tree first = store.openTree("t");
      load(first);
      for (int i = 0; told.isEmpty() && i < 11 * WINDOW; i++) {
        write(first, 1);
      }
      Tree second = store.openTree("u");
      load(second);
      write(second, 14 * WINDOW);
      assertEquals(
          List.of("CHANGE", "UNJUDGED"),
          told.stream().map(StoreListener.Shape::action).toList(),
          told.toString());
      assertFalse(first.runs().isLeveled(), "what it has stays");
    }
  }

  @Test
  void runsThatSomebodyHasSetAreLeftAlone() {
    try (Store store = open(Adaptation.ON)) {
      Tree given = store.openTree("t", TreeOptions.builder().runs(Runs.leveled()).build());
      load(given);
      write(given, 7 * WINDOW);
      assertEquals(Runs.leveled(), given.runs());
      assertEquals(List.of(), told);
      given.setRuns(Runs.lazy(4));
    }
    try (Store store = open(Adaptation.ON)) {
      Tree stored = store.openTree("t");
      write(stored, 2 * WINDOW);
      scan(stored, 5 * WINDOW);
      assertEquals(Runs.lazy(4), stored.runs());
      assertEquals(List.of(), told);
    }
  }

  @Test
  void whoSetsRunsEndsWhatWasChosen() {
    try (Store store = open(Adaptation.ON)) {
      Tree tree = store.openTree("t");
      load(tree);
      write(tree, 11 * WINDOW);
      assertFalse(tree.runs().isLeveled(), told.toString());
      tree.setRuns(Runs.leveled());
      assertEquals(Runs.leveled(), tree.runs());
      int decisions = told.size();
      write(tree, 4 * WINDOW);
      assertEquals(decisions, told.size());
      assertEquals(Runs.leveled(), tree.runs());
    }
  }

  @Test
  void aTreeThatIsReadFromTheCacheAloneIsLeftAsItIs() {
    try (Store store = open(Adaptation.ON)) {
      Tree tree = store.openTree("t");
      for (int i = 0; i < 200; i++) {
        put(tree, i);
      }
      store.flush();
      for (int i = 0; i < 4 * WINDOW; i++) {
        tree.get(key(random.nextInt(200)));
      }
      world.background(1_000);
      assertEquals(List.of(), told);
    }
  }

  /** Uses an empty tree from its beginning; about two windows. */
  private void fill(Tree tree, int readsPerPut) {
    for (int i = 0; i < 5_000 / (1 + readsPerPut); i++) {
      put(tree, i);
      for (int j = 0; j < readsPerPut; j++) {
        tree.get(key(random.nextInt(i + 1)));
        world.background(4);
      }
    }
  }

  private static int l0Start(Tree tree) {
    return Inside.handle(tree).shape().l0Start();
  }

  @Test
  void aTreeBeginsAsItsFirstFillTells() throws IOException {
    try (Store store = open(Adaptation.ON)) {
      Tree tree = store.openTree("t");
      fill(tree, 1);
      assertEquals("BEGIN", told.get(0).action(), told.toString());
      assertEquals("LEVELED", told.get(0).from());
      assertEquals("LEVELED,L0=8", told.get(0).to());
      assertEquals(8, l0Start(tree));
      assertEquals(8, Inside.handle(tree).l0Limits(L0Rules.fixed(L0Limits.DEFAULT)).start());
      assertEquals("LEVELED,L0=8", recorded().get(0).to());
    }
    try (Store store = open(Adaptation.ON)) {
      assertEquals(8, l0Start(store.openTree("t")), "it holds after reopening");
    }
    try (Store store = open(Adaptation.OFF)) {
      assertEquals(0, l0Start(store.openTree("t")));
    }
  }

  @Test
  void aLoadTellsNothingAndWhatSomebodyHasSetStays() {
    try (Store store = open(Adaptation.ON)) {
      Tree loaded = store.openTree("loaded");
      fill(loaded, 0);
      assertEquals(0, l0Start(loaded), told.toString());
      Tree set = store.openTree("set", TreeOptions.builder().runs(Runs.leveled()).build());
      fill(set, 1);
      assertEquals(0, l0Start(set), told.toString());
      assertEquals(List.of(), told);
    }
  }
}
