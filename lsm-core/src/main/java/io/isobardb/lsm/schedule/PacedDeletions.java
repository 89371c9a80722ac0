package io.isobardb.lsm.schedule;

import io.isobardb.lsm.error.DiskFullException;
import io.isobardb.lsm.error.StoreClosedException;
import io.isobardb.lsm.event.SystemLog;
import io.isobardb.lsm.io.Clock;
import io.isobardb.lsm.io.Storage;
import java.io.IOException;
import java.lang.System.Logger.Level;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Deletes files by a service, so many bytes in a second: a device that has much to discard at once
 * is slow for others meanwhile. Each file gets another name first, under which nobody looks for it,
 * and loses a piece at a time. What is left when the store is closed, or crashes, the next opening
 * deletes.
 *
 * <p>Thread rule: all methods may be called by any thread.
 */
public final class PacedDeletions implements Service {
  private static final String SUFFIX = ".dropped";
  private static final long MOST_PIECE_BYTES = 2 << 20;

  /** Pieces in a second, unless they would be larger than that. */
  private static final int PIECES = 20;

  private final Storage storage;
  private final Scheduler scheduler;
  private final Clock clock;
  private final Pace pace;
  private final long pieceBytes;

  private final DoomedFiles files;

  // Guarded by this.
  private @Nullable Handle handle;

  /** When the next piece may go. Written by the service. */
  private volatile long nextNanos;

  /**
   * How fast files go.
   *
   * @param bytesPerSecond at least 1
   * @param hurried whether room is needed, so that the rate does not matter
   */
  public record Pace(long bytesPerSecond, BooleanSupplier hurried) {}

  PacedDeletions(Storage storage, Environment environment, Pace pace) {
    this.storage = storage;
    this.files = new DoomedFiles(storage);
    this.scheduler = environment.scheduler();
    this.clock = environment.clock();
    this.pace = pace;
    this.pieceBytes = Math.min(MOST_PIECE_BYTES, Math.max(1, pace.bytesPerSecond() / PIECES));
    this.nextNanos = clock.nanos();
  }

  /** Whether a file of this name waited for its deletion. */
  static boolean isDropped(String name) {
    return name.endsWith(SUFFIX);
  }

  /**
   * Has a file deleted that nobody uses any more. Its name is free when this returns, if it is no
   * SSTable's: these are not used again.
   */
  void delete(String name) throws IOException {
    if (isDropped(name)) {
      add(name);
    } else if (storage.exists(name)) {
      try {
        storage.rename(name, name + SUFFIX);
      } catch (IOException | DiskFullException e) {
        deleteAtOnce(name);
        return;
      }
      add(name + SUFFIX);
    }
  }

  /** What can't get another name is not left behind for the sake of the pace. */
  private void deleteAtOnce(String name) throws IOException {
    try {
      storage.delete(name);
    } catch (IOException | DiskFullException e) {
      if (!name.endsWith(".sst")) {
        throw e;
      }
      add(name);
    }
  }

  private void add(String name) {
    files.add(name);
    try {
      started().wakeWithin(Math.max(1, nextNanos - clock.nanos()));
    } catch (StoreClosedException e) {
      // A job was cancelled when the store was closed: the next opening deletes its output.
    } catch (OutOfMemoryError e) {
      // The process may have no more threads. The next file has one started for both.
    }
  }

  private synchronized Handle started() {
    Handle started = handle;
    if (started == null) {
      started = scheduler.start(this);
      handle = started;
    }
    return started;
  }

  private synchronized @Nullable Handle handle() {
    return handle;
  }

  @Override
  public String name() {
    return "deletions";
  }

  @Override
  public boolean ready() {
    return false;
  }

  @Override
  public void run() {
    String name = files.first();
    Handle started = handle();
    if (name == null || started == null) {
      return;
    }
    long now = clock.nanos();
    if (now - nextNanos >= 0 || pace.hurried().getAsBoolean()) {
      if (!files.shrink(name, pieceBytes)) {
        files.delete(name);
      }
      nextNanos = now + (long) (pieceBytes * 1e9 / pace.bytesPerSecond());
    }
    boolean hurried = pace.hurried().getAsBoolean();
    started.wakeWithin(hurried ? 1 : Math.max(1, nextNanos - clock.nanos()));
  }

  @Override
  public void onFailed(Throwable cause) {
    SystemLog.tell(
        Level.WARNING, PacedDeletions.class, "files stay until the store is opened again", cause);
  }
}
