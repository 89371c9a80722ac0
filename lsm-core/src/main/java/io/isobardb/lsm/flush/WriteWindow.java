package io.isobardb.lsm.flush;

import io.isobardb.lsm.state.Catalog;
import io.isobardb.lsm.state.TreeHandle;
import java.util.HashMap;
import java.util.Map;

/**
 * What became of each tree lately, in the last so many bytes written to all of them: how much was
 * written to it, how much of it was flushed, and why, and the most it had in memory. Bytes are the
 * measure of time here, so that a pause changes nothing, and that unlogged trees count.
 *
 * <p>The window moves in steps, and only when {@link #look} is called: between two looks all is
 * taken to be written in one step.
 *
 * <p>Thread rule: all methods may be called by any thread.
 */
public final class WriteWindow {
  private static final int STEPS = 16;

  private final long stepBytes;
  private final Map<Integer, Track> tracks = new HashMap<>();
  private long totalBytes;
  private long step;

  /**
   * What became of a tree lately.
   *
   * @param writtenBytes bytes written to it, times its weight
   * @param forMemoryBytes what flushes took that memory called for
   * @param flushedBytes what all flushes took
   * @param mostBytes the most that it had in memory
   * @param known whether so much was written since the store was opened that this says something
   */
  public record Lately(
      long writtenBytes, long forMemoryBytes, long flushedBytes, long mostBytes, boolean known) {}

  /** What is known of a tree. */
  private static final class Track {
    private final long[] bytesAtStep = new long[STEPS];
    private final long[] forMemoryAtStep = new long[STEPS];
    private final long[] flushedAtStep = new long[STEPS];
    private final long[] mostInStep = new long[STEPS];
    private long bytes;
    private long forMemory;
    private long flushed;

    long most() {
      long most = 0;
      for (long bytes : mostInStep) {
        most = Math.max(most, bytes);
      }
      return most;
    }
  }

  /**
   * @param windowBytes its length
   */
  public WriteWindow(long windowBytes) {
    this.stepBytes = Math.max(1, windowBytes / STEPS);
  }

  /** Takes in what was written to the trees of a store since the last look. */
  synchronized void look(Catalog catalog) {
    // What others have written is noted when it is flushed.
    for (TreeHandle tree : catalog.holders()) {
      note(tree.id(), tree.counts().bytesWritten());
    }
    if (totalBytes / stepBytes > step) {
      tracks.keySet().removeIf(id -> catalog.tree(id) == null);
    }
    move();
  }

  /** Notes what has been written to a tree since the store was opened. */
  public synchronized void note(int treeId, long bytesWritten) {
    Track track = track(treeId);
    totalBytes += bytesWritten - track.bytes;
    track.bytes = bytesWritten;
  }

  /** Notes what a flush took from a tree, for memory's sake or another's. */
  public synchronized void onFlushed(int treeId, long bytes, boolean forMemory) {
    Track track = track(treeId);
    track.flushed += bytes;
    track.forMemory += forMemory ? bytes : 0;
  }

  /** Notes what a tree has in memory now. */
  public synchronized void holds(int treeId, long bytes) {
    long[] most = track(treeId).mostInStep;
    int at = (int) (step % STEPS);
    most[at] = Math.max(most[at], bytes);
  }

  /** A tree was dropped. */
  synchronized void forget(int treeId) {
    tracks.remove(treeId);
  }

  private Track track(int treeId) {
    return tracks.computeIfAbsent(treeId, id -> new Track());
  }

  /** Moves the window up to what was noted. */
  public synchronized void move() {
    long next = totalBytes / stepBytes;
    for (long at = Math.max(step, next - STEPS) + 1; at <= next; at++) {
      int i = (int) (at % STEPS);
      for (Track track : tracks.values()) {
        track.bytesAtStep[i] = track.bytes;
        track.forMemoryAtStep[i] = track.forMemory;
        track.flushedAtStep[i] = track.flushed;
        track.mostInStep[i] = 0;
      }
    }
    step = next;
  }

  /**
   * What became of a tree in the window.
   *
   * @param weight how much its writes count
   */
  public synchronized Lately lately(int treeId, double weight) {
    Track track = tracks.get(treeId);
    if (track == null) {
      return new Lately(0, 0, 0, 0, false);
    }
    int first = (int) ((step + 1) % STEPS);
    return new Lately(
        (long) ((track.bytes - track.bytesAtStep[first]) * weight),
        track.forMemory - track.forMemoryAtStep[first],
        track.flushed - track.flushedAtStep[first],
        track.most(),
        step >= STEPS);
  }

  /** The most bytes that a tree was noted to have in memory in the window. */
  public synchronized long mostBytes(int treeId) {
    Track track = tracks.get(treeId);
    return track == null ? 0 : track.most();
  }
}
