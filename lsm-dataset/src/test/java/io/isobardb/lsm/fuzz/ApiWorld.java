package io.isobardb.lsm.fuzz;

import static java.util.Objects.requireNonNull;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.isobardb.lsm.Cursor;
import io.isobardb.lsm.Store;
import io.isobardb.lsm.StoreOptions;
import io.isobardb.lsm.Tree;
import io.isobardb.lsm.TreeOptions;
import io.isobardb.lsm.error.IsobarException;
import io.isobardb.lsm.fuzz.ApiModel.Contents;
import io.isobardb.lsm.fuzz.ApiModel.Value;
import io.isobardb.lsm.fuzz.Demand.Refusal;
import io.isobardb.lsm.inspect.CheckProgress;
import io.isobardb.lsm.simulation.Inside;
import io.isobardb.lsm.simulation.SimulatedStorage;
import io.isobardb.lsm.simulation.SimulatedWorld;
import io.isobardb.repair.check.OfflineStore;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * The store that an {@link ApiPlay} uses, opened again and again, the handles of its trees, and the
 * model of what it holds. Handles of earlier openings, and of trees that were dropped, are kept: to
 * use them is part of the play.
 */
public final class ApiWorld {
  private static final int MOST_HANDLES = 8;
  private static final int MOST_TREES = 6;

  /** They take the most time of all calls. */
  private static final int MOST_OPENINGS = 5;

  /** A tree as one opening of the store gave it. */
  public record Handle(Tree tree, Contents contents, int opening) {}

  public final ApiModel model = new ApiModel();
  private final List<Handle> handles = new ArrayList<>();
  private final int pageSize;
  private SimulatedWorld world;
  private StoreOptions options;
  private @Nullable Store store;
  private boolean open;
  private int opening;

  public ApiWorld(ApiScript.Call first) {
    world = new SimulatedWorld(first.which());
    world.storage().supportsDirect(first.rest() % 2 == 0);
    pageSize = ApiScript.pageSize(first.letter());
    options = ApiScript.storeOptions(pageSize, first.key());
    open();
  }

  /** The store of the last opening, which may be closed. */
  public Store store() {
    return requireNonNull(store);
  }

  public StoreOptions options() {
    return options;
  }

  public int pageSize() {
    return pageSize;
  }

  public int opening() {
    return opening;
  }

  public boolean isOpen(int which) {
    return open && which == opening;
  }

  public SimulatedWorld simulated() {
    return world;
  }

  /** The longest value that the store tells it takes. */
  public int maxValueBytes() {
    return Inside.of(store()).maxValueBytes();
  }

  // ---- opening and closing

  private void open() {
    try {
      store = world.open(options);
    } catch (IsobarException e) {
      // What was written with more memory may not fit; then it is told what will do.
      Matcher told = Pattern.compile("a memoryBudget of (\\d+) bytes").matcher(e.getMessage());
      assertTrue(told.find(), e.toString());
      options =
          options.toBuilder().memoryBudget(Long.parseLong(told.group(1))).writeMemory(0).build();
      store = world.open(options);
    }
    open = true;
    opening++;
    assertEquals(List.copyOf(model.trees.keySet()), trees());
  }

  /** With other options, if {@code other} is not 0. */
  public void reopen(int other) throws IOException {
    if (open && opening >= MOST_OPENINGS) {
      return;
    }
    close();
    if (other != 0) {
      options = ApiScript.storeOptions(pageSize, other);
    }
    open();
    verify();
  }

  /** Closes the store; the files it leaves have to be sound. */
  public void close() throws IOException {
    if (!open) {
      return;
    }
    open = false;
    store().close();
    world.checkClosed();
    check(world.storage().copy());
  }

  private void check(SimulatedStorage disk) throws IOException {
    try (OfflineStore inspector = OfflineStore.open(disk, 8 << 20, options.keyOrders())) {
      assertEquals(List.of(), inspector.check(CheckProgress.NONE).findings());
    }
  }

  /** The process dies, the machine goes on: all that logged trees acknowledged is there. */
  public void kill() throws IOException {
    if (!open || opening >= MOST_OPENINGS) {
      return;
    }
    SimulatedStorage left = world.storage().copy();
    abandon();
    world = new SimulatedWorld(left, opening);
    open();
    for (Contents tree : model.trees.values()) {
      if (!tree.options.logged()) {
        tree.forget();
        try (Cursor cursor = store().tree(tree.name).cursor()) {
          model.tick();
          for (boolean more = cursor.first(); more; more = cursor.next()) {
            model.write(tree, cursor.key(), known(tree, cursor));
          }
        }
      }
    }
    verify();
  }

