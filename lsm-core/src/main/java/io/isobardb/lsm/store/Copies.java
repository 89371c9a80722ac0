package io.isobardb.lsm.store;

import io.isobardb.lsm.commit.Engine;
import io.isobardb.lsm.io.Storage;
import io.isobardb.lsm.observe.IoPurpose;
import io.isobardb.lsm.recovery.BackupDirectory;
import io.isobardb.lsm.recovery.StoreCopy;
import io.isobardb.lsm.recovery.StoreImage;
import io.isobardb.lsm.recovery.StoreParts;
import io.isobardb.lsm.schedule.Awaited;
import io.isobardb.lsm.schedule.Signal;
import io.isobardb.lsm.sstable.TableSpace;
import java.io.IOException;
import java.util.Objects;
import java.util.UUID;

/**
 * Copies an open store, as of one moment, while its users go on.
 *
 * <p>Thread rule: all methods may be called by any thread.
 */
final class Copies {
  private static final long MOST_PAUSE_NANOS = 100_000_000;

  private final StoreParts parts;
  private final Engine engine;
  private final Operations operations;
  private final Lifetime lifetime;

  Copies(StoreParts parts, Operations operations, Lifetime lifetime) {
    this.parts = parts;
    this.engine = parts.engine();
    this.operations = operations;
    this.lifetime = lifetime;
  }

  /**
   * Copies the store to a directory.
   *
   * @param target an empty directory, which nobody else uses
   */
  void checkpointTo(Storage target) throws IOException {
    try (StoreCopy copy = new StoreCopy(target, storeId(), parts.pool().pageSize())) {
      try {
        withImage(
            copy::writeMemory,
            image -> copy.copy(image, copied(), bytes -> operations.checkOpen()));
      } catch (IOException | RuntimeException | Error e) {
        copy.discard(e);
        throw e;
      }
    }
  }

  /** Does something with an image of the store. */
  @FunctionalInterface
  private interface ImageUse {
    void use(StoreImage image) throws IOException;
  }

  /**
   * Takes an image of the store, and has it used.
   *
   * @param first uses it first, within an operation; writes its memory
   * @param then goes on; ends soon after the store refuses operations
   */
  private void withImage(ImageUse first, ImageUse then) throws IOException {
    parts.observers().refuseWhileTelling("a copy of the store");
    operations.refuseWhileLooking("a copy of the store");
    StoreImage taken;
    int slot;
    // No tree is created meanwhile: a batch that writes to it could be in the image in part. A drop
    // holds this lock and waits for operations, so it is taken before one begins.
    lifetime.lock().lock();
    try {
      slot = operations.enter();
      try {
        taken = new StoreImage(engine);
        lifetime.images().incrementAndGet();
      } catch (RuntimeException | Error e) {
        operations.exit(slot);
        throw e;
      }
    } finally {
      lifetime.lock().unlock();
    }
    try (StoreImage image = taken) {
      try {
        first.use(image);
      } finally {
        operations.exit(slot);
      }
      then.use(image);
    } finally {
      lifetime.images().decrementAndGet();
      operations.onCopyEnded();
    }
  }

  /**
   * Backs the store up.
   *
   * @param bytesPerSecond how much may be read and copied; {@link Long#MAX_VALUE} for all that can
   * @throws IllegalArgumentException if the backups would lie within the store
   */
  BackupDirectory.Entry backup(BackupDirectory backups, long bytesPerSecond) throws IOException {
    if (backups.liesWithin(engine.environment().storage().path())) {
      throw new IllegalArgumentException(
          "backups in "
              + backups.path()
              + " would lie within the store, and be lost with it; give a directory elsewhere");
    }
    BackupDirectory.Entry[] made = new BackupDirectory.Entry[1];
    BackupDirectory.Draft draft = backups.begin(parts.pool().pageSize());
    try {
      withImage(
          draft::writeMemory,
          image -> {
            long now = engine.environment().clock().wallMillis();
            made[0] = draft.finish(image, copied(), now, pace(bytesPerSecond));
          });
    } catch (IOException | RuntimeException | Error e) {
      try {
        draft.close();
      } catch (IOException | RuntimeException more) {
        e.addSuppressed(more);
      }
      throw e;
    }
    draft.close();
    return Objects.requireNonNull(made[0]);
  }

  /** The store's directory, to copy it. */
  private Storage copied() {
    return parts.storage().countedFor(IoPurpose.COPY);
  }

  private StoreCopy.Pace pace(long bytesPerSecond) {
    Signal turn = engine.environment().scheduler().signal(Awaited.PAUSE);
    long begun = engine.nanos();
    long[] copied = {0};
    return bytes -> {
      operations.checkOpen();
      copied[0] += bytes;
      if (bytesPerSecond < Long.MAX_VALUE) {
        long due = begun + (long) (copied[0] * 1e9 / bytesPerSecond);
        while (due > engine.nanos() && !operations.isClosed()) {
          turn.await(operations::isClosed, Math.min(due - engine.nanos(), MOST_PAUSE_NANOS));
        }
      }
    };
  }

  private UUID storeId() {
    TableSpace space = engine.catalog().space();
    return new UUID(space.storeIdHigh(), space.storeIdLow());
  }
}
