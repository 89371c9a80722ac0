package io.isobardb.lsm.simulation;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/** The names of a simulated disk: as seen, as durable, and the changes in between. */
final class SimulatedDirectory {
  /** A file loses the name {@code from} and gets the name {@code to}, at once. */
  private record Change(
      long number, SimulatedInode inode, @Nullable String from, @Nullable String to) {}

  private final Map<String, SimulatedInode> visible = new TreeMap<>();
  private final Map<String, SimulatedInode> durable = new TreeMap<>();
  private final List<Change> unsynced = new ArrayList<>();

  /** A directory with these files, all names durable. */
  static SimulatedDirectory durable(Map<String, SimulatedInode> files) {
    SimulatedDirectory directory = new SimulatedDirectory();
    directory.visible.putAll(files);
    directory.durable.putAll(files);
    return directory;
  }

  /** The same with copies of all files, to be changed independently. */
  SimulatedDirectory copy() {
    Map<SimulatedInode, SimulatedInode> copies = new IdentityHashMap<>();
    SimulatedDirectory copy = new SimulatedDirectory();
    visible.forEach((name, inode) -> copy.visible.put(name, copyOf(inode, copies)));
    durable.forEach((name, inode) -> copy.durable.put(name, copyOf(inode, copies)));
    for (Change change : unsynced) {
      SimulatedInode inode = copyOf(change.inode, copies);
      copy.unsynced.add(new Change(change.number, inode, change.from, change.to));
    }
    return copy;
  }

  private static SimulatedInode copyOf(
      SimulatedInode inode, Map<SimulatedInode, SimulatedInode> copies) {
    return copies.computeIfAbsent(inode, SimulatedInode::copy);
  }

  /** The files as a caller sees them; not to be changed. */
  Map<String, SimulatedInode> visible() {
    return visible;
  }

  /** Moves a file from no name or one to no name or another, replacing what stands there. */
  void change(long number, SimulatedInode inode, @Nullable String from, @Nullable String to) {
    Change change = new Change(number, inode, from, to);
    apply(change, visible);
    unsynced.add(change);
  }

  void sync() {
    durable.clear();
    durable.putAll(visible);
    unsynced.clear();
  }

  /** The number of the oldest mutation, of names or contents, that is not durable. */
  long oldestUnsynced(long none) {
    long oldest = unsynced.isEmpty() ? none : unsynced.get(0).number;
    for (SimulatedInode inode : visible.values()) {
      oldest = Math.min(oldest, inode.oldestUnsynced(none));
    }
    return oldest;
  }

  /** Applies a change, unless one that it builds on was lost. */
  private static void apply(Change change, Map<String, SimulatedInode> target) {
    if (change.from != null && !target.remove(change.from, change.inode)) {
      return;
    }
    if (change.to != null) {
      target.put(change.to, change.inode);
    }
  }

  /** The names after power loss in the midst of mutation {@code number}. */
  Map<String, SimulatedInode> crash(CrashMode mode, long number, SplittableRandom random) {
    Map<String, SimulatedInode> image = new HashMap<>(durable);
    int prefix = random.nextBoolean() ? random.nextInt(unsynced.size() + 1) : -1;
    for (int i = 0; i < unsynced.size(); i++) {
      Change change = unsynced.get(i);
      boolean kept =
          switch (mode) {
            case ONLY_SYNCED -> false;
            case ALL -> true;
            case PREFIX ->
                change.number < number || (change.number == number && random.nextBoolean());
            case RANDOM -> prefix < 0 ? random.nextBoolean() : i < prefix;
          };
      if (kept) {
        apply(change, image);
      }
    }
    return image;
  }
}