  /** What an unlogged tree has after a crash is something that was written there. */
  private static Value known(Contents tree, Cursor cursor) {
    byte[] bytes = cursor.value();
    Value value = Value.of(bytes);
    assertArrayEquals(value.bytes(), bytes, () -> "never written to " + tree);
    return value;
  }

  /** Gives the memory of an open store back. */
  public void abandon() {
    if (open) {
      open = false;
      store().close();
    }
  }

  /** All trees have what the model says. */
  public void verify() {
    for (Contents contents : model.trees.values()) {
      Tree tree = store().tree(contents.name);
      int count = 0;
      try (Cursor cursor = tree.cursor()) {
        for (boolean more = cursor.first(); more; more = cursor.next()) {
          Value value = contents.entries.get(cursor.key());
          assertArrayEquals(Value.bytes(value), cursor.value(), () -> "in " + contents);
          count++;
        }
      }
      assertEquals(contents.entries.size(), count, () -> "entries of " + contents);
      int n = 0;
      for (Map.Entry<byte[], Long> key : contents.written.entrySet()) {
        if (n++ % 7 == 0) {
          byte[] expected = Value.bytes(contents.entries.get(key.getKey()));
          assertArrayEquals(expected, tree.get(key.getKey()), () -> "in " + contents);
        }
      }
    }
  }

  // ---- trees

  public void openTree(@Nullable String name, TreeOptions treeOptions, boolean create) {
    Contents known = name == null ? null : model.trees.get(name);
    boolean fresh = known == null;
    boolean same = fresh || known.options.equals(asStored(treeOptions, known.options));
    boolean storable = name != null && ApiScript.canBeStored(name);
    if (fresh && storable && model.trees.size() >= MOST_TREES) {
      return;
    }
    Demand demand =
        new Demand()
            .must(!open, Refusal.CLOSED)
            .must(name == null, Refusal.NULL)
            .must(name != null && fresh && !storable, Refusal.ARGUMENT)
            .must(!fresh && (create || !same), Refusal.ARGUMENT);
    demand.met(
        () -> {
          Tree tree =
              create ? store().createTree(name, treeOptions) : store().openTree(name, treeOptions);
          Contents contents = fresh ? new Contents(name, treeOptions) : known;
          model.trees.put(name, contents);
          assertEquals(name, tree.name());
          remember(tree, contents);
        });
  }

  /** How pages are compressed may change with each opening. */
  private static TreeOptions asStored(TreeOptions options, TreeOptions stored) {
    return options.toBuilder().compression(stored.compression()).build();
  }

  public void tree(@Nullable String name) {
    Contents known = name == null ? null : model.trees.get(name);
    new Demand()
        .must(!open, Refusal.CLOSED)
        .must(name == null, Refusal.NULL)
        .must(name != null && known == null, Refusal.ARGUMENT)
        .met(
            () -> {
              Tree tree = store().tree(name);
              remember(tree, requireNonNull(known));
            });
  }

  public void dropTree(@Nullable String name) {
    Contents known = name == null ? null : model.trees.get(name);
    boolean dropped =
        new Demand()
            .must(!open, Refusal.CLOSED)
            .must(name == null, Refusal.NULL)
            .must(name != null && known == null, Refusal.ARGUMENT)
            .met(() -> store().dropTree(name));
    if (dropped) {
      model.trees.remove(requireNonNull(name));
      requireNonNull(known).dropped = true;
    }
    if (open) {
      assertEquals(List.copyOf(model.trees.keySet()), trees());
    }
  }

  /** The names of the trees there are, but for those of the dataset. */
  private List<String> trees() {
    return store().treeNames().stream().filter(name -> !name.startsWith(ApiDataset.NAME)).toList();
  }

  public boolean hasTree(String name) {
    return store().treeNames().contains(name);
  }

  private void remember(Tree tree, Contents contents) {
    if (handles.size() == MOST_HANDLES) {
      handles.remove(0);
    }
    handles.add(new Handle(tree, contents, opening));
  }

  /** One of the latest handles for small numbers; null if there is none at all. */
  @Nullable Handle handle(int which) {
    return handles.isEmpty() ? null : handles.get(handles.size() - 1 - which % handles.size());
  }

  /** What may come of a use of a handle. */
  public Demand use(Handle handle) {
    boolean closed = !isOpen(handle.opening);
    boolean dropped = handle.contents.dropped;
    return new Demand().must(closed, Refusal.CLOSED).must(dropped, Refusal.DROPPED);
  }
}
