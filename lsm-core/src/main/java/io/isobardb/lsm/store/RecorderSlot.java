package io.isobardb.lsm.store;

import io.isobardb.lsm.RecordingOptions;
import io.isobardb.lsm.commit.BatchFormat;
import io.isobardb.lsm.component.Write;
import io.isobardb.lsm.recovery.StoreParts;
import io.isobardb.lsm.state.TreeHandle;
import java.io.IOException;
import java.io.OutputStream;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * Where an open store's recorder is, while it is recorded. Else each call costs a look.
 *
 * <p>Thread rule: all methods may be called by any thread.
 */
final class RecorderSlot {
  private volatile @Nullable Recorder current;

  /** Held by a thread that begins a recording, or ends the last one. */
  private final ReentrantLock beginning = new ReentrantLock();

  private boolean closed;

  /** Makes the file of a recording. */
  interface FileMaker {
    OutputStream create() throws IOException;
  }

  /**
   * Begins a recording.
   *
   * @throws IllegalStateException if there is one, or the store is closed; no file is made then
   */
  Recorder begin(StoreParts parts, OperationTotals totals, RecordingOptions options, FileMaker file)
      throws IOException {
    beginning.lock();
    try {
      if (closed || current != null) {
        throw new IllegalStateException(
            closed ? "the store is closed" : "the store is recorded already; close that recording");
      }
      Recorder begun = new Recorder(parts, totals, options, file.create(), () -> current = null);
      current = begun;
      return begun;
    } finally {
      beginning.unlock();
    }
  }

  /** The recorder, or null. */
  @Nullable Recorder current() {
    return current;
  }

  /** See {@link Recorder#onGet}. */
  void onGet(TreeHandle tree, byte[] key, int found) {
    Recorder recorder = current;
    if (recorder != null) {
      recorder.onGet(tree, key, found);
    }
  }

  /** As {@link #onGet(TreeHandle, byte[], int)}, with the value, or null if there was none. */
  void onGet(TreeHandle tree, byte[] key, byte @Nullable [] value) {
    Recorder recorder = current;
    if (recorder != null) {
      recorder.onGet(tree, key, value == null ? -1 : value.length);
    }
  }

  /** See {@link Recorder#onWrite}. */
  void onWrite(TreeHandle tree, Write write) {
    Recorder recorder = current;
    if (recorder != null) {
      recorder.onWrite(tree.id(), write);
    }
  }

  /** See {@link Recorder#onBatch}. */
  void onBatch(BatchFormat.Builder batch) {
    Recorder recorder = current;
    if (recorder != null) {
      recorder.onBatch(batch);
    }
  }

  /** Ends the recording, if there is one, and lets no other begin. */
  void close() {
    beginning.lock();
    try {
      closed = true;
    } finally {
      beginning.unlock();
    }
    Recorder recorder = current;
    if (recorder != null) {
      recorder.close();
    }
  }
}
