package io.isobardb.lsm.flush;

import io.isobardb.lsm.error.DiskFullException;
import io.isobardb.lsm.schedule.Job;
import io.isobardb.lsm.state.TreeHandle;
import java.io.IOException;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;

/**
 * Flushes slices of one tree or of several, one after another.
 *
 * <p>What was written of several trees is committed together: their files are synced after each
 * other, then the log, the directory and the manifest once for all. When that is done, the slices'
 * ranges are taken out of the runs and the pages that lie wholly in them go back to the pool. A
 * slice as long as an SSTable should be, or one that its tree goes on behind, is not kept waiting.
 */
final class FlushJob implements Job {
  private final Flusher flusher;
  private final String name;

  /** Trees not flushed yet; of the first one, slices are being written. */
  private final Deque<TreeFlush> parts;

  /** Trees of which all is written, but not all committed. */
  private final List<TreeFlush> written = new ArrayList<>();

  private final boolean alone;

  /** Slices written and not committed, at most one of each tree. */
  private final List<FlushSlice> slices = new ArrayList<>();

  /** Whether the manifest may know of the slices. */
  private boolean committing;

  private boolean hasEnded;

  /**
   * @param parts at least one, of trees that are marked as busy; no tree twice
   */
  FlushJob(Flusher flusher, List<TreeFlush> parts) {
    this.flusher = flusher;
    this.parts = new ArrayDeque<>(parts);
    this.alone = parts.size() == 1;
    this.name =
        alone ? "flush " + parts.get(0).tree().name() : "flush of " + parts.size() + " trees";
  }

  /** The trees of a flush that has not begun. */
  List<TreeHandle> trees() {
    return parts.stream().map(TreeFlush::tree).toList();
  }

  @Override
  public Priority priority() {
    return Priority.FLUSH;
  }

  @Override
  public String name() {
    return name;
  }

  @Override
  public boolean step() throws Exception {
    long limit = uncommittedBytes() + flusher.engine().environment().scheduler().stepBytes();
    boolean more;
    do {
      more = carry(parts.getFirst());
      // Small slices make one step together: between two steps others get their turn, and that
      // can take longer than a slice does.
    } while (more
        && !parts.getFirst().inSlice()
        && !slices.isEmpty()
        && uncommittedBytes() < limit);
    return more;
  }

  private boolean carry(TreeFlush part) throws IOException {
    // What is being written when the store fails may end; nothing is begun after that.
    boolean failed = !part.inSlice() && flusher.engine().failure().cause() != null;
    if (failed || part.tree().closed()) {
      part.abandon();
      return next();
    }
    if (!part.inSlice()) {
      FlushSlice empty = part.begin();
      if (empty != null) {
        slices.add(empty);
      }
      if (!part.inSlice()) {
        return next();
      }
    }
    FlushSlice slice = part.step();
    if (slice == null) {
      return true;
    }
    slices.add(slice);
    if (!alone && (slice.last() || part.takesOneSlice())) {
      return next();
    }
    commit();
    return part.goesOn(slice.last()) || next();
  }

  /** Goes on to the next tree; false if there is none. */
  private boolean next() throws IOException {
    written.add(parts.removeFirst());
    if (parts.isEmpty() || uncommittedBytes() >= FlushRules.roundBytes(flusher.sliceBytes())) {
      commit();
    }
    if (slices.isEmpty()) {
      leaveWritten();
    }
    if (parts.isEmpty()) {
      end();
      return false;
    }
    return true;
  }

  /** Lets others have the trees: once, since they may be taken again at once. */
  private void leaveWritten() {
    List<TreeFlush> left = List.copyOf(written);
    written.clear();
    flusher.onLeft(left);
  }

  private void end() {
    if (!hasEnded) {
      hasEnded = true;
      flusher.onEnded();
    }
  }

  private long uncommittedBytes() {
    return slices.stream().mapToLong(FlushSlice::bytesWritten).sum();
  }

  /** Takes the slices' ranges out of memory, now that they are on disk. */
  private void commit() throws IOException {
    if (slices.isEmpty()) {
      return;
    }
    for (FlushSlice slice : slices) {
      slice.sync();
    }
    awaitLog();
    long before = flusher.engine().gate().usedBytes();
    committing = true;
    flusher.engine().catalog().commit(slices.stream().map(s -> s.change(flusher)).toList());
    committing = false;
    long freed = before - flusher.engine().gate().usedBytes();
    List<FlushSlice> committed = List.copyOf(slices);
    slices.clear();
    for (FlushSlice slice : committed) {
      slice.part().onCommitted(slice.taken().high());
    }
    flusher.onFlushed(committed, freed);
  }

  /**
   * Waits until the log is durable up to what was flushed: else a crash could keep it and lose
   * older writes to other trees, or the rest of a batch, and hand its LSNs out again. A delete that
   * left nothing to be written counts, too: it takes effect.
   */
  private void awaitLog() {
    long lsn = -1;
    for (FlushSlice slice : slices) {
      lsn = Math.max(lsn, slice.newestLsn());
    }
    if (lsn >= 0 && flusher.engine().log().isOpen()) {
      flusher.engine().log().awaitDurable(lsn);
    }
  }

  @Override
  public void onFailed(Throwable cause) {
    // Those that wait for the trees go on, whatever fails here.
    try {
      parts.forEach(TreeFlush::abandon);
    } finally {
      try {
        flusher.engine().space().onJobFailed(cause);
        discard(cause);
      } finally {
        leave();
      }
    }
  }

  private void leave() {
    try {
      leaveWritten();
    } finally {
      try {
        flusher.onLeft(parts);
      } finally {
        end();
      }
    }
  }

  private void discard(Throwable cause) {
    if (!committing) {
      slices.forEach(FlushSlice::discard);
    } else if (cause instanceof DiskFullException) {
      // After any other failure it is unknown whether the manifest names them.
      for (FlushSlice slice : slices) {
        if (slice.output() != null) {
          flusher.engine().catalog().delete(slice.output(), slice.tree());
        }
      }
    }
    slices.clear();
  }
}
