package io.isobardb.bench.crash;

import static java.nio.charset.StandardCharsets.US_ASCII;

import io.isobardb.bench.crash.KillCycles.Moment;
import io.isobardb.bench.engine.Directories;
import io.isobardb.lsm.Backup;
import io.isobardb.lsm.Backups;
import io.isobardb.lsm.BulkLoad;
import io.isobardb.lsm.Cursor;
import io.isobardb.lsm.Store;
import io.isobardb.lsm.StoreOptions;
import io.isobardb.lsm.Tree;
import io.isobardb.lsm.error.Finding;
import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * What a victim does with whole trees and whole stores, beside its writes, one after the other: a
 * tree is loaded, backed up, copied, renamed, restored elsewhere, emptied, dropped, and then the
 * next one.
 *
 * <p>Which chore step {@code n} is, and what is there after it, follows from its number.
 */
final class KillChores {
  private static final List<Moment> CHORES =
      List.of(
          Moment.LOADING,
          Moment.BACKING_UP,
          Moment.COPYING,
          Moment.RENAMING,
          Moment.RESTORING,
          Moment.EMPTYING,
          Moment.DROPPING);

  /** Entries of a tree that is loaded. */
  private static final int ENTRIES = 1000;

  private static final int BACKUPS_KEPT = 2;
  private static final String LOADED = "loaded-";
  private static final String RENAMED = "renamed-";

  /** Where backups go; copies and restored stores go to another one. */
  private final Path backups;

  private final Path copies;

  /**
   * @param work a directory for backups, copies and restored stores; made where it is needed
   */
  KillChores(Path work) {
    this.backups = work.resolve("backups");
    this.copies = work.resolve("copies");
  }

  static Moment moment(long step) {
    return CHORES.get((int) (step % CHORES.size()));
  }

  /** Whether a moment is one of a chore. */
  static boolean isChore(Moment moment) {
    return CHORES.contains(moment);
  }

  /** Takes a step. One that was cut off, and of which nothing is seen, can be taken again. */
  void take(Store store, long step) throws IOException {
    long round = step / CHORES.size();
    switch (moment(step)) {
      case LOADING -> load(store, round);
      case BACKING_UP -> {
        try (Backups all = Backups.open(backups)) {
          all.create(store);
          all.keep(BACKUPS_KEPT);
        }
      }
      case COPYING -> store.checkpointTo(Files.createDirectories(copies).resolve("copy-" + step));
      case RENAMING -> store.renameTree(LOADED + round, RENAMED + round);
      case RESTORING -> {
        try (Backups all = Backups.open(backups)) {
          Files.createDirectories(copies);
          all.restore(newest(all), copies.resolve("restored-" + step));
        }
      }
      case EMPTYING -> store.tree(RENAMED + round).deleteRange(null, null);
      default -> store.dropTree(RENAMED + round);
    }
  }

  private static long newest(Backups all) {
    List<Backup> list = all.list();
    return list.get(list.size() - 1).id();
  }

  private static void load(Store store, long round) {
    Tree tree = store.openTree(LOADED + round);
    try (BulkLoad load = store.bulkLoad(tree)) {
      for (int i = 0; i < ENTRIES; i++) {
        load.add(tree, key(i), value(tree.name(), i));
      }
      load.commit();
    }
  }

  private static byte[] key(int i) {
    return String.format("%06d", i).getBytes(US_ASCII);
  }

  /** The same after the tree has been renamed. */
  private static byte[] value(String tree, int i) {
    byte[] value = new byte[100];
    Arrays.fill(value, (byte) (i + numberOf(tree)));
    return value;
  }

  private static long numberOf(String tree) {
    return Long.parseLong(tree.substring(tree.indexOf('-') + 1));
  }

