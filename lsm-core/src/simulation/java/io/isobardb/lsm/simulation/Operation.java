package io.isobardb.lsm.simulation;

import io.isobardb.lsm.io.DataFile;
import io.isobardb.lsm.io.Storage;

/** The calls of {@link Storage} and {@link DataFile}, as a {@link FaultPlan} sees them. */
public enum Operation {
  CREATE(true),
  OPEN(false),
  LIST(false),
  EXISTS(false),
  RENAME(true),
  DELETE(true),
  SYNC_DIRECTORY(true),
  USABLE_BYTES(false),
  LOCK(false),
  READ(false),
  WRITE(true),
  SYNC(true),
  SIZE(false),
  TRUNCATE(true),
  MAP(false),
  CLOSE(false);

  private final boolean mutating;

  Operation(boolean mutating) {
    this.mutating = mutating;
  }

  /** Whether it changes what is on the disk, or what of it is durable. */
  public boolean mutating() {
    return mutating;
  }
}
