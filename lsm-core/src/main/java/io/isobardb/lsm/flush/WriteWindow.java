package io.isobardb.lsm.flush;

import io.isobardb.lsm.state.TreeHandle;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;

/**
 * How much was written to each tree lately: in the last so many bytes written to all of them. Bytes
 * are the measure of time here, so that a pause changes nothing, and that unlogged trees count.
 *
 * <p>The window moves in steps, and only when {@link #look} is called: between two looks all is
 * taken to be written in one step.
 *
 * <p>Thread rule: one thread at a time.
 */
final class WriteWindow {
  private static final int STEPS = 16;

  private final long stepBytes;
  private final Map<Integer, Track> tracks = new HashMap<>();
  private long totalBytes;
  private long step;

  /** What is known of a tree. */
  private static final class Track {
    private final long[] bytesAtStep = new long[STEPS];
    private long bytes;
  }

  /**
   * @param windowBytes its length
   */
  WriteWindow(long windowBytes) {
    this.stepBytes = Math.max(1, windowBytes / STEPS);
  }

  /** Takes in what was written to the trees of a store since the last look. */
  void look(Collection<TreeHandle> trees) {
    for (TreeHandle tree : trees) {
      note(tree.id(), tree.bytesWritten());
    }
    if (tracks.size() > trees.size()) {
      Set<Integer> there = new HashSet<>();
      trees.forEach(tree -> there.add(tree.id()));
      tracks.keySet().retainAll(there);
    }
    move();
  }

  /** Notes what has been written to a tree since the store was opened. */
  void note(int treeId, long bytesWritten) {
    Track track = tracks.computeIfAbsent(treeId, id -> new Track());
    totalBytes += bytesWritten - track.bytes;
    track.bytes = bytesWritten;
  }

  /** Moves the window up to what was noted. */
  void move() {
    long next = totalBytes / stepBytes;
    for (long at = Math.max(step, next - STEPS) + 1; at <= next; at++) {
      for (Track track : tracks.values()) {
        track.bytesAtStep[(int) (at % STEPS)] = track.bytes;
      }
    }
    step = next;
  }

  /** Bytes written to a tree in the window. */
  long bytes(int treeId) {
    Track track = tracks.get(treeId);
    return track == null ? 0 : track.bytes - track.bytesAtStep[(int) ((step + 1) % STEPS)];
  }
}
