package io.isobardb.lsm.store;

import io.isobardb.lsm.state.TreeHandle;
import org.jspecify.annotations.Nullable;

/**
 * The scans of one cursor, for a recorder: each begins with a seek, and ends with the next one or
 * with the cursor.
 *
 * <p>Thread rule: the thread that is using the cursor.
 */
final class ScanWatch {
  private final Recorder recorder;
  private final TreeHandle tree;
  private final byte @Nullable [] from;
  private boolean sampled;
  private byte @Nullable [] start;
  private long entries;

  /**
   * @param from the first key that the cursor covers, null for no bound
   */
  ScanWatch(Recorder recorder, TreeHandle tree, byte @Nullable [] from) {
    this.recorder = recorder;
    this.tree = tree;
    this.from = from;
  }

  /** A seek begins. {@code key} is null if it is for the first key or the last. */
  void begin(byte @Nullable [] key) {
    end();
    byte[] begins = key == null ? from : key;
    sampled = recorder.isSampled(begins);
    start = sampled && begins != null ? begins.clone() : null;
    entries = 0;
  }

  /** The cursor has come to so many entries. */
  void add(long more) {
    entries += more;
  }

  /** The scan ends, if there is one. */
  void end() {
    if (sampled) {
      sampled = false;
      recorder.onScan(tree, start, entries);
    }
  }
}