  /**
   * The step that comes next, by what is there.
   *
   * @param done the last step that has returned; one more may have been under way
   */
  long next(Store store, long done) {
    Map<String, Integer> found = found(store);
    for (long next = done + 1; next <= done + 2; next++) {
      if (found.equals(expected(next)) || found.equals(expectedWithEmpty(next))) {
        return next;
      }
    }
    throw new AssertionError(
        "after step "
            + done
            + " there is "
            + found
            + ", not "
            + expected(done + 1)
            + " or "
            + expected(done + 2));
  }

  /** The trees that are loaded, and how many entries are there. */
  private static Map<String, Integer> found(Store store) {
    Map<String, Integer> found = new HashMap<>();
    for (String name : store.treeNames()) {
      if (name.startsWith(LOADED) || name.startsWith(RENAMED)) {
        found.put(name, entries(store.tree(name)));
      }
    }
    return found;
  }

  private static int entries(Tree tree) {
    int count = 0;
    try (Cursor cursor = tree.cursor()) {
      for (boolean more = cursor.first(); more; more = cursor.next()) {
        int i = Integer.parseInt(new String(cursor.key(), US_ASCII));
        if (!Arrays.equals(cursor.value(), value(tree.name(), i))) {
          throw new AssertionError(tree.name() + " holds what never was, at " + i);
        }
        count++;
      }
    }
    return count;
  }

  /** What {@link #found} gives before a step. */
  private static Map<String, Integer> expected(long next) {
    long last = next - 1;
    if (last < 0) {
      return Map.of();
    }
    long round = last / CHORES.size();
    return switch (moment(last)) {
      case LOADING, BACKING_UP, COPYING -> Map.of(LOADED + round, ENTRIES);
      case RENAMING, RESTORING -> Map.of(RENAMED + round, ENTRIES);
      case EMPTYING -> Map.of(RENAMED + round, 0);
      default -> Map.of();
    };
  }

  /** As {@link #expected}, if the next tree has been created, but not loaded. */
  private static Map<String, Integer> expectedWithEmpty(long next) {
    Map<String, Integer> expected = new HashMap<>(expected(next));
    if (moment(next) == Moment.LOADING) {
      expected.put(LOADED + next / CHORES.size(), 0);
    }
    return expected;
  }

  /**
   * Fails unless all backups are whole, and all copies and restored stores that can be opened, as
   * must be those of steps that have returned. Copies are deleted.
   *
   * @param first the victim's first step
   * @param done the last one that has returned
   */
  void check(long first, long done, StoreOptions options) throws IOException {
    if (Files.exists(backups)) {
      checkBackups(done);
    }
    for (long step = first; step <= done; step++) {
      Moment chore = moment(step);
      if ((chore == Moment.COPYING && !isStore(copies.resolve("copy-" + step)))
          || (chore == Moment.RESTORING && !isStore(copies.resolve("restored-" + step)))) {
        throw new AssertionError(
            "step " + step + ", " + chore + ", has returned, but left no store");
      }
    }
    if (Files.exists(copies)) {
      try (DirectoryStream<Path> all = Files.newDirectoryStream(copies, KillChores::isStore)) {
        for (Path copy : all) {
          checkCopy(copy, options);
        }
      }
      Directories.delete(copies);
    }
  }

  private static boolean isStore(Path directory) {
    return Files.exists(directory.resolve("CURRENT"));
  }

  private static void checkCopy(Path copy, StoreOptions options) throws IOException {
    KillCycles.inspect(copy, options);
    try (Store store = Store.open(copy, options)) {
      for (Map.Entry<String, Integer> tree : found(store).entrySet()) {
        if (tree.getValue() % ENTRIES != 0) {
          throw new AssertionError(copy + " has a tree in part: " + tree);
        }
      }
    }
  }

  private void checkBackups(long done) {
    try (Backups all = Backups.open(backups)) {
      List<Finding> findings = all.verify();
      if (!findings.isEmpty()) {
        throw new AssertionError("the backups have " + findings);
      }
      if (done >= 1 && all.list().isEmpty()) {
        throw new AssertionError("there is no backup after step " + done);
      }
    }
  }
}
